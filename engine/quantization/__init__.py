"""Packed weights as tensors: unpacked and multiplied in torch and Triton, and layers that use them."""

from engine.quantization.halves import states_dtype
from engine.quantization.modules import (
    Experts,
    NearExperts,
    PackedEmbedding,
    PackedLinear,
    RowTable,
    clamped_gate,
    half_split,
    packed_in,
)
from engine.quantization.operations import prepare_kernel
from engine.quantization.packed import DiskRows, NearProduct, Packed, Workspace, plain_matrix

__all__ = [
    "DiskRows",
    "Experts",
    "NearExperts",
    "NearProduct",
    "Packed",
    "PackedEmbedding",
    "PackedLinear",
    "RowTable",
    "Workspace",
    "clamped_gate",
    "half_split",
    "packed_in",
    "plain_matrix",
    "prepare_kernel",
    "states_dtype",
]
