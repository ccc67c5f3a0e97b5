"""Find the matrices of four bits that compressed-tensors packs: whole numbers (W4A16) and NVFP4.

A linear layer has `weight_packed`, with two numbers in a byte along the rows, `weight_scale`, and perhaps
`weight_zero_point` or `weight_global_scale`; `engine.formats.nibbles` says what they mean. Source:
compressed-tensors (compressors/pack_quantized and nvfp4). Reads no weights.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.checkpoints.checkpoint import Groups, Span, Weight
from engine.checkpoints.quantization_faults import DAMAGED, bad, unsupported
from engine.errors import BadCheckpoint

FORMATS = ("pack-quantized", "nvfp4-pack-quantized")
_SUFFIXES = {"F16": "", "BF16": "_BF16", "F32": "_F32"}  # type of the scales: end of Weight.format
# The shape is that of the packed numbers; the scale of the input is for rounding activations.
_UNUSED = ("weight_shape", "input_global_scale")
_KV_CACHE = ("q_scale", "k_scale", "v_scale")  # for a KV cache in 8 bits (kv_cache_scheme)
_PARTS = ("weight_scale", "weight_zero_point", "weight_global_scale")


def is_compressed(quantization: Any) -> bool:
    """Return whether config.json's quantization_config is that of packed numbers of compressed-tensors."""
    return (
        isinstance(quantization, dict)
        and quantization.get("quant_method") == "compressed-tensors"
        and quantization.get("format") in FORMATS
    )


def weights(tensors: Mapping[str, Span], quantization: Mapping[str, Any]) -> dict[str, Weight]:
    """Return all weights by name.

    Raises BadCheckpoint if a part is missing or has a shape that does not fit; UnsupportedModel if numbers
    have other than four bits, or columns another order than that of their groups.
    """
    for stored in group_weights(quantization):
        if stored.get("num_bits") != 4:
            raise unsupported(f"in {str(stored.get('num_bits'))[:9]} bits by compressed-tensors")
    if quantization.get("transform_config"):
        raise unsupported("rotated (transform_config)")
    return dict(_weights(tensors))


def group_weights(quantization: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield how the weights of each group of layers are stored. Raises BadCheckpoint if that is not told."""
    groups = quantization.get("config_groups")
    if not isinstance(groups, dict) or not groups:
        raise BadCheckpoint("The quantization settings have no config_groups.", DAMAGED)
    for group in groups.values():
        stored = group.get("weights") if isinstance(group, dict) else None
        if not isinstance(stored, dict):
            raise BadCheckpoint("A group of the quantization settings has no weights.", DAMAGED)
        yield stored


def _weights(tensors: Mapping[str, Span]) -> Iterator[tuple[str, Weight]]:
    for name, span in tensors.items():
        module, _, leaf = name.rpartition(".")
        is_packed = f"{module}.weight_packed" in tensors
        if leaf == "weight_packed":
            parts = {part: tensors.get(f"{module}.{part}") for part in _PARTS}
            yield f"{module}.weight", _matrix(name, span, **parts)
        elif is_packed and leaf == "weight_g_idx":
            raise unsupported("with groups in another order (weight_g_idx)")
        elif leaf not in _KV_CACHE and not (is_packed and leaf in (*_PARTS, *_UNUSED)):
            yield name, Weight.of(span)


def _matrix(
    name: str,
    span: Span,
    weight_scale: Span | None,
    weight_zero_point: Span | None,
    weight_global_scale: Span | None,
) -> Weight:
    scales = weight_scale
    if scales is None or len(span.shape) != 2 or len(scales.shape) != 2 or not span.nbytes:
        raise bad(span, name, "its scales are missing, or it is no matrix")
    rows, columns = span.shape[0], 2 * span.nbytes // span.shape[0]
    if scales.shape[0] != rows or not scales.shape[1] or columns % (2 * scales.shape[1]):
        raise bad(span, name, f"{rows} × {columns} numbers do not fit {scales.shape} scales")
    if span.storage == "U8" and scales.storage == "F8_E4M3" and weight_global_scale is not None:
        if weight_global_scale.storage != "F32" or weight_global_scale.nbytes != 4:
            raise bad(span, name, "its weight_global_scale is not one number in float32")
        return Weight((rows, columns), "NVFP4_APART", (span, scales, weight_global_scale))
    if span.storage != "I32" or scales.storage not in _SUFFIXES or weight_global_scale is not None:
        raise unsupported(f"as {span.storage} with scales in {scales.storage}")
    suffix, groups = _SUFFIXES[scales.storage], Groups(4, columns // scales.shape[1], 0)
    if weight_zero_point is None:
        return Weight((rows, columns), f"W4{suffix}", (span, scales), groups=groups)
    zeros = weight_zero_point
    if zeros.storage != "I32" or zeros.shape != (-(-rows // 8), scales.shape[1]):
        raise bad(span, name, f"{zeros.shape} zero points do not fit {scales.shape} scales")
    return Weight((rows, columns), f"W4_ZEROS{suffix}", (span, scales, zeros), groups=groups)
