"""Find the matrices of a folder that NVIDIA's ModelOpt has quantized: to NVFP4 or FP8, each layer by itself.

A linear layer in NVFP4 has `weight`, with two numbers in a byte along the rows; `weight_scale`, in E4M3, for
each 16 columns; and `weight_scale_2`, one float32, by which both are multiplied. One in FP8 has `weight` in
E4M3, and `weight_scale`. Sources: llama.cpp's converter (conversion/base.py) and NVIDIA's NeMo AutoModel
(components/quantization/nvfp4.py). Reads no weights.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.checkpoints import fp8
from engine.checkpoints.checkpoint import Span, Weight
from engine.checkpoints.quantization_faults import DAMAGED, bad, unsupported
from engine.errors import BadCheckpoint

FILE = "hf_quant_config.json"  # has the settings of folders whose config.json has none
_METHOD = "modelopt"
GROUP = 16  # columns that share a scale
_ALGORITHMS = ("NVFP4", "W4A16_NVFP4", "FP8")
_MIXED = "MIXED_PRECISION"  # each layer has an algorithm of its own
# For rounding activations and KV caches, which are not rounded here.
_UNUSED = ("input_scale", "k_scale", "v_scale")
_SCALES = ("weight_scale", "weight_scale_2")
_PARTS = {"U8": _SCALES, "F8_E4M3": _SCALES[:1]}  # by the storage of a quantized weight, what lies beside it


def settings_of(content: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the settings that FILE has, as config.json would have them; None if no weights are quantized.
    content: of that file."""
    stored = content.get("quantization")
    named = stored if isinstance(stored, dict) else {}
    return {**named, "quant_method": _METHOD} if named.get("quant_algo") else None


def is_modelopt(quantization: Any) -> bool:
    """Return whether config.json's quantization_config is ModelOpt's."""
    return isinstance(quantization, dict) and quantization.get("quant_method") == _METHOD


def weights(tensors: Mapping[str, Span], quantization: Mapping[str, Any]) -> dict[str, Weight]:
    """Return all weights by name, without the factors that are not needed.

    Raises BadCheckpoint if a part is missing or has a shape that does not fit; UnsupportedModel if layers are
    quantized otherwise.
    """
    algorithm = quantization.get("quant_algo")
    layers = quantization.get("quantized_layers") if algorithm == _MIXED else {"": quantization}
    if not isinstance(layers, dict) or not layers:
        raise BadCheckpoint("The quantization settings have no quantized_layers.", DAMAGED)
    for layer in layers.values():
        algorithm = layer.get("quant_algo") if isinstance(layer, dict) else None
        if algorithm not in _ALGORITHMS:
            named = f"as {str(algorithm)[:40]}" if algorithm else "in a format that is not named"
            raise unsupported(f"{named} by ModelOpt")
    return dict(_weights(tensors))


def _weights(tensors: Mapping[str, Span]) -> Iterator[tuple[str, Weight]]:
    for name, span in tensors.items():
        module, _, leaf = name.rpartition(".")
        if leaf in _UNUSED:
            continue
        if leaf == "pre_quant_scale":
            raise unsupported(f"with factors of their input ({name[:200]})")
        if leaf in _SCALES:
            weight = tensors.get(f"{module}.weight")
            if weight is None:
                raise bad(span, name, "it belongs to no weight")
            if leaf not in _PARTS.get(weight.storage, ()):
                raise bad(span, name, f"its weight, in {weight.storage}, has no such factor")
        elif leaf == "weight" and span.storage in _PARTS:
            yield name, _matrix(name, span, *(tensors.get(f"{module}.{part}") for part in _SCALES))
        else:
            yield name, Weight.of(span)


def _matrix(name: str, span: Span, scales: Span | None, factor: Span | None) -> Weight:
    if scales is None:
        raise bad(span, name, "its scales are missing")
    if span.storage == "F8_E4M3":
        return fp8.matrix(name, span, scales)
    if len(span.shape) != 2 or not span.nbytes:
        raise unsupported(f"in NVFP4 in {len(span.shape)} dimensions, as {name[:200]},")
    rows, columns = span.shape[0], 2 * span.shape[1]
    if scales.storage != "F8_E4M3" or columns % GROUP or scales.shape != (rows, columns // GROUP):
        raise bad(span, name, f"{rows} × {columns} numbers do not fit {scales.shape} scales")
    if factor is None or factor.storage != "F32" or factor.nbytes != 4:
        raise bad(span, name, "its weight_scale_2 is not one number in float32")
    return Weight((rows, columns), "NVFP4_SCALED", (span, scales, factor))
