"""What the window says of backends, and of how far their set-up is."""

from PySide6.QtCore import QCoreApplication

from app import words
from app.wizard.stages import Shown, Stage, StageState
from engine import runtime
from engine.machine import Gpu, Machine
from engine.runtime import Backend, Setup

Fact = tuple[str, str, str]  # what, how much, more about it


def _tr(text: str) -> str:
    return QCoreApplication.translate("engine_words", text)


def name(backend: str) -> str:
    return {
        "cpu": _tr("Processor (CPU)"),
        "cuda": _tr("NVIDIA graphics card (CUDA)"),
        "rocm": _tr("AMD graphics card (ROCm)"),
    }[backend]


def size(backend: Backend) -> str:
    installed, download = words.nbytes(backend.nbytes), words.nbytes(backend.download_nbytes)
    return _tr("{} to download, {} on the disk").format(download, installed)


def facts(machine: Machine) -> list[Fact]:
    """What decides which backend fits."""
    cards = [(_tr("Graphics card"), gpu.name, _driver(gpu)) for gpu in machine.gpus]
    if not cards:
        cards = [(_tr("Graphics card"), _tr("None that can compute"), "")]
    free = _tr("{} free").format(words.nbytes(machine.disk.free_nbytes))
    return [*cards, (_tr("Disk"), free, machine.disk.folder)]


def _driver(gpu: Gpu) -> str:
    return _tr("driver {}").format(gpu.driver) if gpu.driver else ""


def of_setup(setup: Setup, from_file: bool) -> Shown:
    """For `ProgressView`. from_file: its packages come out of a runtime file."""
    seen = setup.progress()
    is_there = seen.stage in ("testing", "switching")
    total = setup.backend.nbytes if is_there else seen.nbytes
    return Shown(
        title=_tr("Engine: {}").format(name(setup.backend.name)),
        state=seen.state,
        done=total if is_there else seen.done_nbytes,
        total=total,
        bytes_per_s=seen.bytes_per_s,
        seconds_left=seen.seconds_left,
        trouble=seen.trouble,
        hint=setup.error.hint if setup.error else "",
        stages=_stages(seen, from_file),
        can_pause=False,
        deletes=seen.state == "running",
    )


def _stages(seen: runtime.Progress, from_file: bool) -> tuple[Stage, ...]:
    named = {
        "checking": _tr("Check the disk"),
        "unpacking": _tr("Unpack the file"),
        "packages": _tr("Get the packages"),
        "torch": _tr("Get PyTorch"),
        "testing": _tr("Try it out: one product, one token"),
        "switching": _tr("Switch to it"),
    }
    if not from_file:
        del named["unpacking"]
    current = list(named).index(seen.stage)
    now: dict[str, tuple[StageState, str]] = {"failed": ("trouble", _tr("stopped")), "done": ("done", "")}
    state, note = now.get(seen.state, ("running", seen.doing))
    before, behind = list(named.values())[:current], list(named.values())[current + 1 :]
    return (
        *(Stage(text, "done") for text in before),
        Stage(named[seen.stage], state, note=note),
        *(Stage(text, "waiting") for text in behind),
    )
