"""From stored bytes to numbers. Knows the layout of each weight format, not where the bytes came from."""

import numpy as np
import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import UnsupportedModel

_PLAIN = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
}  # fmt: skip
# Weights unpacked at a time: the intermediate float32 stays in the processor's cache.
_PIECE = 1 << 18


def unpack(data: NDArray[np.uint8], shape: tuple[int, ...], storage: str, dtype: torch.dtype) -> Tensor:
    """The tensor of `shape` that `data` (its stored bytes) holds, on the CPU, rounded to `dtype`.

    Raises UnsupportedModel for a storage format without an unpacker.
    """
    if storage in _PLAIN:
        return torch.from_numpy(data).view(_PLAIN[storage]).view(shape).to(dtype)
    output = torch.empty(shape, dtype=dtype)
    rows = output.view(-1, shape[-1])
    stored = data.reshape(len(rows), -1)
    step = max(1, _PIECE // shape[-1])
    try:
        kind = GGMLQuantizationType[storage]
        for start in range(0, len(rows), step):
            piece = dequantize(stored[start : start + step], kind)  # float32 [rows, columns]
            rows[start : start + step] = torch.from_numpy(piece)
    except (KeyError, NotImplementedError):
        raise UnsupportedModel(
            f"Weights stored as {storage} cannot be unpacked.",
            "Take a file in another format, such as Q4_K_M.",
        ) from None
    return output
