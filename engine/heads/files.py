"""Files of heads in their published formats: kind, configuration and tensors. Independent of the
target; does not build modules.

Medusa heads (github.com/FasterDecoding/Medusa) have a config.json with medusa_num_heads, and
medusa_lm_head.safetensors or medusa_lm_head.pt. EAGLE heads (github.com/SafeAILab/EAGLE) have the config.json
of a llama, and model.safetensors or pytorch_model.bin with the tensor fc.weight, in EAGLE-3 also midlayer.*.
From .pt and .bin files only tensors are read: code in them is never run.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from engine.checkpoints import Span, read_span
from engine.checkpoints.limits import check_sizes
from engine.checkpoints.safetensors import CODE, DAMAGED, read_header, read_json
from engine.errors import BadCheckpoint, UnsupportedModel

Kind = Literal["medusa", "eagle", "eagle3"]

_DTYPES = {
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "BOOL": torch.bool,
}


@dataclass(frozen=True, slots=True)
class Unread:
    """A tensor that has not been read from its file yet. read: reads and returns it."""

    shape: tuple[int, ...]
    read: Callable[[], Tensor]


@dataclass(frozen=True, slots=True)
class HeadsFile:
    """Heads in a folder; their weights are read when they are needed.

    path: the folder; kind: "eagle" stands for EAGLE-1 or -2; config: the contents of config.json; tensors:
    the weights, by their names in the file.
    """

    path: Path
    kind: Kind
    config: dict[str, Any]
    tensors: Mapping[str, Unread]

    @property
    def method(self) -> str:
        """The name of the drafter that uses the heads."""
        return "medusa" if self.kind == "medusa" else "eagle"


def open_heads(path: Path) -> HeadsFile | None:
    """Open the heads in the folder `path`. Returns None if it contains something else.

    Raises BadCheckpoint if files are damaged or contain more than tensors; UnsupportedModel if tensors are
    stored in an unsupported way.
    """
    if not (path / "config.json").is_file():
        return None
    config = read_json(path / "config.json")
    kind: Kind
    if "medusa_num_heads" in config:
        kind, files = "medusa", ("medusa_lm_head.safetensors", "medusa_lm_head.pt")
    else:
        kind, files = "eagle", ("model.safetensors", "pytorch_model.bin")
    tensors = _tensors(path, *files)
    if kind == "medusa" and not tensors:
        raise BadCheckpoint(
            f"{path.name} has no {' and no '.join(files)}.", "Download it again, with all its files."
        )
    if kind == "eagle" and "fc.weight" not in tensors:
        return None
    if any(name.startswith("midlayer.") for name in tensors):
        kind = "eagle3"
    check_sizes(config)
    config = {key: value for key, value in config.items() if not key.startswith("_") and key not in CODE}
    return HeadsFile(path, kind, config, tensors)


def save_heads(folder: Path, kind: Kind, config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write heads to `folder` in the published format of their kind. tensors: the weights, by the names under
    which `open_heads` returns them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    file = "medusa_lm_head.safetensors" if kind == "medusa" else "model.safetensors"
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    save_file(contiguous, folder / file, metadata={"format": "pt"})


def fill(module: nn.Module, file: HeadsFile, dtype: torch.dtype, device: torch.device | str) -> None:
    """Fill `module`, which is on the meta device, with the weights from `file` that have the same names.

    Raises BadCheckpoint if a tensor is missing, is superfluous or has a different shape.
    """
    wanted = module.state_dict()
    if absent := wanted.keys() - file.tensors.keys():
        raise BadCheckpoint(
            f"The tensor {min(absent)} of {file.path.name} is missing.",
            "The file is incomplete; download it again.",
        )
    if more := file.tensors.keys() - wanted.keys():
        raise BadCheckpoint(
            f"The tensor {min(more)[:200]} of {file.path.name} does not belong to heads of this kind.",
            "Choose heads in the format of the Medusa or EAGLE project.",
        )
    for name, empty in wanted.items():
        shape = file.tensors[name].shape
        if shape != empty.shape:
            raise BadCheckpoint(
                f"The tensor {name} of {file.path.name} has the shape {shape} instead of "
                f"{tuple(empty.shape)}.",
                "The heads are for another target, or the file is damaged.",
            )
    weights = {name: file.tensors[name].read().to(device, dtype) for name in wanted}
    module.load_state_dict(weights, assign=True)
    module.requires_grad_(False).eval()


def _tensors(folder: Path, plain: str, pickled: str) -> Mapping[str, Unread]:
    """Return the tensors of the folder's weights file, or {} if there is none."""
    if (folder / plain).is_file():
        return {name: _in_span(name, span) for name, span in read_header(folder / plain).items()}
    if (folder / pickled).is_file():
        return {name: _in_memory(tensor) for name, tensor in _unpickled(folder / pickled).items()}
    return {}


def _in_memory(tensor: Tensor) -> Unread:
    return Unread(tuple(tensor.shape), lambda: tensor)


def _in_span(name: str, span: Span) -> Unread:
    def read() -> Tensor:
        if span.storage not in _DTYPES:
            raise UnsupportedModel(
                f"{span.file.name} stores {name[:200]} as {span.storage}, which is not supported.",
                "Choose heads with bfloat16 or float16 weights.",
            )
        return torch.from_numpy(read_span(span)).view(_DTYPES[span.storage]).view(span.shape)

    return Unread(span.shape, read)


def _unpickled(file: Path) -> dict[str, Tensor]:
    """Return the tensors in a file written by torch.save. `weights_only` refuses anything that would run
    code."""
    try:
        tensors = torch.load(file, map_location="cpu", weights_only=True, mmap=True)
    except Exception as error:  # a damaged pickle fails in many ways
        reason = str(error).partition("\n")[0][:200]
        raise BadCheckpoint(f"{file.name} is not a file of plain tensors: {reason}", DAMAGED) from error
    file_nbytes = file.stat().st_size
    if not isinstance(tensors, dict) or not all(_is_plain(value, file_nbytes) for value in tensors.values()):
        raise BadCheckpoint(f"{file.name} contains more than plain tensors.", DAMAGED)
    return {str(name): tensor for name, tensor in tensors.items()}


def _is_plain(value: object, file_nbytes: int) -> bool:
    """Return whether `value` is a dense tensor that is stored in full in the file of `file_nbytes` bytes: a
    pickle may also contain an arbitrarily large view of one number."""
    return (
        isinstance(value, Tensor)
        and value.layout == torch.strided
        and value.device.type == "cpu"
        and value.dtype in _DTYPES.values()
        and value.nbytes <= file_nbytes
    )
