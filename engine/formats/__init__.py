"""The formats of stored weights: what each is made of, which bytes are valid, how it is unpacked on the
processor. Other rooms read the bytes, and unpack and multiply on other devices.

To add a format, write a module with a `FORMAT`, and list it in `FORMATS`.
"""

import numpy as np
from numpy.typing import NDArray

from engine.errors import BadCheckpoint, UnsupportedModel
from engine.formats import (
    factored,
    grouped,
    iq1_m,
    iq1_s,
    iq2_s,
    iq2_xs,
    iq2_xxs,
    iq3_s,
    iq3_xxs,
    iq4_nl,
    iq4_xs,
    mxfp4,
    nibbles,
    nvfp4,
    plain,
    q1_0,
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
    scaled,
    tq1_0,
    tq2_0,
)
from engine.formats.blocks import BlockFormat
from engine.formats.factored import FactoredFormat
from engine.formats.format import Format, Parts, RowFormat
from engine.formats.grouped import GroupedFormat
from engine.formats.nibbles import NibbleFormat
from engine.formats.plain import PlainFormat
from engine.formats.scaled import ScaledFormat

__all__ = [
    "FORMATS",
    "BlockFormat",
    "FactoredFormat",
    "Format",
    "GroupedFormat",
    "NibbleFormat",
    "Parts",
    "PlainFormat",
    "ScaledFormat",
    "check_valid",
    "format_named",
    "unpacked",
]

FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        *(plain.F64, plain.F32, plain.F16, plain.BF16),
        *(q4_0.FORMAT, q4_1.FORMAT, q5_0.FORMAT, q5_1.FORMAT, q8_0.FORMAT),
        *(q2_k.FORMAT, q3_k.FORMAT, q4_k.FORMAT, q5_k.FORMAT, q6_k.FORMAT),
        *(iq1_s.FORMAT, iq1_m.FORMAT, iq2_xxs.FORMAT, iq2_xs.FORMAT, iq2_s.FORMAT),
        *(iq3_xxs.FORMAT, iq3_s.FORMAT, iq4_nl.FORMAT, iq4_xs.FORMAT, mxfp4.FORMAT, nvfp4.FORMAT),
        *(q1_0.FORMAT, tq1_0.FORMAT, tq2_0.FORMAT),
        *grouped.FORMATS,
        *scaled.FORMATS,
        *nibbles.FORMATS,
        *factored.FORMATS,
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


def unpacked(name: str, data: NDArray[np.uint8], count: int) -> NDArray[np.float32]:
    """Return `count` numbers, stored in the format called `name`, which stores row by row, as float32."""
    form = format_named(name)
    assert isinstance(form, RowFormat)
    out = np.empty(count, np.float32)
    form.unpack(data, out)
    return out
