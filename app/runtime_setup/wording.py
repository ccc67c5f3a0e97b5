"""Texts about backends, and about the facts of the machine that decide between them."""

from PySide6.QtCore import QCoreApplication

from app import formatting
from engine.machine import Gpu, Machine
from engine.runtime import Backend

Fact = tuple[str, str, str]  # name, value, detail


def _tr(text: str) -> str:
    return QCoreApplication.translate("engine_words", text)


def name(backend: str) -> str:
    return {
        "cpu": _tr("Processor (CPU)"),
        "cuda": _tr("NVIDIA graphics card (CUDA)"),
        "rocm": _tr("AMD graphics card (ROCm)"),
    }[backend]


def size(backend: Backend) -> str:
    installed, download = formatting.nbytes(backend.nbytes), formatting.nbytes(backend.download_nbytes)
    return _tr("{} to download, {} on disk").format(download, installed)


def facts(machine: Machine) -> list[Fact]:
    """Return the facts that decide which backend fits."""
    cards = [(_tr("Graphics card"), gpu.name, _driver(gpu)) for gpu in machine.gpus]
    if not cards:
        cards = [(_tr("Graphics card"), _tr("None suitable"), "")]
    free = _tr("{} free").format(formatting.nbytes(machine.disk.free_nbytes))
    return [*cards, (_tr("Disk"), free, machine.disk.folder)]


def _driver(gpu: Gpu) -> str:
    return _tr("driver {}").format(gpu.driver) if gpu.driver else ""
