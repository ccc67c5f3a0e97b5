"""The survey of this machine: its hardware, its disk's speed, and the models it can run.

`examine`, `measure` and `offers_for` take long, so `Survey` runs them in the background.
"""

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.background import Work
from app.preferences import PreferencesFile
from app.wizard.selection.offers import offers_for
from engine import catalog, machine, planner
from engine.errors import SpecExecError
from engine.hub import Stop, Stopped
from engine.launch import interpreter
from engine.machine import Finding, Machine, TorchBuild
from engine.protocol.messages import Helps

KINDS = ("look", "measure", "predict")  # the kinds of background jobs
_LOOK_S = 0.1


class NotMeasured(SpecExecError):
    """The process that measures the machine gave no valid result."""

    kind = "not_measured"


@dataclass(frozen=True, slots=True)
class Examined:
    """The facts that `specexec doctor --json` prints about a machine. `torch`: None if not installed."""

    machine: Machine
    torch: TorchBuild | None
    findings: tuple[Finding, ...]

    def usable(self) -> planner.MachineProfile:
        """Return the machine's profile for predictions.

        It contains no graphics cards that the installed torch cannot use.
        """
        gpus = self.torch.cards(self.machine.gpus) if self.torch else self.machine.gpus
        usable = replace(self.machine, gpus=gpus)
        kernels = self.torch is None or self.torch.kernel_problem is None
        return planner.profile_of(usable, planner.cards(kernels))


class Survey(QObject):
    """Examines this machine and predicts how the catalogue's models run on it.

    Attributes:
        examined: what is known of this machine; None until it is examined.

    Signals:
        began: the measurement has started
        seen: Examined, with the facts that need no measurement
        measured: Examined, with the disk's speed
        unmeasured: SpecExecError, the reason why the machine was not measured
        predicted: Offers
        unpredicted: SpecExecError, the reason why there are no predictions
    """

    began = Signal()
    seen = Signal(object)
    measured = Signal(object)
    unmeasured = Signal(object)
    predicted = Signal(object)
    unpredicted = Signal(object)

    def __init__(self, work: Work, preferences: PreferencesFile, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.examined: Examined | None = None
        self._work, self._preferences = work, preferences
        self._helps: Helps | None = None  # as in the last prediction; None for none

    def begin(self, *, again: bool = False) -> None:
        """Start the survey. `again`: whether to repeat a measurement that is less than a week old."""
        models = catalog.models_folder()
        self.began.emit()
        self._work.run("look", lambda stop: examine(models), self._see, self.unmeasured.emit)
        self._work.run(
            "measure", lambda stop: measure(models, again, stop), self._take_measured, self._go_without
        )

    @property
    def is_running(self) -> bool:
        """Whether any part of the survey is still running."""
        return any(self._work.is_running(kind) for kind in KINDS)

    def follow_settings(self) -> None:
        """Predict anew if the processor may help otherwise than in the last prediction."""
        helps = self._preferences.now.loading.processor_helps
        measures = self._work.is_running("measure")  # and then predicts
        if self._helps != helps and self.examined is not None and not measures:
            self._predict(self.examined)

    def stop(self) -> None:
        """Discard the results of all running parts."""
        if self._work.is_running("predict"):
            self._helps = None
        for kind in KINDS:
            self._work.forget(kind)

    def _see(self, examined: Examined) -> None:
        self.examined = examined
        self.seen.emit(examined)

    def _take_measured(self, examined: Examined) -> None:
        self._work.forget("look")
        self.examined = examined
        self.measured.emit(examined)
        self._predict(examined)

    def _go_without(self, error: SpecExecError) -> None:
        self.unmeasured.emit(error)
        if self.examined is None:
            self.unpredicted.emit(error)
        else:
            self._predict(self.examined)

    def _predict(self, examined: Examined) -> None:
        self._helps = helps = self._preferences.now.loading.processor_helps
        self._work.run(
            "predict",
            lambda stop: offers_for(examined.usable(), catalog.catalog(), helps, planner.history()),
            self.predicted.emit,
            self.unpredicted.emit,
        )


def examine(models: Path) -> Examined:
    """Examine the machine without measuring it. The result includes earlier measurements.

    Raises the errors of `machine.probe`.
    """
    probed = machine.probe(models)
    torch = installed_torch()
    return Examined(probed, torch, tuple(machine.diagnose(probed, torch)))


def installed_torch() -> TorchBuild | None:
    """Return the build of torch that the engine uses (the runtime's, if the program uses one), or None."""
    if not interpreter.uses_runtimes():
        return machine.installed_torch()
    runtime = interpreter.current()
    return machine.installed_torch(runtime.packages) if runtime else None


def measure(models: Path, again: bool, stop: Stop) -> Examined:
    """Measure the machine in a separate process, which takes two to five seconds.

    Args:
        again: whether to repeat a measurement that is less than a week old.

    Raises NotMeasured if the process gives no valid result; Stopped after a request to stop.
    """
    command = interpreter.command("engine.cli", "doctor", "--json", "--models", str(models))
    doctor = subprocess.Popen(
        [*command, "--measure"] if again else command,
        cwd=interpreter.ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    with doctor:
        while True:
            try:
                output, _ = doctor.communicate(timeout=_LOOK_S)
                break
            except subprocess.TimeoutExpired:
                if stop.asked:
                    doctor.kill()
                    raise Stopped from None
    try:
        return msgspec.json.decode(output, type=Examined)
    except msgspec.MsgspecError:
        raise NotMeasured(
            "This machine's speed could not be measured.",
            "Continue without it, or measure again. specexec doctor shows details.",
        ) from None
