"""Setting the engine up, as the window sees it: one set-up at a time, whoever shows it."""

from contextlib import suppress

from PySide6.QtCore import QObject, QTimer, Signal

from app.preferences import PreferencesError, PreferencesFile
from app.wizard.engine_words import of_setup
from app.wizard.stages import Shown
from engine import runtime
from engine.runtime import Archive, Backend, Setup, Sources

POLL_MS = 250


class EngineSetup(QObject):
    """The program has one: it goes on while windows are closed and made anew. Lives on the GUI thread; the
    work is done by a thread of `engine.runtime`. If the program ends, what came serves the next set-up.

    Attributes:
        archive: the runtime file that the set-up uses, or None.
        shown: how far it is; None: none was begun, or it was cancelled.

    Signals:
        began: another runtime is on its way
        changed: it got further; at most 4 times a second
        ended: whether another runtime is in use from now on
    """

    began = Signal()
    changed = Signal()
    ended = Signal(bool)

    def __init__(self, preferences: PreferencesFile, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.archive: Archive | None = None
        self.shown: Shown | None = None
        self._preferences = preferences
        self._setup: Setup | None = None
        self._timer = QTimer(self, interval=POLL_MS)
        self._timer.timeout.connect(self._poll)

    @property
    def is_needed(self) -> bool:
        """Whether there is no runtime that the engine could run in."""
        return runtime.is_packaged() and runtime.current() is None

    @property
    def is_running(self) -> bool:
        return self.shown is not None and self.shown.state == "running"

    @property
    def is_done(self) -> bool:
        return self.shown is not None and self.shown.state == "done"

    @property
    def sources(self) -> Sources:
        """Where packages came from last."""
        now = self._preferences.now
        return Sources(now.package_mirror, now.torch_mirror, now.package_proxy)

    def begin(self, backend: Backend, sources: Sources, archive: Archive | None = None) -> None:
        """Again, too: one that failed is gone, and what came of it is used."""
        assert not self.is_running
        with suppress(PreferencesError):  # they count now all the same
            self._preferences.change(
                package_mirror=sources.mirror,
                torch_mirror=sources.torch_mirror,
                package_proxy=sources.proxy,
            )
        self.archive = archive
        self._setup = Setup(backend, sources, archive)
        self._setup.start()
        self._look(self._setup)
        self._timer.start()
        self.changed.emit()
        self.began.emit()

    def cancel(self) -> None:
        """Ends it and deletes what came; one that failed is only no longer shown."""
        if self._setup is not None and self.is_running:
            self._setup.cancel()
        else:
            self.forget()

    def forget(self) -> None:
        """One that is over is no longer shown."""
        self.shown = None
        self.changed.emit()

    def close(self) -> None:
        """The program ends."""
        self._timer.stop()

    def _poll(self) -> None:
        assert self._setup is not None
        self._look(self._setup)
        is_over = not self.is_running
        if is_over:
            self._timer.stop()
        self.changed.emit()
        if is_over:
            self.ended.emit(self.is_done)

    def _look(self, setup: Setup) -> None:
        shown = of_setup(setup, self.archive is not None)
        self.shown = None if shown.state == "cancelled" else shown
