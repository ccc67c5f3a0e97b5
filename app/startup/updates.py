"""Updates of the program: looked for at most once a day, and only if the user turned it on; downloaded only
when asked, and applied by the next start."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path

import platformdirs
from PySide6.QtCore import QObject, QTimer, Signal

from app.background import Work
from engine import updates
from engine.errors import SpecExecError
from engine.hub.progress import TransferMeter
from engine.updates import Installation, Package, ReleaseIndex

LOOK_MS = 60 * 60 * 1000  # how often to look whether a check is due
DAY_S = 24 * 60 * 60  # time between two checks
SHOW_MS = 500  # time between two looks at the progress of the download

logger = logging.getLogger(__name__)


class UpdateState(Enum):
    """How far an update is."""

    NONE = auto()  # no newer version is known
    FOUND = auto()
    DOWNLOADING = auto()
    READY = auto()  # the next start uses the new version
    FAILED = auto()  # `error` says why
    ROLLED_BACK = auto()  # the new version did not open its window


class Updates(QObject):
    """Looks for a newer version, downloads it, and keeps it or gives it up. Lives on the GUI thread.

    Attributes:
        version: the version that `state` is about, or "".
        release: the newer release, or None until one is found.
        error: why the download failed.
        package, here: this package, and its installation; None if it cannot look, or cannot be updated.

    Signals:
        changed: the state or the progress has changed
    """

    changed = Signal()

    def __init__(
        self,
        wanted: Callable[[], bool],
        package: Package | None,
        here: Installation | None,
        stamp: Path | None = None,
        parent: QObject | None = None,
    ) -> None:
        """
        wanted: returns whether the user wants updates.
        stamp: file whose modification time is the time of the last check.
        """
        super().__init__(parent)
        self.state, self.version = UpdateState.NONE, ""
        self.release: ReleaseIndex | None = None
        self.error: SpecExecError | None = None
        self.package, self.here = package if package and package.can_look else None, here
        self._wanted = wanted
        self._meter = TransferMeter("", 0)
        state = platformdirs.user_state_path("specexec-desktop", appauthor=False)
        self._stamp = stamp or state / "asked-for-releases"
        self._work = Work(self)
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)
        self._showing = QTimer(self, interval=SHOW_MS)
        self._showing.timeout.connect(self.changed)

    def start(self) -> None:
        """Accept this version if it is being tried, check at once, and then regularly."""
        if self.here is not None:
            # From the event loop, so that the first window has opened.
            QTimer.singleShot(0, self, self._accept)
            if self.here.refused:
                self._enter(UpdateState.ROLLED_BACK, self.here.refused)
        self._timer.start()
        self._look()

    def close(self) -> None:
        self._timer.stop()
        self._showing.stop()
        self._work.close()

    @property
    def is_looking(self) -> bool:
        """Whether a check is in progress."""
        return self._work.is_running("release")

    @property
    def fraction(self) -> float:
        """How much of the new version has been downloaded, from 0 to 1."""
        progress = self._meter.read()
        return progress.done_nbytes / progress.nbytes if progress.nbytes else 0.0

    @property
    def nbytes(self) -> int | None:
        """The bytes to download, or None if this installation cannot be updated by the program itself."""
        file = self.release.file(self.here.kind) if self.release and self.here else None
        return file.nbytes if file else None

    # -- what the user asks for ------------------------------------------------------------------------------

    def download(self) -> None:
        """Download the newer version, in the background; the next start applies it."""
        here, release = self.here, self.release
        assert here is not None
        assert release is not None
        assert self.nbytes is not None
        self._meter = meter = TransferMeter(release.version, self.nbytes)
        self._enter(UpdateState.DOWNLOADING, release.version)
        self._showing.start()
        self._work.run(
            "update",
            lambda stop: updates.prepare(here, release, meter, stop),
            lambda _: self._end(UpdateState.READY),
            self._fail,
        )

    def stop(self) -> None:
        """Stop the download; what was received is kept for the next one."""
        self._work.forget("update")
        self._end(UpdateState.FOUND)

    def dismiss(self) -> None:
        """Forget that a version was rolled back."""
        assert self.here is not None
        self.here.forget_refused()
        self._enter(UpdateState.NONE, "")

    # -- the steps -------------------------------------------------------------------------------------------

    def _enter(self, state: UpdateState, version: str) -> None:
        self.state, self.version = state, version
        self.changed.emit()

    def _end(self, state: UpdateState) -> None:
        self._showing.stop()
        self._enter(state, self.version)

    def _fail(self, error: SpecExecError) -> None:
        self.error = error
        self._end(UpdateState.FAILED)

    def _accept(self) -> None:
        assert self.here is not None
        try:
            if not updates.confirm(self.here):
                here = self.here  # a version before this one is removed by a start after it
                self._work.run("tidy", lambda stop: updates.tidy(here), lambda _: None, lambda error: None)
        except OSError as error:
            logger.warning("the new version could not be accepted: %s", error)

    def _look(self) -> None:
        if not self._wanted():
            self._withdraw()
        elif self.package is not None and self.state in (UpdateState.NONE, UpdateState.FOUND):
            package = self.package
            if not self.is_looking:
                # An error is ignored; the next check is made a day later.
                self._work.run("release", lambda stop: self._ask(package), self._take, lambda error: None)

    def _withdraw(self) -> None:
        """Give up what was downloaded, because the user turned updates off."""
        if self.here is not None and self.here.trial not in (None, self.here.running):
            with suppress(OSError):
                self.here.discard()
        if self.state is not UpdateState.NONE:
            self._work.forget("update")
            self._end(UpdateState.NONE)

    def _ask(self, package: Package) -> ReleaseIndex | None:
        """If a check is due, return the newer release, if any. Runs on another thread.

        Raises `ReleasesUnreachable`; `BadRelease`.
        """
        return updates.newest_release(package) if self._is_due() else None

    def _is_due(self) -> bool:
        """Return whether a check is due; if so, record that it is made now. Return False if the time cannot
        be recorded."""
        try:
            self._stamp.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                if 0 <= time.time() - self._stamp.stat().st_mtime < DAY_S:
                    return False
            self._stamp.touch()
        except OSError:
            return False
        return True

    def _take(self, release: ReleaseIndex | None) -> None:
        if release is not None and self.state in (UpdateState.NONE, UpdateState.FOUND):
            self.release = release
            self._enter(UpdateState.FOUND, release.version)


def start_new_version(arguments: list[str], *, wanted: Callable[[], bool]) -> int | None:
    """Start the version that was downloaded, if there is one, and wait until it ends.

    Returns its exit status; None if the running version should open its window. wanted: returns whether the
    user wants updates. Called before there is any Qt object.
    """
    here = updates.this_installation()
    if here is None or here.trial is None or not wanted():
        return None
    try:
        return updates.try_new_version(here, arguments)
    except OSError as error:
        logger.warning("the new version could not be started: %s", error)
        return None
