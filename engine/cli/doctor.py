"""`specexec doctor`: what this machine has, what is wrong with it, and what to do."""

import argparse
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import replace

import msgspec

from engine import catalog, machine
from engine.cli.common import Commands, add_disk_options, with_disk_measured
from engine.errors import SpecExecError
from engine.machine import Finding, Machine, TorchBuild

_KINDS = {"ssd": "an SSD", "hdd": "a hard disk", "network": "a network share", "memory": "RAM"}


def add(commands: Commands) -> None:
    doctor = commands.add_parser(
        "doctor",
        help="what this machine has, what is wrong with it, and what to do",
        description="Exit status 1 where nothing can run at all; what is merely slow is status 0.",
        allow_abbrev=False,
    )
    doctor.set_defaults(run=run)
    add_disk_options(doctor)
    doctor.add_argument("--json", action="store_true", help="print one JSON object")


def run(parsed: argparse.Namespace) -> int:
    folder = (parsed.models or catalog.models_folder()).expanduser()
    here = machine.probe(folder)
    torch = machine.installed_torch()
    if not parsed.json:
        _print(_at_once(here, torch))
    torch = _with_architectures(torch, here)
    unmeasured: list[Finding] = []
    if torch is not None:
        try:
            here = with_disk_measured(here, folder, parsed.measure)
        except SpecExecError as error:
            unmeasured = [Finding(error.kind, "warning", error.message, error.hint)]
    found = unmeasured + machine.diagnose(here, torch)
    worst = next((finding for finding in found if finding.severity == "error"), None)
    if parsed.json:
        answer: dict[str, object] = {"machine": here, "torch": torch, "findings": found}
        if worst is not None:
            answer["error"] = {"kind": worst.kind, "message": worst.message, "hint": worst.hint}
        print(msgspec.json.encode(answer).decode())
    else:
        _print([("Models", _models(here)), *_told(found)])
    return 0 if worst is None else 1


def _with_architectures(torch: TorchBuild | None, here: Machine) -> TorchBuild | None:
    """Only torch itself knows them; it is imported where there is a card to compare them with."""
    if torch is None or torch.cuda is None or not any(gpu.vendor == "nvidia" for gpu in here.gpus):
        return torch
    from torch.cuda import get_arch_list

    return replace(torch, architectures=tuple(get_arch_list()))


def _print(sections: Iterable[tuple[str, list[str]]]) -> None:
    """Lines under a title each, wrapped to the terminal."""
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
            print(wrapped, flush=True)
            margin = " " * 10


def _at_once(here: Machine, torch: TorchBuild | None) -> Iterator[tuple[str, list[str]]]:
    """What is known without measuring."""
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


def _told(found: list[Finding]) -> Iterator[tuple[str, list[str]]]:
    for finding in found:
        yield "", [""]
        yield finding.severity, [finding.message, "→ " + finding.hint]
    if all(finding.severity == "note" for finding in found):
        yield "", ["", "Nothing is wrong."]


def _graphics(here: Machine) -> list[str]:
    lines = []
    for gpu in here.gpus:
        facts = [gpu.name]
        if gpu.total_nbytes is not None and gpu.free_nbytes is not None:
            facts.append(f"{_gib(gpu.total_nbytes)}, {_gib(gpu.free_nbytes)} free")
        if gpu.compute_capability is not None:
            facts.append("compute capability {}.{}".format(*gpu.compute_capability))
        if gpu.driver is not None:
            facts.append(f"driver {gpu.driver}")
        lines.append(", ".join(facts))
        link = [f"PCIe carries {gpu.pcie_gb_per_s:.1f} GB/s at most"] if gpu.pcie_gb_per_s else []
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
