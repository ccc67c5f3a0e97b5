"""Downloads as the chat sees them: one small button."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget

from app.icons import icon
from app.wizard import phrases
from app.wizard.downloads import Downloads, Entry


class DownloadIndicator(QToolButton):
    """Hidden while there is nothing to say. Clicked, it asks for the wizard's page of downloads."""

    def __init__(self, downloads: Downloads, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._downloads = downloads
        self.setIcon(icon("download"))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        downloads.changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        entries = [entry for entry in self._downloads.entries if not entry.is_seen]
        self.setVisible(bool(entries))
        if entries:
            self.setText(self._said(entries))
            told = "\n".join(self._told(entry) for entry in entries)
            self.setToolTip(told)
            self.setAccessibleName(self.tr("Downloads"))
            self.setAccessibleDescription(told)

    def _said(self, entries: list[Entry]) -> str:
        running = [entry.shown for entry in entries if entry.is_active]
        if running:
            done, total = sum(shown.done for shown in running), sum(shown.total for shown in running)
            share = self.tr("{} %").format(100 * done // max(total, 1))
            left = [shown.seconds_left for shown in running]
            known = max((each for each in left if each), default=None)
            return f"{share} · {phrases.duration(known)}" if known and None not in left else share
        states = {entry.shown.state for entry in entries}
        if states & {"failed"} or any(entry.download.error for entry in entries):
            return self.tr("Download stopped")
        if states & {"paused", "waiting"}:
            return self.tr("Download paused")
        return self.tr("Model ready")

    def _told(self, entry: Entry) -> str:
        state = {
            "running": self.tr("downloading"),
            "paused": self.tr("paused"),
            "waiting": self.tr("not finished"),
            "failed": self.tr("stopped"),
            "done": self.tr("ready"),
            "cancelled": self.tr("cancelled"),
        }[entry.shown.state]
        trouble = f". {entry.shown.trouble}" if entry.shown.trouble else ""
        return f"{entry.shown.title}: {state}{trouble}"
