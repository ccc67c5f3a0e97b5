"""Find the MXFP4 experts of a folder (gpt-oss).

A stack of experts' matrices has `<name>_blocks`, uint8 [experts, rows, groups, 16], two numbers in a byte,
and `<name>_scales`, uint8 [experts, rows, groups]. The rows of gate_up_proj are those of gate and up in turn.
Source: transformers' integrations/mxfp4.py. Reads no weights.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from engine.checkpoints.checkpoint import Span, Weight
from engine.checkpoints.limits import COUNT_LIMIT
from engine.checkpoints.quantization_faults import bad

GROUP = 32  # columns that share a scale
_PAIRED = "gate_up_proj"
_PAIRED_BIAS = f".experts.{_PAIRED}_bias"
_STACK = re.compile(r"(.+\.experts)\.(gate_up_proj|down_proj)_(blocks|scales)")


def is_mxfp4(quantization: Any) -> bool:
    """Return whether config.json's quantization_config is that of MXFP4."""
    return isinstance(quantization, dict) and quantization.get("quant_method") == "mxfp4"


def weights(tensors: Mapping[str, Span]) -> dict[str, Weight]:
    """Return all weights by name, with a matrix for each expert.

    Raises BadCheckpoint if scales are missing, superfluous or have a shape that does not fit.
    """
    return dict(_weights(tensors))


def _weights(tensors: Mapping[str, Span]) -> Iterator[tuple[str, Weight]]:
    for name, span in tensors.items():
        found = _STACK.fullmatch(name)
        if not found:
            yield name, replace(Weight.of(span), in_turn=name.endswith(_PAIRED_BIAS))
            continue
        path, kind, part = found.groups()
        partner = tensors.get(f"{path}.{kind}_{'scales' if part == 'blocks' else 'blocks'}")
        if partner is None:
            raise bad(span, name, "the other half of its matrices is missing")
        if part == "blocks":
            for expert, weight in enumerate(_experts(name, span, partner)):
                yield f"{path}.{expert}.{kind}.weight", replace(weight, in_turn=kind == _PAIRED)


def _experts(name: str, blocks: Span, scales: Span) -> Iterator[Weight]:
    """Yield the matrix of each expert."""
    bytes_only = blocks.storage == scales.storage == "U8"
    if not bytes_only or len(blocks.shape) != 4 or not blocks.nbytes or blocks.shape[3] != GROUP // 2:
        raise bad(blocks, name, f"{blocks.storage} of shape {blocks.shape} is no stack of matrices")
    if scales.shape != blocks.shape[:3]:
        raise bad(blocks, name, f"{blocks.shape} numbers do not fit {scales.shape} scales")
    experts, rows, groups, _ = blocks.shape
    if experts > COUNT_LIMIT:
        raise bad(blocks, name, f"it has {experts} experts")
    shape = rows, groups * GROUP
    for expert in range(experts):
        parts = []
        for stack in (blocks, scales):
            nbytes = stack.nbytes // experts
            one = replace(stack, offset=stack.offset + expert * nbytes, nbytes=nbytes, shape=stack.shape[1:])
            parts.append(one)
        yield Weight(shape, "MXFP4_APART", tuple(parts))
