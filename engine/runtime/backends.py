"""Which runtimes this build of the app can set up, and which of them fits a machine."""

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine import launching
from engine.launching import Runtime
from engine.machine import Gpu, Machine


@dataclass(frozen=True, slots=True)
class Backend:
    """Attributes: `name`: "cpu", "cuda" or "rocm"; `nbytes`: of its packages when installed;
    `download_nbytes`: of the files they come in; `index`: where torch's build lies, "": with the other
    packages; `driver`: the oldest that will do, "": any; `capability`: the least of a CUDA device."""

    name: str
    nbytes: int
    download_nbytes: int
    index: str = ""
    driver: str = ""
    capability: tuple[int, int] = (0, 0)

    def lists(self) -> tuple[Path, Path]:
        """What the engine needs, and torch with what it alone needs."""
        return launching.lists() / "engine.txt", launching.lists() / f"torch-{self.name}.txt"

    def key(self) -> str:
        """Names what the lists say; another one: another runtime."""
        digest = hashlib.sha256()
        for path in self.lists():
            digest.update(path.read_bytes())
        return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A backend for a machine. `usable`: its device is there; `reason`: a sentence for a person."""

    backend: Backend
    usable: bool
    reason: str


@cache
def backends() -> dict[str, Backend]:
    """By name; empty in a checkout."""
    if not launching.is_packaged():
        return {}
    said = tomllib.loads((launching.lists() / "backends.toml").read_text("utf-8"))
    return {
        name: Backend(name, **{**fields, "capability": tuple(fields.get("capability", (0, 0)))})
        for name, fields in said.items()
    }


def is_up_to_date(runtime: Runtime) -> bool:
    """Whether it was made from this build's lists. An older one goes on answering until it is replaced."""
    backend = backends().get(runtime.backend)
    return backend is not None and backend.key() == runtime.key


def propose(machine: Machine) -> list[Proposal]:
    """All backends, the one to take first."""
    found = [_proposal(backend, machine) for backend in backends().values()]
    return sorted(found, key=lambda proposal: (not proposal.usable, proposal.backend.name == "cpu"))


def _proposal(backend: Backend, machine: Machine) -> Proposal:
    if backend.name == "cpu":
        return Proposal(backend, True, "Runs on every machine; a graphics card stays idle.")
    vendor = {"cuda": "nvidia", "rocm": "amd"}[backend.name]
    maker = {"nvidia": "NVIDIA", "amd": "AMD"}[vendor]
    cards = [gpu for gpu in machine.gpus if gpu.vendor == vendor]
    if not cards:
        problem = machine.gpu_problem if vendor == "nvidia" else None
        return Proposal(backend, False, f"No graphics card by {maker} answers{_because(problem)}.")
    reasons = [_what_lacks(backend, card) for card in cards]
    if all(reasons):
        return Proposal(backend, False, next(filter(None, reasons)))
    card = cards[reasons.index("")]
    return Proposal(backend, True, f"For {card.name}, the graphics card of this machine.")


def _what_lacks(backend: Backend, card: Gpu) -> str:
    """A sentence, or "" where the card will do."""
    if backend.driver and card.driver and _numbers(card.driver) < _numbers(backend.driver):
        return f"The driver of {card.name} is {card.driver}: update it, {backend.driver} or newer is needed."
    if card.compute_capability and card.compute_capability < backend.capability:
        return f"{card.name} is of a generation that this build of torch no longer runs on."
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _because(problem: str | None) -> str:
    return f" ({problem})" if problem else ""
