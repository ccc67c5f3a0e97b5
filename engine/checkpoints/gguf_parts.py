"""One model in several GGUF files, named as by llama.cpp's `llama-gguf-split`: name-00001-of-00003.gguf.

Each part has a header of its own with the part's tensors; the model's metadata stand in the first.
"""

import re
from pathlib import Path

from engine.checkpoints.gguf_header import DAMAGED, HEADER_LIMIT, GgufHeader, GgufTensor, read_header
from engine.errors import BadCheckpoint

PARTS_LIMIT = 1 << 10
PART = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.gguf", re.IGNORECASE)


def first_part(files: list[Path]) -> Path | None:
    """The first of `files` where they are all parts of one model."""
    sets = {(match[1], match[3]) if (match := PART.fullmatch(file.name)) else None for file in files}
    return min(files) if len(sets) == 1 and None not in sets else None


def read_parts(path: Path) -> GgufHeader:
    """The header of the model that `path` is, or is a part of: the first part's metadata, the tensors of all.

    Raises `BadCheckpoint` or `UnsupportedModel`.
    """
    header = read_header(path)
    count = _number(header, "count")
    if count is None or count < 2:
        return header
    match = PART.fullmatch(path.name)
    if match is None or int(match[3]) != count or count > PARTS_LIMIT:
        raise BadCheckpoint(
            f"{path.name} is one of {count} parts of a model, but not named like one.",
            "Give the parts the names they were downloaded with (name-00001-of-00003.gguf).",
        )
    files = [
        path.with_name(f"{match[1]}-{number:05}-of-{match[3]}{path.suffix}") for number in range(1, count + 1)
    ]
    for file in files:
        if not file.is_file():
            raise BadCheckpoint(
                f"{file.name} is missing.", "Download all parts of the model into one folder."
            )
    parts: list[GgufHeader] = []
    left = HEADER_LIMIT  # bytes of all headers together
    for file in files:
        parts.append(header if file.name == path.name else read_header(file, left))
        left = max(0, left - parts[-1].nbytes)
    total = _number(parts[0], "tensors.count")
    tensors: dict[str, GgufTensor] = {}
    for number, (file, part) in enumerate(zip(files, parts, strict=True)):
        said = tuple(_number(part, key) for key in ("no", "count", "tensors.count"))
        if said != (number, count, total):
            raise BadCheckpoint(
                f"{file.name} is not valid: its part number, parts and tensors in all are {said}, "
                f"and should be {(number, count, total)}.",
                DAMAGED,
            )
        if twice := tensors.keys() & part.tensors.keys():
            raise BadCheckpoint(
                f"{file.name} is not valid: tensor {min(twice)} is in another part too.", DAMAGED
            )
        tensors |= part.tensors
    if len(tensors) != total:
        raise BadCheckpoint(
            f"{path.name} is not valid: its parts hold {len(tensors)} tensors and should hold {total}.",
            DAMAGED,
        )
    return GgufHeader(parts[0].nbytes, parts[0].version, parts[0].metadata, tensors)


def _number(header: GgufHeader, key: str) -> int | None:
    value = header.metadata.get(f"split.{key}")
    return value if type(value) is int else None
