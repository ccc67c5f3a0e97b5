"""Triton kernels for packed weights on a GPU. They unpack in one pass over memory, where plain torch takes a
dozen, and multiply a few rows by weights without writing the unpacked weights to memory.

Triton is part of torch's CUDA build on Linux; it is imported only where it is used. Sums have a fixed order
and no kernel is selected by timing, so equal inputs give equal bits.
"""

import logging
import os
import subprocess
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import torch
from torch import Tensor

from engine.checkpoints import Groups
from engine.machine import driver_module
from engine.quantization.parts import TensorParts
from engine.quantization.triton.cores import multiplies_matrices
from engine.quantization.triton.launch import KernelRefused

_log = logging.getLogger(__name__)

# Products are compiled for each of these maximum numbers of rows of x. With more rows than
# the last, multiplying takes most of the time, and cuBLAS is faster at it.
ROWS = (1, 16, 64)


def available(device: torch.device) -> bool:
    """Return whether the functions below work on `device`: a GPU that Triton compiles for, or the CPU if
    Triton runs its interpreter (TRITON_INTERPRET=1)."""
    if device.type == "cuda":
        return compiles(device)
    return os.environ.get("TRITON_INTERPRET") == "1" and find_spec("triton") is not None


@cache
def compiles(device: torch.device) -> bool:
    """Return whether Triton is installed and works: it needs a C compiler and Python's headers, or the module
    that it would compile, and must support the graphics card."""
    if find_spec("triton") is None:
        return False
    bring_driver_module()
    out = torch.empty(32, device=device)
    try:
        unpack_blocks("Q8_0", torch.zeros(34, dtype=torch.uint8, device=device), out)
        return not out.any()
    except (KernelRefused, ImportError, OSError, RuntimeError, subprocess.SubprocessError) as error:
        _log.warning(
            "Triton does not work on %s; weights are unpacked by plain torch, which is slower: %s",
            device,
            error,
        )
        return False


def bring_driver_module() -> None:
    """Give Triton the module that it would compile to talk to NVIDIA's driver, if the program brings it: not
    every C compiler that is found can compile it."""
    import triton

    if torch.version.hip or not driver_module.find(Path(triton.__file__).parent / driver_module.SOURCE):
        return

    def module(name: str, source: str, *_: object) -> str:
        if found := driver_module.find(Path(source)):
            return str(found)
        raise RuntimeError(f"the program brings no {name} for this version of Triton")

    triton.knobs.build.impl = module


def unpack_blocks(name: str, data: Tensor, out: Tensor) -> None:
    """Unpack blocks in ggml's format `name`. data: uint8 [blocks * bytes], at any address. out: receives the
    blocks * values numbers, contiguous, float32, bfloat16 or float16."""
    from engine.quantization.triton import ggml

    with torch.cuda.device_of(out):
        ggml.unpack(name, data, out)


def multiply_blocks(name: str, data: Tensor, x: Tensor, rows: int) -> Tensor | None:
    """Multiply x [n, columns] by the transpose of the matrix in `data`, which has `rows` rows and is stored
    in ggml's format `name`. Return the product, [n, rows], or None if unpacking first is faster."""
    from engine.quantization.triton import ggml

    return _multiplied(x, rows, lambda out, most: ggml.product(name, data, x.contiguous(), out, most))


def unpack_grouped(
    name: str, parts: TensorParts, shape: tuple[int, int], first: int, count: int, groups: Groups, out: Tensor
) -> None:
    """Unpack rows first..first + count of a matrix of `shape` (rows, columns) in one of the GPTQ or AWQ
    formats, `name`, to `out`, [columns, count], contiguous.

    parts: int32 quants, int32 zero points, scales, optionally the int32 group of each column; each 1-D.
    """
    from engine.quantization.triton import grouped

    with torch.cuda.device_of(out):
        grouped.unpack(_is_awq(name), parts, shape, first, count, groups, out)


def multiply_grouped(name: str, parts: TensorParts, groups: Groups, x: Tensor, rows: int) -> Tensor | None:
    """Like `multiply_blocks`, but for a matrix in the GPTQ or AWQ format `name`. parts: as for
    `unpack_grouped`."""
    from engine.quantization.triton import grouped

    def launch(out: Tensor, most: int) -> None:
        grouped.product(_is_awq(name), parts, groups, x.contiguous(), out, most)

    return _multiplied(x, rows, launch)


def unpack_apart(name: str, parts: TensorParts, shape: tuple[int, int], first: int, out: Tensor) -> None:
    """Unpack rows from `first` on of a matrix of `shape` (rows, columns) in a format whose scales are apart,
    `name`, to `out`, [count, columns], contiguous. parts: as `engine.quantization.parts.typed_parts` returns
    them."""
    from engine.quantization.triton import apart

    with torch.cuda.device_of(out):
        apart.unpack(name, parts, shape, first, out)


def multiply_apart(name: str, parts: TensorParts, x: Tensor, rows: int) -> Tensor | None:
    """Like `multiply_blocks`, but for a matrix in a format whose scales are apart, `name`. parts: as for
    `unpack_apart`."""
    from engine.quantization.triton import apart

    return _multiplied(x, rows, lambda out, most: apart.product(name, parts, x.contiguous(), out, most))


def _multiplied(x: Tensor, rows: int, launch: Callable[[Tensor, int], None]) -> Tensor | None:
    """Return the product that `launch` writes, [n, rows]; None if unpacking first is faster, or if the card
    refuses the kernel."""
    most = _compiled_rows(x)
    if most is None:
        return None
    out = x.new_empty(len(x), rows)
    try:
        with torch.cuda.device_of(out):
            launch(out, most)
    except KernelRefused:
        return None
    return out


def _is_awq(name: str) -> bool:
    return name.startswith("AWQ")


def _compiled_rows(x: Tensor) -> int | None:
    count = len(x)
    most = next((rows for rows in ROWS if 0 < count <= rows), None)
    # Without cores for matrices, 64 rows do not fit in the registers.
    if most == ROWS[-1] and x.is_cuda and not multiplies_matrices(x.device):
        return None
    return most
