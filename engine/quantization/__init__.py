"""The formats of stored weights: how each is laid out and unpacked. Other packages read the bytes.

To add a format, write a module with a `FORMAT`, and list it in `FORMATS`.
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
from engine.quantization.modules import (
    Experts,
    PackedEmbedding,
    PackedLinear,
    RowTable,
    half_split,
    packed_in,
)
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
    "RowTable",
    "Workspace",
    "check_valid",
    "format_named",
    "half_split",
    "packed_in",
]

FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        *(plain.F64, plain.F32, plain.F16, plain.BF16),
        *(q4_0.FORMAT, q4_1.FORMAT, q5_0.FORMAT, q5_1.FORMAT, q8_0.FORMAT),
        *(q2_k.FORMAT, q3_k.FORMAT, q4_k.FORMAT, q5_k.FORMAT, q6_k.FORMAT),
        *(iq4_nl.FORMAT, iq4_xs.FORMAT),
        *(*gptq.FORMATS, *awq.FORMATS),
    )
}


def format_named(name: str) -> Format:
    """Return the format called `name`. Raises UnsupportedModel if it is not in `FORMATS`."""
    if name not in FORMATS:
        raise UnsupportedModel(
            f"Weights stored as {name} are not supported.",
            f"Choose a file in another format, such as Q4_K_M. Supported: {', '.join(FORMATS)}.",
        )
    return FORMATS[name]


def check_valid(name: str, parts: Parts, where: str) -> None:
    """Raise BadCheckpoint unless `parts` are valid in the format called `name`. where: words for the
    message that say where the parts are."""
    if not format_named(name).valid(parts):
        raise BadCheckpoint(
            f"{where} contains NaN, infinite numbers or invalid indices.",
            "The file is damaged; download it again.",
        )
