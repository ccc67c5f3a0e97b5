"""Stored bytes as tensors."""

from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor

# The stored bytes of one matrix: one tensor, uint8 [bytes], for each span of its `checkpoints.Weight`.
TensorParts = Sequence[Tensor]

# The dtype of each format of plain numbers.
DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


@cache
def constant(numbers: tuple[float, ...], device: torch.device) -> Tensor:
    """Return numbers on the device, float32. They are copied there once: no copy from plain memory may be
    recorded in a CUDA graph."""
    with torch.inference_mode(False):  # usable inside and outside inference mode
        return torch.tensor(numbers, dtype=torch.float32, device=device)


def typed(data: Tensor, dtype: torch.dtype) -> Tensor:
    """Return bytes, uint8 [nbytes], as numbers of `dtype`. Bytes at an unaligned address are copied first,
    because files do not align tensors."""
    if data.data_ptr() % dtype.itemsize or data.storage_offset() % dtype.itemsize:
        data = data.clone()
    return data.view(dtype)
