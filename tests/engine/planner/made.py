"""Machines and models made up for the tests."""

from engine.planner import Acceptance, Asked, Compute, MachineProfile, Outline, PairOutline
from engine.planner.machines import GIB, graphics_card, processor
from engine.planner.pairs import self_pairs
from engine.planner.substitute_formats import substitutes_of

CARD: Compute = graphics_card(165, 1008)
CPU: Compute = processor(8, {"avx2"})
DESKTOP = MachineProfile(24 * GIB, 64 * GIB, 25e9, 7e9, CARD, CPU)
LAPTOP = MachineProfile(0, 12 * GIB, 1e9, 3e9, None, CPU)


def outline(
    layers: int = 80,
    layer_nbytes: int = 450 << 20,
    weights: int = 68_000_000_000,
    hidden: int = 8192,
    vocabulary: int = 128_256,
    name: str = "target",
    packed: bool = True,
    tied: bool = False,
    active: float = 1.0,
    uncut: int = 0,
    compiled: bool = False,
) -> Outline:
    table = hidden * vocabulary
    of_layer = (weights // layers // hidden, hidden, layer_nbytes)
    return Outline(
        name=name,
        file=name,
        layers=(layer_nbytes,) * layers,
        head=table,
        embedding=table,
        tied=tied,
        layer_weights=weights,
        active=active,
        table_weights=table,
        kv_row=2 * layers * 1024,
        hidden=hidden,
        widest=28672,
        vocabulary=vocabulary,
        context=131_072,
        packed=packed,
        uncut=uncut,
        compiled=compiled,
        substitutes=substitutes_of([[of_layer]] * layers, (vocabulary, hidden, table)),
    )


TARGET = outline()
DRAFT = outline(32, 130 << 20, 7_000_000_000, 4096, name="draft")
PAIR = PairOutline(TARGET, DRAFT, Acceptance(1.7, "paper"))
SMALL = PairOutline(
    outline(28, 32 << 20, 1_310_000_000, 1536, 151_936, tied=True),
    outline(24, 12 << 20, 358_000_000, 896, 151_936, name="draft", tied=True),
    Acceptance(0.8, "measured"),
)

ASKED = Asked(8192)
ALONE = PairOutline(TARGET, None, PAIR.acceptance)
# A target, and the same as its own draft in fewer bits.
OWN = outline(28, 90 << 20, 1_310_000_000, 1536, 151_936, packed=False, tied=True, compiled=True)
SELF = self_pairs(OWN)[-1]
