"""Files written by torch.save: only plain tensors are read from them."""

from pathlib import Path

import torch
from torch import Tensor

from engine.checkpoints.safetensors import DAMAGED
from engine.errors import BadCheckpoint

_DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.bool)


def unpickled(file: Path) -> dict[str, Tensor]:
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
        and value.dtype in _DTYPES
        and value.nbytes <= file_nbytes
    )
