"""This machine: what it has and how fast its disk reads. Knows no Qt; not for a GUI thread."""

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from engine import launching, machine, planner
from engine.errors import SpecExecError
from engine.hub import Stop, Stopped
from engine.machine import Finding, Machine, TorchBuild

_LOOK_S = 0.1


class NotMeasured(SpecExecError):
    """The process that measures did not say what it found."""

    kind = "not_measured"


@dataclass(frozen=True, slots=True)
class Examined:
    """As `specexec doctor --json` says it. torch: None where it is not installed."""

    machine: Machine
    torch: TorchBuild | None
    findings: tuple[Finding, ...]

    def usable(self) -> planner.Machine:
        """What predictions are made for: without cards that the torch which is installed cannot use."""
        idle = self.torch is not None and not (self.torch.cuda or self.torch.rocm)
        seen = replace(self.machine, gpus=()) if idle else self.machine
        return planner.of_probed(seen, planner.cards())


def looked_at(models: Path) -> Examined:
    """At once, with what was measured before. Raises what `machine.probe` raises."""
    seen = machine.probe(models)
    torch = installed_torch()
    return Examined(seen, torch, tuple(machine.diagnose(seen, torch)))


def installed_torch() -> TorchBuild | None:
    """The one that the engine runs with: in a packaged program that is the runtime's."""
    if not launching.is_packaged():
        return machine.installed_torch()
    found = launching.current()
    return machine.installed_torch(found.packages) if found else None


def measured(models: Path, again: bool, stop: Stop) -> Examined:
    """In a process of its own, in two to five seconds; `again`: also where it was done this week. Raises
    `NotMeasured`, `RuntimeMissing`, `Stopped`."""
    command = launching.command("engine.cli", "doctor", "--json", "--models", str(models))
    doctor = subprocess.Popen(
        [*command, "--measure"] if again else command,
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    with doctor:
        while True:
            try:
                said, _ = doctor.communicate(timeout=_LOOK_S)
                break
            except subprocess.TimeoutExpired:
                if stop.asked:
                    doctor.kill()
                    raise Stopped from None
    try:
        return msgspec.json.decode(said, type=Examined)
    except msgspec.MsgspecError:
        raise NotMeasured(
            "This machine's speed could not be measured.",
            "Go on without, or measure again; specexec doctor says more.",
        ) from None
