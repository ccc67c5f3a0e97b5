"""The downloads, each with how far it is."""

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.wizard.downloads import Downloads, Entry
from app.wizard.page import Page
from app.wizard.parts import label
from app.wizard.progress_view import ProgressView


class DownloadPage(Page):
    """
    Attributes:
        views: what is shown, by entry.
    """

    def __init__(self, downloads: Downloads, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Download"), self.tr("Downloads"), parent)
        self.views: dict[Entry, ProgressView] = {}
        self._downloads = downloads
        self._note = label(role="muted", parent=self)
        self._keyring = label(role="muted", parent=self)
        self._keyring.hide()
        self._list = QVBoxLayout()
        self._list.setSpacing(10)
        self.column.addWidget(self._note)
        self.column.addWidget(self._keyring)
        self.column.addLayout(self._list)
        self.column.addStretch(1)
        downloads.changed.connect(self.refresh)
        self.refresh()

    @property
    def can_go_on(self) -> bool:
        return any(entry.shown.state == "done" for entry in self._downloads.entries)

    @property
    def first(self) -> QWidget | None:
        shown = [view for entry, view in self.views.items() if entry.is_active]
        return shown[-1].pause if shown else None

    def say(self, note: str) -> None:
        """What else a person has to know."""
        self._keyring.setText(note)
        self._keyring.setVisible(bool(note))

    def refresh(self) -> None:
        entries = self._downloads.entries
        for gone in [entry for entry in self.views if entry not in entries]:
            view = self.views.pop(gone)
            self._list.removeWidget(view)
            view.hide()
            view.deleteLater()
        for entry in entries:
            if entry not in self.views:
                self.views[entry] = self._view(entry)
            self.views[entry].show_progress(entry.shown)
        if entries:
            text = self.tr(
                "You may close this window and chat: downloads go on, and the button at the head of the chat "
                "brings you back. If the program ends, they go on where they were when it starts again."
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
