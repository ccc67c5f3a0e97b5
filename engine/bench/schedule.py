"""`specexec bench schedule`: simulates passes and iterations of a streamed target on described cards. The
engine's own code streams, on a clock that is computed: nothing is measured, and no card is used."""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from engine.bench.options import listed, numbers, say
from engine.errors import BadOption
from engine.terminal import Commands, add_command

if TYPE_CHECKING:
    from engine.bench.simulation.outcome import (
        SharedPass,
        SimulatedIteration,
        SimulatedOutcome,
        SimulatedPass,
    )
    from engine.checkpoints import Weight
    from engine.planner import MachineProfile

# Raw rate of 16 lanes, in bytes per second, by version of PCIe.
PCIE = {3: 15.75e9, 4: 31.5e9, 5: 63e9}

SOURCES = """\
Simulated, not measured: nothing was run on a card. Chunks, slots, copies and waiting are those of the
engine's streaming code, which runs on a computed clock. Durations come from data sheets by the planner's
arithmetic (products at half, memory at 80 %, PCIe at 79 % of the sheet's figure), and from estimates: 10 µs
for starting a copy, 40 µs of the processor for launching each piece of a matrix."""


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "schedule",
        run,
        "simulate a streamed target on described graphics cards",
        "Runs the code that streams weights, on a clock that is computed: copies, disk, kernels and drafting "
        "take as long as a card's data sheet promises. Needs neither a card nor a model. Compares passes and "
        "iterations with their bound, the time to move the streamed bytes or to compute, whichever is "
        "longer, and with the planner's prediction.",
    )
    parser.add_argument(
        "--target",
        metavar="ID",
        default="qwen2.5-72b-awq",
        help="target model of the catalogue (default: %(default)s)",
    )
    parser.add_argument(
        "--drafts",
        metavar="ID,…",
        default="qwen2.5-7b-q4_k_m,qwen2.5-0.5b-q4_k_m",
        help="draft models of the catalogue (default: %(default)s)",
    )
    parser.add_argument(
        "--vram",
        metavar="GiB,…",
        default="8,12,16,24",
        help="memory of the cards, in GiB (default: %(default)s)",
    )
    parser.add_argument(
        "--card",
        metavar="NAME",
        help="card whose speed all of them have, such as “RTX 4090” (default: that of the largest card in "
        "the planner's table of machines with no more memory)",
    )
    parser.add_argument(
        "--pcie",
        metavar="N,…",
        default="3,4,5",
        help="versions of PCIe, with 16 lanes (default: %(default)s)",
    )
    parser.add_argument(
        "--rows",
        metavar="N,…",
        default="64,256,1024",
        help="numbers of rows of a pass, the tree and its root (default: %(default)s)",
    )
    parser.add_argument("--ram", type=float, metavar="GiB", default=64, help="RAM (default: %(default)s)")
    parser.add_argument(
        "--disk-gbps",
        type=float,
        metavar="GB/s",
        default=7,
        help="read speed of the disk (default: %(default)s)",
    )
    parser.add_argument(
        "--context", type=int, metavar="N", default=2048, help="tokens of the context (default: %(default)s)"
    )
    parser.add_argument(
        "--helped-rows",
        metavar="N,…",
        default="",
        help="numbers of rows of passes in which the processor, too, multiplies by a share of the weights, "
        "where they lie in RAM, as with --processor-helps measured (default: none)",
    )
    parser.add_argument(
        "--ram-gbps",
        type=float,
        metavar="GB/s",
        default=62,
        help="bandwidth of RAM, which processor and link share (default: %(default)s, DDR5)",
    )
    parser.add_argument(
        "--survival",
        type=float,
        metavar="SHARE",
        default=1,
        help="share of what a draft computes beside a pass that the next tree is spared (default: 1, the "
        "best that can happen)",
    )


def run(parsed: argparse.Namespace) -> int:
    rows = numbers("rows", parsed.rows, int)
    helped = numbers("helped-rows", parsed.helped_rows, int) if parsed.helped_rows else []
    versions = numbers("pcie", parsed.pcie, int)
    vram = numbers("vram", parsed.vram, float)
    sizes = [*rows, *helped, *vram, parsed.ram, parsed.ram_gbps, parsed.disk_gbps, parsed.context]
    if min(sizes) <= 0 or not 0 < parsed.survival <= 1 or not {*versions} <= {*PCIE}:
        raise BadOption(
            "All numbers must be above 0, PCIe's version 3, 4 or 5, and --survival at most 1.",
            "Omit them to use the defaults.",
        )
    machines = list(_machines(parsed, vram, versions))
    cases = list(simulated(parsed, machines, rows))
    with_help = list(simulated_help(parsed, machines, helped))
    if parsed.json:
        found = {"cases": [asdict(each) for each in cases], "helped": [asdict(each) for each in with_help]}
        print(json.dumps({"sources": SOURCES, "survival": parsed.survival, **found}))
    else:
        print(SOURCES, "", *table(cases, parsed.survival), *table_of_help(with_help), sep="\n")
    return 0


@dataclass(frozen=True, slots=True)
class DescribedCard:
    """A described card. `vram`: in GiB; `pcie`: version of its link."""

    name: str
    vram: float
    pcie: int


@dataclass(frozen=True, slots=True)
class SimulatedCase:
    """A described card and pair, and what the simulation gives. `rows`: of a pass."""

    card: DescribedCard
    draft: str
    rows: int
    outcome: "SimulatedOutcome"


@dataclass(frozen=True, slots=True)
class HelpedCase:
    """A described card, and passes of the target without and with the processor's help, None if the planner
    does not run it."""

    card: DescribedCard
    rows: int
    one_pass: "SharedPass | None"


Described = tuple[DescribedCard, "MachineProfile"]


def simulated(
    parsed: argparse.Namespace, machines: Sequence[Described], rows: Sequence[int]
) -> Iterator[SimulatedCase]:
    """Simulate all cases that the options describe, in the order of the table."""
    from engine.bench.simulation.outcome import simulate
    from engine.planner.outline import catalogued
    from engine.planner.pairs import pair_of

    weights = _weights(parsed.target)
    for draft in listed(parsed.drafts):
        _known(draft)
        pair = pair_of(catalogued(parsed.target), catalogued(draft))
        for card, machine in machines:
            for count in rows:
                say(f"{draft}, {card.name}, {card.vram:g} GiB, PCIe {card.pcie}, {count} rows")
                outcome = simulate(weights, pair, machine, count, parsed.context, parsed.survival)
                yield SimulatedCase(card, draft, count, outcome)


def simulated_help(
    parsed: argparse.Namespace, machines: Sequence[Described], rows: Sequence[int]
) -> Iterator[HelpedCase]:
    """Simulate passes in which a processor of 8 cores with AVX-512 VNNI helps the card."""
    from engine.bench.simulation.outcome import simulate_help
    from engine.planner.machines import compiled_processor
    from engine.planner.outline import catalogued

    if not rows:
        return
    weights, target = _weights(parsed.target), catalogued(parsed.target)
    processor = replace(compiled_processor(8, {"avx512_vnni"}), memory=parsed.ram_gbps * 1e9)
    for card, machine in machines:
        for count in rows:
            say(f"with the processor's help, {card.vram:g} GiB, PCIe {card.pcie}, {count} rows")
            found = simulate_help(weights, target, machine, processor, count, parsed.context)
            yield HelpedCase(card, count, found)


def table(cases: Sequence[SimulatedCase], survival: float) -> Iterator[str]:
    """Yield the lines of two Markdown tables, of passes and of iterations. survival: as simulated."""
    yield (
        "| draft | card | PCIe | rows | GB moved | moving, s | computing, s | pass, s | / bound | "
        "bandwidth used | planned, s |"
    )
    yield "|---" * 11 + "|"
    for case in cases:
        one = case.outcome.one_pass
        cells = _pass_cells(one) if one else [f"does not run: {case.outcome.missing}"]
        yield f"| {case.draft} {_line(case, cells)}"
    yield ""
    yield (
        "| draft | card | PCIe | rows | tokens | drafting, s | taking turns, s | / bound | planned, s | "
        f"overlapped, {survival:.0%} surviving, s | / bound |"
    )
    yield "|---" * 11 + "|"
    for case in cases:
        if case.outcome.iteration:
            yield f"| {case.draft} {_line(case, _iteration_cells(case.outcome.iteration))}"


def table_of_help(cases: Sequence[HelpedCase]) -> Iterator[str]:
    """Yield the lines of a Markdown table; none without cases."""
    if cases:
        yield ""
        yield (
            "| card | PCIe | rows | processor's share | planned | alone, s | with its help, s | × "
            "| planned, s |"
        )
        yield "|---" * 9 + "|"
    for case in cases:
        if one := case.one_pass:
            cells = [f"{one.share:.0%}", f"{one.planned_share:.0%}", f"{one.alone_s:.2f}"]
            cells += [f"{one.shared_s:.2f}", f"{one.alone_s / one.shared_s:.2f}"]
            yield _line(case, [*cells, _planned(one.planned_s, one.shared_s)])


def _line(case: SimulatedCase | HelpedCase, cells: list[str]) -> str:
    place = [f"{case.card.name} {case.card.vram:g} GB", str(case.card.pcie), str(case.rows)]
    return f"| {' | '.join([*place, *cells])} |"


def _pass_cells(one: "SimulatedPass") -> list[str]:
    return [
        f"{one.nbytes / 1e9:.1f}",
        f"{one.moving_s:.2f}",
        f"{one.computing_s:.2f}",
        f"{one.pass_s:.2f}",
        f"{one.ratio:.3f}",
        f"{one.share:.0%}",
        _planned(one.planned_s, one.pass_s),
    ]


def _iteration_cells(one: "SimulatedIteration") -> list[str]:
    return [
        f"{one.tokens:.1f}",
        f"{one.drafting_s:.2f}",
        f"{one.turns_s:.2f}",
        f"{one.turns_s / one.turns_bound_s:.3f}",
        _planned(one.planned_s, one.turns_s),
        f"{one.overlapped_s:.2f}",
        f"{one.overlapped_s / one.overlapped_bound_s:.3f}",
    ]


def _planned(planned_s: float, simulated_s: float) -> str:
    return f"{planned_s:.2f} ({planned_s / simulated_s - 1:+.0%})"


def _machines(
    parsed: argparse.Namespace, vram: Sequence[float], versions: Sequence[int]
) -> Iterator[Described]:
    """Yield the machines that the options describe. Raises BadOption if the card is not known."""
    from engine.planner import cards, described_machine
    from engine.planner.machines import LINK_SHARE, processor, usual_card_name

    known = cards()
    if parsed.card is not None and parsed.card not in known:
        raise BadOption(
            f"The card {parsed.card!r} is not known.", f"Choose from: {', '.join(filter(None, known))}."
        )
    for gib in vram:
        name = parsed.card or usual_card_name(gib)
        for version in versions:
            link, disk = PCIE[version] * LINK_SHARE, parsed.disk_gbps * 1e9
            machine = described_machine(gib, parsed.ram, link, disk, known[name], processor(8, {"avx2"}))
            yield DescribedCard(name, gib, version), machine


def _weights(target: str) -> "dict[str, Weight]":
    """Return the matrices of a model of the catalogue. Raises BadOption if it has none of this name, or if it
    is a mixture of experts."""
    from engine import catalog
    from engine.bench.simulation.model import catalogued_weights

    _known(target)
    variant = catalog.entries()[target]
    model = catalog.catalog().models[variant.model]
    if model.experts:
        raise BadOption(f"{target} is a mixture of experts.", "Choose a dense model.")
    return catalogued_weights(model, variant)


def _known(id: str) -> None:
    from engine import catalog

    if id not in catalog.entries():
        raise BadOption(f"The catalogue has no model {id!r}.", "See: specexec models --all.")
