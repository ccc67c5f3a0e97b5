"""Read models that llama.cpp's `llama-gguf-split` has split into several files: name-00001-of-00003.gguf.

Each part has a header of its own, which lists the part's tensors; the first part has the model's metadata.
"""

import re
from pathlib import Path

from engine.checkpoints.gguf_header import DAMAGED, HEADER_LIMIT, GgufHeader, GgufTensor, read_header
from engine.errors import BadCheckpoint

PARTS_LIMIT = 1 << 10
PART = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.gguf", re.IGNORECASE)


def is_model(name: str) -> bool:
    """Return whether the GGUF file called `name` may be a model, and no encoder of images or statistics.

    Names as llama.cpp's tools and those who publish their files write them.
    """
    stem = name.rpartition("/")[2].lower().removesuffix(".gguf")
    return not ("mmproj" in stem or stem.startswith("imatrix") or stem.endswith("imatrix"))


def is_named_as_assistant(name: str) -> bool:
    """Return whether the GGUF file called `name` may be an assistant of the model beside it, as those who
    publish both name it (mtp-…)."""
    return name.rpartition("/")[2].lower().startswith("mtp-")


def first_part(files: list[Path]) -> Path | None:
    """Return the first of `files` if all of them are parts of one model, else None."""
    sets = {(match[1], match[3]) if (match := PART.fullmatch(file.name)) else None for file in files}
    return min(files) if len(sets) == 1 and None not in sets else None


def read_parts(path: Path) -> GgufHeader:
    """Return the header of the model in the GGUF file at `path`, which may be one of several parts.

    For several parts, it has the metadata of the first part and the tensors of all parts. Raises
    `BadCheckpoint` if a part is missing, damaged or does not belong to the others; `UnsupportedModel` as
    `read_header` does.
    """
    header = read_header(path)
    count = _number(header, "count")
    if count is None or count < 2:
        return header
    match = PART.fullmatch(path.name)
    if match is None or int(match[3]) != count or count > PARTS_LIMIT:
        raise BadCheckpoint(
            f"{path.name} is one of {count} parts of a model, but its name does not say so.",
            "Restore the original names of the parts (name-00001-of-00003.gguf).",
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
    left = HEADER_LIMIT  # bytes that the remaining headers may have in all
    for file in files:
        parts.append(header if file.name == path.name else read_header(file, left))
        left = max(0, left - parts[-1].nbytes)
    total = _number(parts[0], "tensors.count")
    tensors: dict[str, GgufTensor] = {}
    for number, (file, part) in enumerate(zip(files, parts, strict=True)):
        found = tuple(_number(part, key) for key in ("no", "count", "tensors.count"))
        if found != (number, count, total):
            raise BadCheckpoint(
                f"{file.name} is invalid: its part number, number of parts and number of tensors are {found} "
                f"instead of {(number, count, total)}.",
                DAMAGED,
            )
        if shared := tensors.keys() & part.tensors.keys():
            raise BadCheckpoint(
                f"{file.name} is invalid: tensor {min(shared)} is also in another part.", DAMAGED
            )
        tensors |= part.tensors
    if len(tensors) != total:
        raise BadCheckpoint(
            f"{path.name} is invalid: its parts contain {len(tensors)} tensors instead of {total}.",
            DAMAGED,
        )
    return GgufHeader(parts[0].nbytes, parts[0].version, parts[0].metadata, tensors)


def _number(header: GgufHeader, key: str) -> int | None:
    value = header.metadata.get(f"split.{key}")
    return value if type(value) is int else None
