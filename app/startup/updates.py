"""The check for a newer release: at most once a day, and only if the user turned it on. Nothing is
downloaded."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import platformdirs
from PySide6.QtCore import QObject, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QToolButton, QWidget

from app.background import Work
from engine.hub import Stop
from engine.runtime import Release, newer_release

GITHUB = "https://github.com/"
FEED = "https://api.github.com/repos/{}/releases/latest"
LOOK_MS = 60 * 60 * 1000  # how often to look whether a check is due
DAY_S = 24 * 60 * 60  # time between two checks


class Updates(QObject):
    """Checks for a newer release. The object lives on the GUI thread; checks run on another thread.

    Attributes:
        release: the newer release, or None until one is found.
        feed: address of the description of the latest release.

    Signals:
        found: a newer release was found; `release` is set
    """

    found = Signal()

    def __init__(
        self,
        wanted: Callable[[], bool],
        repository: str,
        feed: str = "",
        stamp: Path | None = None,
        parent: QObject | None = None,
    ) -> None:
        """
        wanted: returns whether the user wants the check.
        repository: address of the program's repository on GitHub.
        feed: if not empty, the address to use instead of GitHub's.
        stamp: file whose modification time is the time of the last check.
        """
        super().__init__(parent)
        self.release: Release | None = None
        self._wanted, self._pages = wanted, f"{repository}/"
        self.feed = feed or FEED.format(repository.removeprefix(GITHUB))
        state = platformdirs.user_state_path("specexec-desktop", appauthor=False)
        self._stamp = stamp or state / "asked-for-releases"
        self._work = Work(self)
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)

    def start(self) -> None:
        """Check at once, and then regularly while the program runs."""
        self._timer.start()
        self._look()

    def close(self) -> None:
        self._timer.stop()
        self._work.close()

    @property
    def is_looking(self) -> bool:
        """Whether a check is in progress."""
        return self._work.is_running("release")

    def _look(self) -> None:
        if self._wanted() and not self.is_looking:
            # An error is ignored; the next check is made a day later.
            self._work.run("release", self._ask, self._take, lambda error: None)

    def _ask(self, stop: Stop) -> Release | None:
        """If a check is due, read the feed and return the newer release, if any. Runs on another thread.

        Raises Unreachable if the feed cannot be read.
        """
        return newer_release(self.feed) if self._is_due() else None

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

    def _take(self, release: Release | None) -> None:
        if release is not None and release.page.startswith(self._pages):
            self.release = release
            self.found.emit()


class UpdateNotice(QToolButton):
    """A button that opens the page of a newer release in the browser; hidden until one is found."""

    def __init__(self, updates: Updates, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._updates = updates
        self.clicked.connect(self._open)
        updates.found.connect(self._show)
        self._show()

    def _show(self) -> None:
        release = self._updates.release
        self.setVisible(release is not None)
        if release is not None:
            self.setText(self.tr("Version {}").format(release.version))
            self.setToolTip(self.tr("A newer version of this program is available. Click to read about it."))
            self.setAccessibleName(self.tr("Newer version: {}").format(release.version))

    def _open(self) -> None:
        assert self._updates.release is not None
        QDesktopServices.openUrl(QUrl(self._updates.release.page))
