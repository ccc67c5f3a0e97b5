"""The report about a card: a table for the terminal, and a file to attach to a report of a fault. It names no
user and no folder."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from engine import machine, ways
from engine.files import write_whole
from engine.proof import ladder, record
from engine.proof.trial import TriedWay

FILE = "specexec-card.json"
_UNITS = {"B/s": (1e9, "GB/s"), "FLOP/s": (1e12, "TFLOP/s"), "weights/s": (1e9, "G weights/s")}
_HEADINGS = ("kernel", "way", "right?", "speed", "of what is possible")


class CardReport(msgspec.Struct, frozen=True):
    """The content of the file. machine: processor, memory, system. taken: the way of each kernel, also of
    one that could not be tried; None for all if the card cannot be used."""

    identity: record.CardIdentity
    machine: dict[str, str | int | None]
    tried: list[TriedWay]
    taken: dict[str, str | None]


def report_of(
    here: machine.Machine,
    gpu: machine.Gpu,
    kernels: Sequence[str],
    tried: Sequence[TriedWay],
    sheet: Mapping[str, float],
) -> CardReport:
    """Return the report about a card. sheet: what the data sheet promises, by kind of kernel, in the units of
    `tried`."""
    limits = dict(sheet)
    if gpu.pcie_gb_per_s is not None:
        limits |= dict.fromkeys(("copies", "streams"), gpu.pcie_gb_per_s * 1e9)
    known = [
        msgspec.structs.replace(each, possible=limits.get(ways.kind_of(each.kernel)))
        if each.rate and not each.possible
        else each
        for each in tried
        if each.kernel in kernels
    ]
    facts: dict[str, str | int | None] = {
        "system": here.system,
        "processor": here.cpu.name,
        "threads": here.cpu.usable,
        "ram_nbytes": here.memory.total_nbytes,
        "vram_nbytes": gpu.total_nbytes,
        "container": here.surroundings.container,
    }
    identity = msgspec.structs.replace(record.identity_of(gpu), uuid="")  # it names one card in the world
    is_used = ladder.refused(kernels, tried) is None
    taken = {kernel: ladder.chosen(kernel, tried) if is_used else None for kernel in kernels}
    return CardReport(identity, facts, known, taken)


def as_data(report: CardReport) -> dict[str, Any]:
    data = msgspec.to_builtins(report)
    assert isinstance(data, dict)
    return data


def write(report: CardReport, file: Path) -> None:
    """Raises OSError if the file cannot be written."""
    write_whole(file, msgspec.json.format(msgspec.json.encode(report)))


def table(report: CardReport) -> list[str]:
    """Return the lines of the table: each way that was tried, with the way that replaces it below, and, if
    the card can be used, kernels that could not be tried, as memory or space on the disk was missing."""
    tried = {(each.kernel, each.way) for each in report.tried}
    unchecked = [
        TriedWay(kernel, way, "unchecked")
        for kernel, way in report.taken.items()
        if way and (kernel, way) not in tried
    ]
    rows = [_HEADINGS, *map(_row, [*report.tried, *unchecked])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def remarks(tried: Iterable[TriedWay]) -> list[str]:
    """Return what went wrong, and the conditions of measurements, as sentences."""
    wrong = [
        f"{ladder.described(each)}: {each.problem}" if each.problem else f"{ladder.described(each)}."
        for each in tried
        if each.outcome not in ("right", "unchecked")
    ]
    for each in tried:
        if each.kernel == "streams" and each.remark:  # as weights are copied
            load = " under load" if each.way == "two" else ""
            return [*wrong, f"The link was measured{load}: {each.remark}."]
    return wrong


def _row(shown: TriedWay) -> tuple[str, ...]:
    right = "yes" if shown.outcome == "right" else shown.outcome
    if shown.rate is None:
        return shown.kernel, shown.way, right, "", ""
    factor, unit = _UNITS[shown.unit]
    share = f"{shown.rate / shown.possible:.0%}" if shown.possible else ""
    return shown.kernel, shown.way, right, f"{shown.rate / factor:.3g} {unit}", share
