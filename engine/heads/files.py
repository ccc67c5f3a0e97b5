"""Heads on disk, in the formats they are published in: which kind they are, their configuration, their
tensors. Knows no target and builds nothing.

Medusa (github.com/FasterDecoding/Medusa): config.json says medusa_num_heads; medusa_lm_head.safetensors or
.pt. EAGLE (github.com/SafeAILab/EAGLE): config.json of a llama; model.safetensors or pytorch_model.bin with
fc.weight, and in EAGLE-3 midlayer.*. A .pt or .bin file is read as tensors only: nothing in it is ever run.
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
from engine.checkpoints.safetensors import CODE, DAMAGED, read_header, read_json
from engine.checkpoints.sizes import check_sizes
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
    """A tensor in a file."""

    shape: tuple[int, ...]
    read: Callable[[], Tensor]


@dataclass(frozen=True, slots=True)
class HeadsFile:
    """Heads whose weights are not read yet.

    Attributes: `path`, their folder; `kind` ("eagle": EAGLE-1 or -2); `config`, config.json; `tensors` by the
    names the file gives them.
    """

    path: Path
    kind: Kind
    config: dict[str, Any]
    tensors: Mapping[str, Unread]

    @property
    def method(self) -> str:
        """The drafter that they are for."""
        return "medusa" if self.kind == "medusa" else "eagle"


def open_heads(path: Path) -> HeadsFile | None:
    """The heads in the folder `path`; None where it holds something else.

    Raises BadCheckpoint for files that are damaged or hold more than tensors, UnsupportedModel.
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
    """Write heads to `folder` in the format that heads of this kind are published in. tensors: by the names
    that `open_heads` gives them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    file = "medusa_lm_head.safetensors" if kind == "medusa" else "model.safetensors"
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    save_file(contiguous, folder / file, metadata={"format": "pt"})


def fill(module: nn.Module, file: HeadsFile, dtype: torch.dtype, device: torch.device) -> None:
    """Give `module`, which is on the meta device, the weights of `file`; its names are the file's.

    Raises BadCheckpoint for tensors that are missing, left over, or of another shape.
    """
    wanted = module.state_dict()
    if absent := wanted.keys() - file.tensors.keys():
        raise BadCheckpoint(
            f"The tensor {min(absent)} of {file.path.name} is missing.",
            "The file is incomplete; download it again.",
        )
    if more := file.tensors.keys() - wanted.keys():
        raise BadCheckpoint(
            f"The tensor {min(more)[:200]} of {file.path.name} has no place in heads of this kind.",
            "Choose heads in the format of the Medusa or the EAGLE project.",
        )
    for name, empty in wanted.items():
        shape = file.tensors[name].shape
        if shape != empty.shape:
            raise BadCheckpoint(
                f"The tensor {name} of {file.path.name} has the shape {shape}; expected is "
                f"{tuple(empty.shape)}.",
                "The heads are for another target, or the file is damaged.",
            )
    weights = {name: file.tensors[name].read().to(device, dtype) for name in wanted}
    module.load_state_dict(weights, assign=True)
    module.requires_grad_(False).eval()


def _tensors(folder: Path, plain: str, pickled: str) -> Mapping[str, Unread]:
    """The tensors of the folder's one file of weights; empty where there is none."""
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
                f"{span.file.name} stores {name[:200]} as {span.storage}, which is not read here.",
                "Choose heads with bfloat16 or float16 weights.",
            )
        return torch.from_numpy(read_span(span)).view(_DTYPES[span.storage]).view(span.shape)

    return Unread(span.shape, read)


def _unpickled(file: Path) -> dict[str, Tensor]:
    """The tensors of a file of torch.save. `weights_only` refuses whatever would run code."""
    try:
        found = torch.load(file, map_location="cpu", weights_only=True, mmap=True)
    except Exception as error:  # a damaged pickle fails in many ways
        reason = str(error).partition("\n")[0][:200]
        raise BadCheckpoint(f"{file.name} is no file of plain tensors: {reason}", DAMAGED) from error
    most = file.stat().st_size
    if not isinstance(found, dict) or not all(_is_plain(value, most) for value in found.values()):
        raise BadCheckpoint(f"{file.name} holds other things than plain tensors.", DAMAGED)
    return {str(name): tensor for name, tensor in found.items()}


def _is_plain(value: object, most: int) -> bool:
    """Whether it is a dense tensor whose numbers are all in the file, which has `most` bytes: a pickle may
    also hold a view of one number as large as it likes."""
    return (
        isinstance(value, Tensor)
        and value.layout == torch.strided
        and value.device.type == "cpu"
        and value.dtype in _DTYPES.values()
        and value.nbytes <= most
    )
