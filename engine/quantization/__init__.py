"""From stored bytes to numbers. Knows the layout of each weight format, not where the bytes came from.

A new format is one file with a `FORMAT` and its line in `FORMATS`.
"""

from engine.errors import BadCheckpoint, UnsupportedModel
from engine.quantization import (
    awq,
    gptq,
    iq4_nl,
    iq4_xs,
    plain,
    q2_k,
    q3_k,
    q4_0,
    q4_1,
    q4_k,
    q5_0,
    q5_1,
    q5_k,
    q6_k,
    q8_0,
)
from engine.quantization.format import Format, Parts
from engine.quantization.modules import Experts, PackedEmbedding, PackedLinear, Table, half_split, packed_in
from engine.quantization.packed import Mover, Packed, Workspace

__all__ = [
    "FORMATS",
    "Experts",
    "Format",
    "Mover",
    "Packed",
    "PackedEmbedding",
    "PackedLinear",
    "Parts",
    "Table",
    "Workspace",
    "check_sound",
    "format_named",
    "half_split",
    "packed_in",
]

FORMATS: dict[str, Format] = {
    each.name: each
    for each in (
        *(plain.F64, plain.F32, plain.F16, plain.BF16),
        *(q4_0.FORMAT, q4_1.FORMAT, q5_0.FORMAT, q5_1.FORMAT, q8_0.FORMAT),
        *(q2_k.FORMAT, q3_k.FORMAT, q4_k.FORMAT, q5_k.FORMAT, q6_k.FORMAT),
        *(iq4_nl.FORMAT, iq4_xs.FORMAT),
        *(*gptq.FORMATS, *awq.FORMATS),
    )
}


def format_named(name: str) -> Format:
    """Raises UnsupportedModel for a format that is not among `FORMATS`."""
    if name not in FORMATS:
        raise UnsupportedModel(
            f"Weights stored as {name} cannot be unpacked.",
            f"Take a file in another format, such as Q4_K_M. Supported: {', '.join(FORMATS)}.",
        )
    return FORMATS[name]


def check_sound(name: str, parts: Parts, where: str) -> None:
    """Raises BadCheckpoint, with `where` they lie, where bytes in the format `name` are not sound."""
    if not format_named(name).sound(parts):
        raise BadCheckpoint(
            f"{where} holds NaN, infinite numbers or wrong indices.",
            "The file is damaged; download it again.",
        )
