"""Numbers that checks of a card compute with, and how far results may differ."""

import torch
from torch import Tensor

# Relative errors that rounding explains: of a sum of products relative to the norms of its factors, of a
# number relative to itself.
SUMS = {"float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}
NUMBERS = {"float32": 2e-6, "float16": 2e-3, "bfloat16": 1.6e-2}


def random_numbers(rows: int, columns: int, seed: int = 0) -> Tensor:
    """Return normally distributed numbers, float32 [rows, columns], the same for a seed."""
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed))


def dtype_named(name: str) -> torch.dtype:
    dtype = getattr(torch, name)
    assert isinstance(dtype, torch.dtype)
    return dtype
