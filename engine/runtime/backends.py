"""The runtimes that this build of the app can set up, and which of them fits a machine."""

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.launch import interpreter
from engine.launch.interpreter import Runtime
from engine.machine import Gpu, Machine


@dataclass(frozen=True, slots=True)
class Backend:
    """A build of torch with the packages it needs.

    Attributes: `name`, which is "cpu", "cuda" or "rocm"; `nbytes`, the size of its packages when installed;
    `download_nbytes`, the size of the downloads; `index`, the URL of the package index that has this build of
    torch, "" if torch comes from the same index as the other packages; `driver`, the minimum driver version,
    "" if any version will do; `capability`, the minimum compute capability of a CUDA device.
    """

    name: str
    nbytes: int
    download_nbytes: int
    index: str = ""
    driver: str = ""
    capability: tuple[int, int] = (0, 0)

    def lists(self) -> tuple[Path, Path]:
        """Return the paths of two requirement lists: the engine's packages; torch with its dependencies."""
        folder = interpreter.requirements_folder()
        engine = folder / f"engine-{self.name}.txt"  # if the backend needs more packages than others
        return engine if engine.is_file() else folder / "engine.txt", folder / f"torch-{self.name}.txt"

    def key(self) -> str:
        """Return a hash of the requirement lists, which identifies the runtime installed from them."""
        digest = hashlib.sha256()
        for path in self.lists():
            digest.update(path.read_bytes())
        return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Proposal:
    """How well a backend suits a machine.

    Attributes: `usable`, whether its device is present and supported; `reason`, why it is usable or not, one
    sentence for the user.
    """

    backend: Backend
    usable: bool
    reason: str


@cache
def backends() -> dict[str, Backend]:
    """Return all backends by name; an empty dictionary if torch comes with the environment."""
    if not interpreter.uses_runtimes():
        return {}
    entries = tomllib.loads((interpreter.requirements_folder() / "backends.toml").read_text("utf-8"))
    return {
        name: Backend(name, **{**fields, "capability": tuple(fields.get("capability", (0, 0)))})
        for name, fields in entries.items()
    }


def is_up_to_date(runtime: Runtime) -> bool:
    """Whether the runtime was installed from the requirement lists of this build of the app.

    An older runtime keeps working until it is replaced.
    """
    backend = backends().get(runtime.backend)
    return backend is not None and backend.key() == runtime.key


def propose(machine: Machine) -> list[Proposal]:
    """Return a proposal for each backend, the recommended one first."""
    proposals = [_proposal(backend, machine) for backend in backends().values()]
    return sorted(proposals, key=lambda proposal: (not proposal.usable, proposal.backend.name == "cpu"))


def _proposal(backend: Backend, machine: Machine) -> Proposal:
    if backend.name == "cpu":
        return Proposal(backend, True, "Runs on every machine, but does not use a graphics card.")
    vendor = {"cuda": "nvidia", "rocm": "amd"}[backend.name]
    maker = {"nvidia": "NVIDIA", "amd": "AMD"}[vendor]
    cards = [gpu for gpu in machine.gpus if gpu.vendor == vendor]
    if not cards:
        problem = machine.gpu_problem if vendor == "nvidia" else None
        return Proposal(backend, False, f"No working {maker} graphics card was found{_because(problem)}.")
    reasons = [_obstacle(backend, card) for card in cards]
    if all(reasons):
        return Proposal(backend, False, next(filter(None, reasons)))
    card = cards[reasons.index("")]
    return Proposal(backend, True, f"Uses this machine's graphics card, {card.name}.")


def _obstacle(backend: Backend, card: Gpu) -> str:
    """Return why the backend cannot use the card, as one sentence; "" if it can."""
    if backend.driver and card.driver and _numbers(card.driver) < _numbers(backend.driver):
        return f"Update the driver of {card.name} from {card.driver} to {backend.driver} or newer."
    if card.compute_capability and card.compute_capability < backend.capability:
        return f"{card.name} is too old for this build of torch."
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _because(problem: str | None) -> str:
    return f" ({problem})" if problem else ""
