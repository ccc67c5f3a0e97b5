"""The page that lists the downloads and their progress."""

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.downloads.downloads import Downloads, Entry
from app.widgets.form_parts import label
from app.widgets.progress_view import ProgressView
from app.wizard.pages.page import Page


class DownloadPage(Page):
    """The page that shows every download, with buttons to pause, resume and cancel it.

    Attributes:
        views: the progress view of each download, by entry.
    """

    def __init__(self, downloads: Downloads, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Download"), self.tr("Downloads"), parent)
        self.views: dict[Entry, ProgressView] = {}
        self._downloads = downloads
        self._note = label(role="muted", parent=self)
        self._notice = label(role="muted", parent=self)
        self._notice.hide()
        self._list = QVBoxLayout()
        self._list.setSpacing(10)
        self.column.addWidget(self._note)
        self.column.addWidget(self._notice)
        self.column.addLayout(self._list)
        self.column.addStretch(1)
        downloads.changed.connect(self.refresh)
        self.refresh()

    @property
    def can_continue(self) -> bool:
        return any(entry.progress.state == "done" for entry in self._downloads.entries)

    @property
    def first(self) -> QWidget | None:
        shown = [view for entry, view in self.views.items() if entry.is_active]
        return shown[-1].pause if shown else None

    def show_notice(self, notice: str) -> None:
        """Show a notice on how the access token was stored, and on what is left out; "" hides the notice."""
        self._notice.setText(notice)
        self._notice.setVisible(bool(notice))

    def refresh(self) -> None:
        entries = self._downloads.entries
        for removed in [entry for entry in self.views if entry not in entries]:
            view = self.views.pop(removed)
            self._list.removeWidget(view)
            view.hide()
            view.deleteLater()
        for entry in entries:
            if entry not in self.views:
                self.views[entry] = self._view(entry)
            self.views[entry].show_progress(entry.progress)
        if entries:
            text = self.tr(
                "You can close this window and chat while downloads continue; the button at the top of the "
                "chat brings you back. If you quit the program, you can resume them when it starts again."
            )
        else:
            text = self.tr("Nothing is being downloaded. Go back to choose a model.")
        if text != self._note.text():
            self._note.setText(text)
        self.changed.emit()

    def _view(self, entry: Entry) -> ProgressView:
        view = ProgressView(self)
        view.paused.connect(lambda: self._downloads.pause(entry))
        view.resumed.connect(lambda: self._downloads.resume(entry))
        view.cancelled.connect(lambda: self._downloads.cancel(entry))
        self._list.addWidget(view)
        return view
