"""Files written by torch.save: only plain tensors are read from them."""

from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from engine import reads
from engine.arrays import on_host
from engine.checkpoints.safetensors import DAMAGED
from engine.errors import BadCheckpoint

_DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.bool)


def unpickled(file: Path) -> dict[str, Tensor]:
    """Return the tensors in a file written by torch.save, whose numbers are read when they are used.
    `weights_only` refuses anything that would run code."""
    try:
        with reads.noted():
            tensors = torch.load(file, map_location="cpu", weights_only=True, mmap=True)
    except Exception as error:  # a damaged pickle fails in many ways
        reason = str(error).partition("\n")[0][:200]
        raise BadCheckpoint(f"{file.name} is not a file of plain tensors: {reason}", DAMAGED) from error
    file_nbytes = file.stat().st_size
    if not isinstance(tensors, dict) or not all(_is_plain(value, file_nbytes) for value in tensors.values()):
        raise BadCheckpoint(f"{file.name} contains more than plain tensors.", DAMAGED)
    return {str(name): tensor for name, tensor in tensors.items()}


def numbers_of(tensor: Tensor) -> NDArray[Any]:
    """Return the numbers of one of the tensors that `unpickled` returns; bfloat16 becomes float32."""
    if not tensor.dim():
        return on_host(tensor)
    rows = max(1, reads.PIECE_NBYTES * len(tensor) // max(1, tensor.nbytes))

    def read() -> Tensor:
        here = torch.empty(tensor.shape, dtype=tensor.dtype)
        for start in range(0, len(tensor), rows):
            with reads.noted():
                here[start : start + rows] = tensor[start : start + rows]
        return here

    return on_host(reads.aside(read))


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
