"""The button in the chat's header that shows the state of the downloads."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget

from app import formatting
from app.downloads.downloads import Downloads, Entry
from app.widgets.icons import icon
from app.widgets.plain_text import plain


class DownloadIndicator(QToolButton):
    """A button with the combined state of the downloads, except those that the user has seen complete.

    If there are no such downloads, it offers to get a model if there is only the shipped one; otherwise it is
    hidden. A click leads to the wizard.
    """

    def __init__(self, downloads: Downloads, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._downloads = downloads
        self.setIcon(icon("download"))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        downloads.changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        entries = [entry for entry in self._downloads.entries if not entry.is_seen]
        self.setVisible(bool(entries) or self._downloads.lacks_model)
        if not entries:
            self.setText(self.tr("Get a model"))
            self.setToolTip(self.tr("Choose and download a model that answers better than the included one"))
            self.setAccessibleName(self.text())
            self.setAccessibleDescription(self.toolTip())
        else:
            self.setText(self._summary(entries))
            details = "\n".join(self._details(entry) for entry in entries)
            self.setToolTip(plain(details))
            self.setAccessibleName(self.tr("Downloads"))
            self.setAccessibleDescription(details)

    def _summary(self, entries: list[Entry]) -> str:
        running = [entry.progress for entry in entries if entry.is_active]
        if running:
            done = sum(progress.done for progress in running)
            total = sum(progress.total for progress in running)
            share = self.tr("{} %").format(100 * done // max(total, 1))
            left = [progress.seconds_left for progress in running]
            known = max((seconds for seconds in left if seconds), default=None)
            return f"{share} · {formatting.duration(known)}" if known and None not in left else share
        states = {entry.progress.state for entry in entries}
        if states & {"failed"} or any(entry.download.error for entry in entries):
            return self.tr("Download stopped")
        if states & {"paused", "waiting"}:
            return self.tr("Download paused")
        return self.tr("Model ready")

    def _details(self, entry: Entry) -> str:
        state = {
            "running": self.tr("downloading"),
            "paused": self.tr("paused"),
            "waiting": self.tr("not finished"),
            "failed": self.tr("stopped"),
            "done": self.tr("ready"),
            "cancelled": self.tr("cancelled"),
        }[entry.progress.state]
        error = f". {entry.progress.error}" if entry.progress.error else ""
        return f"{entry.progress.title}: {state}{error}"
