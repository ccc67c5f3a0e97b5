"""Find the FP8 matrices of a folder, and the scales that belong to them.

A linear layer has `weight` in E4M3, one byte per number, and `weight_scale_inv` (method "fp8") or
`weight_scale` ("compressed-tensors", "fbgemm_fp8"), by which the numbers are multiplied. Sources:
transformers' integrations/finegrained_fp8.py and fbgemm_fp8.py; compressed-tensors'
quantization/quant_config.py and compressors/quantized_compressors. Reads no weights.

The files also say how to round activations to FP8. Only weights are stored like that; activations keep the
type in which the model computes, which is more exact.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from engine.checkpoints.checkpoint import Span, Weight
from engine.checkpoints.compressed import group_weights
from engine.checkpoints.quantization_faults import DAMAGED, bad, unsupported
from engine.errors import BadCheckpoint

SCALES = {"fp8": "weight_scale_inv", "fbgemm_fp8": "weight_scale", "compressed-tensors": "weight_scale"}
BLOCK = 128  # rows and columns that share a scale; the same in engine.formats.scaled
_SUFFIXES = {"F32": "", "BF16": "_BF16", "F16": "_F16"}  # type of the scales: end of Weight.format
# Factors for rounding activations and KV caches, which are not rounded here.
_UNUSED = re.compile(r".*\.(activation_scale|input_scale|output_scale|[qkv]_scale)")
_unsupported = partial(
    unsupported,
    others="Choose the original weights, FP8 in blocks of 128 × 128, or a GGUF file of this model.",
)


def is_fp8(quantization: Any) -> bool:
    """Return whether config.json's quantization_config is that of a method with FP8 weights."""
    return isinstance(quantization, dict) and quantization.get("quant_method") in SCALES


def weights(tensors: Mapping[str, Span], quantization: Mapping[str, Any]) -> dict[str, Weight]:
    """Return all weights by name, without the factors that are not needed.

    Raises BadCheckpoint if a scale is missing, superfluous or has a shape that does not fit;
    UnsupportedModel if the settings ask for more than FP8 weights, or something is stored in another type.
    """
    method: str = quantization["quant_method"]
    if method == "compressed-tensors":
        _check_groups(quantization)
    elif quantization.get("weight_block_size") not in (None, [BLOCK, BLOCK]):
        raise _unsupported(f"in blocks of {str(quantization['weight_block_size'])[:40]}")
    elif quantization.get("expert_dtype") not in (None, "fp8"):
        raise _unsupported(f"with experts in {str(quantization['expert_dtype'])[:40]}")
    if not any(span.storage == "F8_E4M3" for span in tensors.values()):
        raise BadCheckpoint(f"The settings name {method}, but none of the weights are in FP8.", DAMAGED)
    return dict(_weights(tensors, SCALES[method]))


def _check_groups(quantization: Mapping[str, Any]) -> None:
    """Raise unless all groups of layers have weights in FP8, and nothing is done to them but scaling."""
    for stored in group_weights(quantization):
        kind = f"{stored.get('type')}{stored.get('num_bits')}"[:40]
        if kind != "float8" or stored.get("symmetric") is False:
            raise _unsupported(f"as {kind} by compressed-tensors")
        strategy = stored.get("strategy", "tensor")
        if strategy not in ("tensor", "channel", "block"):
            raise _unsupported(f"with the strategy {str(strategy)[:40]} by compressed-tensors")
        if strategy == "block" and stored.get("block_structure") != [BLOCK, BLOCK]:
            raise _unsupported(f"in blocks of {str(stored.get('block_structure'))[:40]}")
    if quantization.get("transform_config"):
        raise _unsupported("rotated (transform_config)")
    sparsity = quantization.get("sparsity_config") or {}
    if not isinstance(sparsity, dict) or sparsity.get("format", "dense") != "dense":
        raise _unsupported("with zeros left out (sparsity_config)")


def _weights(tensors: Mapping[str, Span], scale: str) -> Iterator[tuple[str, Weight]]:
    for name, span in tensors.items():
        module, _, leaf = name.rpartition(".")
        if leaf == scale:
            if f"{module}.weight" not in tensors:
                raise bad(span, name, "it belongs to no weight")
            if tensors[f"{module}.weight"].storage != "F8_E4M3":
                raise bad(span, name, "its weight is not stored in FP8")
        elif span.storage == "F8_E4M3":
            if leaf != "weight" or f"{module}.{scale}" not in tensors:
                raise bad(span, name, f"its {scale} is missing")
            yield name, matrix(name, span, tensors[f"{module}.{scale}"])
        elif not _UNUSED.fullmatch(name):
            yield name, Weight.of(span)


def matrix(name: str, span: Span, scales: Span) -> Weight:
    """Return a matrix in FP8. Raises as `weights` does."""
    if scales.storage not in _SUFFIXES:
        raise _unsupported(f"with scales in {scales.storage}")
    if len(span.shape) != 2:
        raise _unsupported(f"in FP8 in {len(span.shape)} dimensions, as {name[:200]},")
    if not span.nbytes:
        raise bad(span, name, f"its shape is {span.shape}")
    rows, columns = span.shape
    if scales.shape in ((), (1,), (1, 1)):
        share = "MATRIX"
    elif scales.shape in ((rows,), (rows, 1)):
        share = "ROW"
    elif scales.shape == (-(-rows // BLOCK), -(-columns // BLOCK)):
        share = "BLOCK"
    else:
        raise bad(span, name, f"{span.shape} numbers do not fit {scales.shape} scales")
    return Weight(span.shape, f"FP8_{share}{_SUFFIXES[scales.storage]}", (span, scales))
