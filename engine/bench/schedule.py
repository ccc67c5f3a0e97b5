"""`specexec bench schedule`: simulates passes and iterations of a streamed target on described cards. The
engine's own code streams, on a clock that is computed: nothing is measured, and no card is used."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
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
    from engine.catalog import Variant
    from engine.checkpoints import Weight
    from engine.planner import MachineProfile, Outline

# Raw rate of 16 lanes, in bytes per second, by version of PCIe.
PCIE = {3: 15.75e9, 4: 31.5e9, 5: 63e9}

# In place of a draft of the catalogue.
OWN, COPY, NONE = "self", "copy", "none"
PLANNED = "planned"  # in place of numbers of rows
PLAIN = "16-bit"  # how weights are stored, in place of a mixture of formats

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
        help="draft models of the catalogue; “self”, the target itself in fewer bits, which shares rows and "
        "layers with it (no card runs that); “copy”, a file of the target in fewer bits; or “none” (default: "
        "%(default)s)",
    )
    parser.add_argument(
        "--stored-as",
        metavar="FORM",
        help="form of the target's weights: “16-bit”, or a name of GGUF files, such as Q8_0 (default: the "
        "catalogue's)",
    )
    parser.add_argument(
        "--copy-gain",
        type=float,
        metavar="FACTOR",
        default=1,
        help="how many times as many tokens a pass gains with “self” and “copy” as plans expect (default: "
        "%(default)s)",
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
        help="numbers of rows of a pass, the tree and its root, or “planned”, as many as the plan has "
        "(default: %(default)s)",
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
    planned = parsed.rows == PLANNED
    rows: list[int | None] = [None] if planned else [*numbers("rows", parsed.rows, int)]
    helped = numbers("helped-rows", parsed.helped_rows, int) if parsed.helped_rows else []
    versions = numbers("pcie", parsed.pcie, int)
    vram = numbers("vram", parsed.vram, float)
    sizes = [*helped, *vram, parsed.ram, parsed.ram_gbps, parsed.disk_gbps, parsed.context]
    sizes += [parsed.copy_gain, *(count for count in rows if count is not None)]
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
        lines = [*table(cases, parsed.survival), *table_of_fastest(cases), *table_of_help(with_help)]
        print(SOURCES, "", *lines, sep="\n")
    return 0


@dataclass(frozen=True, slots=True)
class DescribedCard:
    """A described card. `vram`: in GiB; `pcie`: version of its link."""

    name: str
    vram: float
    pcie: int


@dataclass(frozen=True, slots=True)
class SimulatedCase:
    """A described card and pair, and what the simulation gives. `rows`: of a pass, None if there is no
    plan."""

    card: DescribedCard
    draft: str
    rows: int | None
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
    parsed: argparse.Namespace, machines: Sequence[Described], rows: Sequence[int | None]
) -> Iterator[SimulatedCase]:
    """Simulate all cases that the options describe, in the order of the table."""
    target, weights = _target(parsed)
    for draft in listed(parsed.drafts):
        for card, machine in machines:
            for count in rows:
                say(f"{draft}, {card.name}, {card.vram:g} GiB, PCIe {card.pcie}, {count or PLANNED} rows")
                outcome = _outcome(parsed, draft, target, weights, machine, count)
                if outcome.one_pass:
                    count = outcome.one_pass.rows
                yield SimulatedCase(card, draft, count, outcome)


def _outcome(
    parsed: argparse.Namespace,
    draft: str,
    target: "Outline",
    weights: "Mapping[str, Weight]",
    machine: "MachineProfile",
    rows: int | None,
) -> "SimulatedOutcome":
    from engine.bench.simulation.outcome import simulate, simulate_own_draft
    from engine.bench.simulation.own_draft import pairs_with_copies
    from engine.planner import Asked, fastest
    from engine.planner.outline import catalogued
    from engine.planner.pairs import pair_of

    context, survival, gain = parsed.context, parsed.survival, parsed.copy_gain
    if draft == OWN:
        return simulate_own_draft(weights, target, machine, rows, context, survival, gain)
    if draft == COPY:
        asked = Asked(context, budget=None if rows is None else rows - 1, device="cuda")
        _, pair = fastest(machine, pairs_with_copies(target, gain), asked, ())
    elif draft == NONE:
        pair = pair_of(target, None)
    else:
        _known(draft)
        pair = pair_of(target, catalogued(draft))
    return simulate(weights, pair, machine, rows, context, survival)


def simulated_help(
    parsed: argparse.Namespace, machines: Sequence[Described], rows: Sequence[int]
) -> Iterator[HelpedCase]:
    """Simulate passes in which a processor of 8 cores with AVX-512 VNNI helps the card."""
    from engine.bench.simulation.outcome import simulate_help
    from engine.planner.machines import compiled_processor

    if not rows:
        return
    target, weights = _target(parsed)
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


def table_of_fastest(cases: Sequence[SimulatedCase]) -> Iterator[str]:
    """Yield the lines of a Markdown table with the number of rows that is fastest, taking turns, for each
    draft on each card; none if the target nowhere drafts for itself."""
    if not any(case.outcome.own for case in cases):
        return
    fastest: dict[tuple[DescribedCard, str], SimulatedCase] = {}
    for case in cases:
        key = case.card, case.draft
        if _speed(case) > (_speed(fastest[key]) if key in fastest else 0.0):
            fastest[key] = case
    yield ""
    yield (
        "| draft | card | PCIe | rows | copy | copy, GB | resident, GB | of these copied | tokens | "
        "drafting, s | taking turns, s | tokens/s | overlapped, tokens/s |"
    )
    yield "|---" * 13 + "|"
    for case in fastest.values():
        one, own, sizes = case.outcome.iteration, case.outcome.own, [""] * 3
        assert one is not None
        if own is not None:
            sizes = [f"{own.copy / 1e9:.1f}", f"{own.resident / 1e9:.1f}", f"{own.copied:.0%}"]
        cells = [case.outcome.form or "", *sizes]
        cells += [f"{one.tokens:.1f}", f"{one.drafting_s:.2f}", f"{one.turns_s:.2f}"]
        cells += [f"{one.tokens_per_second:.2f}", f"{one.tokens / one.overlapped_s:.2f}"]
        yield f"| {case.draft} {_line(case, cells)}"


def _speed(case: SimulatedCase) -> float:
    return case.outcome.iteration.tokens_per_second if case.outcome.iteration else 0.0


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
    place = [f"{case.card.name} {case.card.vram:g} GB", str(case.card.pcie), str(case.rows or PLANNED)]
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


def _target(parsed: argparse.Namespace) -> "tuple[Outline, dict[str, Weight]]":
    """Return the outline of the target, and its matrices. Raises BadOption if the catalogue has no model of
    this name, if it is a mixture of experts, or if no GGUF files are stored so."""
    from engine import catalog
    from engine.bench.simulation.model import catalogued_weights
    from engine.planner import variant_outline

    _known(parsed.target)
    variant = catalog.entries()[parsed.target]
    model = catalog.catalog().models[variant.model]
    if model.experts:
        raise BadOption(f"{parsed.target} is a mixture of experts.", "Choose a dense model.")
    if parsed.stored_as is not None:
        variant = _stored_as(variant, parsed.stored_as)
    return variant_outline(model, variant), catalogued_weights(model, variant)


def _stored_as(variant: "Variant", name: str) -> "Variant":
    """Return a model's variant in another form. Raises BadOption if there is none of this name."""
    from engine.catalog.sizes import MIXES

    if name != PLAIN and name not in MIXES:
        known = ", ".join([PLAIN, *MIXES])
        raise BadOption(f"No files are stored as {name!r}.", f"Choose from: {known}.")
    kind, mix = (PLAIN, "") if name == PLAIN else ("gguf", name)
    return replace(variant, format=kind, mix=mix, bits=0, intermediate=0)


def _known(id: str) -> None:
    from engine import catalog

    if id not in catalog.entries():
        raise BadOption(f"The catalogue has no model {id!r}.", "See: specexec models --all.")
