"""`specexec doctor`: report what this machine has, what is wrong with it, and what to do."""

import argparse
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from engine import catalog, machine
from engine.cli.disk import add_disk_options, with_disk_measured
from engine.errors import SpecExecError
from engine.files import named_path
from engine.machine import Finding, Machine, TorchBuild
from engine.proof.report import FILE, CardReport, as_data, remarks, table
from engine.terminal import Commands, add_command, say

_KINDS = {"ssd": "an SSD", "hdd": "a hard disk", "network": "a network share", "memory": "RAM"}


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "doctor",
        run,
        "check this machine and report problems",
        "Lists graphics cards, processor, memory and the models' disk, then every problem with its remedy. "
        "The exit status is 0 whatever is found.",
    )
    add_disk_options(parser)
    parser.add_argument(
        "--device",
        choices=["cuda"],
        help="check every kernel of the graphics card against the processor, measure it, and write a report, "
        "which takes a minute (default: the card is not used)",
    )
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        default=Path(FILE),
        help="the file for the report about the card, which names neither user nor folders "
        "(default: %(default)s in the current folder)",
    )


def run(parsed: argparse.Namespace) -> int:
    folder = named_path(parsed.models or catalog.models_folder())
    here = machine.probe(folder)
    torch = machine.installed_torch()
    if not parsed.json:
        _print(_hardware(here, torch))
    torch = _with_architectures(torch, here)
    unmeasured: list[Finding] = []
    try:
        here = with_disk_measured(here, folder, parsed.measure)
    except SpecExecError as error:
        unmeasured = [Finding(error.kind, "warning", error.message, error.hint)]
    card = _checked_card(here, parsed.report) if parsed.device else None
    findings = unmeasured + machine.diagnose(here, torch)
    if parsed.json:
        answer: dict[str, object] = {"machine": here, "torch": torch, "findings": findings}
        if card is not None:
            answer["card"] = as_data(card)
        say(msgspec.json.encode(answer).decode())
    else:
        _print([("Models", _models(here))])
        if card is not None:
            say("", *table(card), "", *remarks(card.tried), f"The report is in {parsed.report}.")
        _print(_described(findings))
    return 0


def _with_architectures(torch: TorchBuild | None, here: Machine) -> TorchBuild | None:
    """Return `torch` with the GPU architectures it is built for, which only the imported torch can tell.

    Torch is imported only if there is a card of the maker that it is built for.
    """
    if torch is None or not torch.cards(here.gpus):
        return torch
    from torch.cuda import get_arch_list

    return replace(torch, architectures=tuple(get_arch_list()))


def _checked_card(here: Machine, file: Path) -> CardReport:
    from engine.cli.card import check_card  # imports what models need

    return check_card(here, file)


def _print(sections: Iterable[tuple[str, list[str]]]) -> None:
    """Print sections of (title, lines), wrapped to the width of the terminal."""
    for title, lines in sections:
        margin = f"{title:<10}"
        for line in lines:
            wrapped = textwrap.fill(
                margin + line,
                max(shutil.get_terminal_size().columns, 40),
                subsequent_indent=" " * 10,
                break_on_hyphens=False,
                break_long_words=False,
            )
            say(*wrapped.splitlines())
            margin = " " * 10


def _hardware(here: Machine, torch: TorchBuild | None) -> Iterator[tuple[str, list[str]]]:
    """Yield the sections of the report that need no measurement."""
    yield "Graphics", _graphics(here) or ["none"]
    cpu = here.cpu
    features = [name for name, has in cpu.features.items() if has]
    features += [f"{name} unknown" for name, has in cpu.features.items() if has is None]
    lines = [f"{cpu.name}, {cpu.cores} cores, {cpu.threads} threads"]
    yield "Processor", [*lines, ", ".join(features)] if features else lines
    ram = here.memory
    yield "RAM", [f"{_gib(ram.total_nbytes)}, {_gib(ram.available_nbytes)} free"]
    if torch is not None:
        runtime = f"CUDA {torch.cuda}" if torch.cuda else f"ROCm {torch.rocm}" if torch.rocm else "no CUDA"
        yield "torch", [f"{torch.version}, {runtime}"]


def _described(findings: list[Finding]) -> Iterator[tuple[str, list[str]]]:
    for finding in findings:
        yield "", [""]
        yield finding.severity, [finding.message, "→ " + finding.hint]
    if all(finding.severity == "note" for finding in findings):
        yield "", ["", "No problems found."]


def _graphics(here: Machine) -> list[str]:
    lines = []
    for gpu in here.gpus:
        facts = [gpu.name]
        if gpu.total_nbytes is not None and gpu.free_nbytes is not None:
            facts.append(f"{_gib(gpu.total_nbytes)}, {_gib(gpu.free_nbytes)} free")
        if gpu.compute_capability is not None:
            facts.append("compute capability {}.{}".format(*gpu.compute_capability))
        if gpu.architecture:
            facts.append(gpu.architecture)
        if gpu.driver is not None:
            facts.append(f"driver {gpu.driver}")
        lines.append(", ".join(facts))
        link = [f"PCIe: {gpu.pcie_gb_per_s:.1f} GB/s at most"] if gpu.pcie_gb_per_s else []
        if gpu.link is not None:
            link.append(f"{gpu.link.gb_per_s:.1f} GB/s measured on {gpu.link.measured:%Y-%m-%d}")
        if link:
            lines.append(", ".join(link))
    return lines


def _models(here: Machine) -> list[str]:
    disk, speed = here.disk, here.disk.speed
    facts = [f"{_gib(disk.free_nbytes)} free", disk.file_system, disk.device]
    if disk.kind in _KINDS and not (disk.kind == "hdd" and speed):
        facts.append(_KINDS[disk.kind])
    lines = [disk.folder, ", ".join(fact for fact in facts if fact)]
    if speed is not None:
        ways = {"directly": speed.direct_gb_per_s, "through the cache": speed.buffered_gb_per_s}
        read = ", ".join(f"{rate:.2f} GB/s {way}" for way, rate in ways.items() if rate is not None)
        lines.append(f"reads {read}, measured on {speed.measured:%Y-%m-%d}")
    return lines


def _gib(nbytes: int) -> str:
    return f"{nbytes / 2**30:.1f} GiB"
