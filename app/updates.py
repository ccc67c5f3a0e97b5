"""Whether a newer release exists: asked at most once a day, and only where the person turned it on. Nothing
is downloaded."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import platformdirs
from PySide6.QtCore import QObject, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QToolButton, QWidget

from app.work import Work
from engine.hub import Stop
from engine.runtime import Release, newer_release

GITHUB = "https://github.com/"
FEED = "https://api.github.com/repos/{}/releases/latest"
LOOK_MS = 60 * 60 * 1000
DAY_S = 24 * 60 * 60


class Updates(QObject):
    """Lives on the GUI thread.

    Attributes:
        release: the newer one, once it is known.

    Signals:
        found: `release` is known
    """

    found = Signal()

    def __init__(
        self,
        wanted: Callable[[], bool],
        repository: str,
        feed: str = "",
        asked: Path | None = None,
        parent: QObject | None = None,
    ) -> None:
        """wanted: the person's choice. repository: its address. feed: in place of GitHub's. asked: a file
        whose time is that of the last question."""
        super().__init__(parent)
        self.release: Release | None = None
        self._wanted, self._pages = wanted, f"{repository}/"
        self._feed = feed or FEED.format(repository.removeprefix(GITHUB))
        state = platformdirs.user_state_path("specexec-desktop", appauthor=False)
        self._asked = asked or state / "asked-for-releases"
        self._work = Work(self)
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)

    def start(self) -> None:
        """Look now, and while the program runs."""
        self._timer.start()
        self._look()

    def close(self) -> None:
        self._timer.stop()
        self._work.close()

    def _look(self) -> None:
        if self._wanted() and not self._work.is_running("release"):
            self._work.run("release", self._ask, self._take, lambda error: None)  # another day, perhaps

    def _ask(self, stop: Stop) -> Release | None:
        """On another thread. Raises Unreachable."""
        return newer_release(self._feed) if self._is_due() else None

    def _is_due(self) -> bool:
        """It counts as asked then. Where that cannot be kept, nothing is asked."""
        try:
            self._asked.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                if 0 <= time.time() - self._asked.stat().st_mtime < DAY_S:
                    return False
            self._asked.touch()
        except OSError:
            return False
        return True

    def _take(self, release: Release | None) -> None:
        if release is not None and release.page.startswith(self._pages):
            self.release = release
            self.found.emit()


class UpdateNotice(QToolButton):
    """Hidden until a newer release is known; then it leads to its page in the browser."""

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
            self.setToolTip(self.tr("There is a newer version of this program. Read about it"))
            self.setAccessibleName(self.tr("Newer version: {}").format(release.version))

    def _open(self) -> None:
        assert self._updates.release is not None
        QDesktopServices.openUrl(QUrl(self._updates.release.page))
