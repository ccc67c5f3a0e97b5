"""Products in float16 of rows and sums in float32, for cards without bfloat16.

float16 ends at 65,504. At some tokens, the numbers between the layers of Gemma, Qwen 2.5 and others are
larger, and so are those that their down projections read. So all of these are float32. To be multiplied by a
matrix in float16, each row is divided by a power of two that makes it fit; this rounds nothing. Products are
added in float32, so that no sum overflows, and multiplied by the same power.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from engine import ways

_EXPONENT = 0x7F800000  # the bits of a float32 that hold its exponent
_MANTISSA_BITS = 23
# A row's largest number becomes 2^14 to 2^15. Numbers down to 2^-28 of it keep the eleven bits of float16.
_LARGEST = 14
_SMALLEST = 2.0**-100  # rows of smaller numbers, such as zeros, are divided as if they had this one


def states_dtype(weights: torch.dtype) -> torch.dtype:
    """Return the dtype of the states that are multiplied by weights of a dtype."""
    return torch.float32 if weights == torch.float16 else weights


def multiplier(x: Tensor) -> Callable[[Tensor, Tensor], object]:
    """Return a function that multiplies x by a matrix and writes the products to a tensor. x: float32
    [n, columns]; the matrix: float16 [columns, rows]; the products: float32 [n, rows]."""
    if ways.taken("halves") == "float32":
        return lambda matrix, out: torch.mm(x, matrix.float(), out=out)
    halves, powers = scaled(x)
    return lambda matrix, out: torch.mul(product(halves, matrix), powers, out=out)


def scaled(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return rows as float16, and the power of two by which each was divided, [n, 1]."""
    largest = torch.linalg.vector_norm(x, torch.inf, dim=1, keepdim=True).clamp(min=_SMALLEST)
    exponents = largest.view(torch.int32).bitwise_and_(_EXPONENT).sub_(_LARGEST << _MANTISSA_BITS)
    powers = exponents.view(torch.float32)
    halves = torch.empty(x.shape, dtype=torch.float16, device=x.device)
    return torch.div(x, powers, out=halves), powers


def product(halves: Tensor, matrix: Tensor) -> Tensor:
    """Return the product of float16 factors, with sums in float32."""
    if halves.is_cuda:
        return torch.mm(halves, matrix, torch.float32)
    return torch.mm(halves.float(), matrix.float())  # torch has no such product elsewhere
