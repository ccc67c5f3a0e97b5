"""The set-up of the engine's packages. All windows share one set-up."""

from contextlib import suppress

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

from app.preferences import PreferencesError, PreferencesFile
from app.runtime_setup import wording
from app.widgets.fault_words import in_words
from app.widgets.progress_view import ProgressState, Stage, StageState
from engine import runtime
from engine.runtime import Archive, Backend, Setup, Sources

POLL_MS = 250


class EngineSetup(QObject):
    """The program's one set-up, which continues while windows are closed and reopened.

    Lives on the GUI thread; a thread of `engine.runtime` does the work. If the program ends, the next set-up
    reuses the packages already received.

    Attributes:
        archive: the runtime file that the set-up uses, or None.
        progress: the progress of the set-up; None before the first one and after it was cancelled or hidden.

    Signals:
        began: a set-up was started
        changed: the progress has changed; at most 4 times a second
        testing: the new runtime is installed, and is now tested with a model
        ended: the set-up has ended; True if another runtime is in use from now on
    """

    began = Signal()
    changed = Signal()
    testing = Signal()
    ended = Signal(bool)

    def __init__(self, preferences: PreferencesFile, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.archive: Archive | None = None
        self.progress: ProgressState | None = None
        self._preferences = preferences
        self._setup: Setup | None = None
        self._is_testing = False
        self._timer = QTimer(self, interval=POLL_MS)
        self._timer.timeout.connect(self._poll)

    @property
    def is_needed(self) -> bool:
        """Whether the program lacks a runtime, so that it uses only the processor."""
        return runtime.uses_runtimes() and runtime.current() is None

    @property
    def is_running(self) -> bool:
        return self.progress is not None and self.progress.state == "running"

    @property
    def is_done(self) -> bool:
        return self.progress is not None and self.progress.state == "done"

    @property
    def sources(self) -> Sources:
        """The package sources used last."""
        now = self._preferences.now
        return Sources(now.package_mirror, now.torch_mirror, now.package_proxy)

    def begin(self, backend: Backend, sources: Sources, archive: Archive | None = None) -> None:
        """Start a set-up. It reuses the packages that a failed set-up has already received."""
        assert not self.is_running
        with suppress(PreferencesError):  # the sources apply to this set-up even if they cannot be saved
            self._preferences.change(
                package_mirror=sources.mirror,
                torch_mirror=sources.torch_mirror,
                package_proxy=sources.proxy,
            )
        self.archive, self._is_testing = archive, False
        self._setup = Setup(backend, sources, archive)
        self._setup.start()
        self._look(self._setup)
        self._timer.start()
        self.changed.emit()
        self.began.emit()

    def cancel(self) -> None:
        """Stop a running set-up and delete its files; a failed one is only hidden."""
        if self._setup is not None and self.is_running:
            self._setup.cancel()
        else:
            self.forget()

    def forget(self) -> None:
        """Hide a set-up that has ended."""
        self.progress = None
        self.changed.emit()

    def close(self) -> None:
        """Stop asking for the progress. Called when the program ends."""
        self._timer.stop()

    def _poll(self) -> None:
        assert self._setup is not None
        self._look(self._setup)
        if self._setup.progress().stage == "testing" and not self._is_testing:
            self._is_testing = True
            self.testing.emit()
        is_over = not self.is_running
        if is_over:
            self._timer.stop()
        self.changed.emit()
        if is_over:
            self.ended.emit(self.is_done)

    def _look(self, setup: Setup) -> None:
        progress = setup_progress(setup, self.archive is not None)
        self.progress = None if progress.state == "cancelled" else progress


def _tr(text: str) -> str:
    return QCoreApplication.translate("engine_words", text)


def setup_progress(setup: Setup, from_file: bool) -> ProgressState:
    """Return the progress of a set-up in the form that `ProgressView` shows.

    Args:
        from_file: whether the packages come from a runtime file.
    """
    progress = setup.progress()
    is_installed = progress.stage in ("testing", "switching")
    total = setup.backend.nbytes if is_installed else progress.nbytes
    error, hint = in_words(setup.error) if setup.error else (progress.error, "")
    return ProgressState(
        title=_tr("Engine: {}").format(wording.name(setup.backend.name)),
        state=progress.state,
        done=total if is_installed else progress.done_nbytes,
        total=total,
        bytes_per_s=progress.bytes_per_s,
        seconds_left=progress.seconds_left,
        error=error,
        hint=hint,
        stages=_stages(progress, from_file),
        can_pause=False,
        deletes=progress.state == "running",
    )


def _stages(progress: runtime.SetupProgress, from_file: bool) -> tuple[Stage, ...]:
    named = {
        "checking": _tr("Check the disk"),
        "unpacking": _tr("Unpack the file"),
        "packages": _tr("Install the packages"),
        "torch": _tr("Install PyTorch"),
        "testing": _tr("Test: one matrix product, one token"),
        "switching": _tr("Switch to the new engine"),
    }
    if not from_file:
        del named["unpacking"]
    current = list(named).index(progress.stage)
    now: dict[str, tuple[StageState, str]] = {"failed": ("error", _tr("stopped")), "done": ("done", "")}
    state, note = now.get(progress.state, ("running", progress.doing))
    before, after = list(named.values())[:current], list(named.values())[current + 1 :]
    return (
        *(Stage(text, "done") for text in before),
        Stage(named[progress.stage], state, note=note),
        *(Stage(text, "waiting") for text in after),
    )
