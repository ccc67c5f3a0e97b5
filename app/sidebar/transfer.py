"""Chats out of the window and into it: files, paper."""

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtPrintSupport import QPrintDialog
from PySide6.QtWidgets import QWidget

from app.sidebar import files, headings, printing
from app.sidebar.background import Background
from app.sidebar.importing import Importing
from app.store import ChatLine, Store
from app.store.exchange import export_file


class Transfer(QObject):
    """Asks where to, and does it on another thread or in another process. Lives on the GUI thread.

    Attributes:
        importing: the import under way, or None.

    Signals:
        written: Path, a file that was written
        import_begun: Importing
        import_ended: Outcome
        duplicated: chat, the copy
        trouble: SpecExecError
    """

    written = Signal(object)
    import_begun = Signal(object)
    import_ended = Signal(object)
    duplicated = Signal(int)
    trouble = Signal(object)

    def __init__(self, store: Store, path: Path, parent: QWidget) -> None:
        """path: the store's file. parent: of the dialogs."""
        super().__init__(parent)
        self.importing: Importing | None = None
        self._store, self._path, self._widget = store, path, parent
        self._background = Background(self)
        self._background.trouble.connect(self.trouble)

    def duplicate(self, chat: ChatLine) -> None:
        self._background.run(lambda: self._store.chats.duplicate(chat.id), self.duplicated.emit)

    def export(self, title: str, chats: Callable[[], Iterable[ChatLine]]) -> None:
        """chats: is called on the other thread. They are written as they are when their turn comes."""
        path = files.ask_where_to_export(self._widget, title)
        if path is None:
            return

        def write() -> Path:
            export_file(path, [self._store.chats.read(chat.id) for chat in chats()])
            return path

        self._background.run(write, self.written.emit)

    def save_pdf(self, chat: ChatLine) -> None:
        title = headings.title(chat.title)
        path = files.ask_where_to_print(self._widget, title)
        if path is None:
            return

        def write() -> Path:
            printing.save_pdf(self._store.chats.read(chat.id), path, title)
            return path

        self._background.run(write, self.written.emit)

    def print_out(self, chat: ChatLine) -> None:
        printer = printing.printer(headings.title(chat.title))
        dialog = QPrintDialog(printer, self._widget)
        if dialog.exec():
            read = self._store.chats.read
            self._background.run(lambda: printing.print_chat(read(chat.id), printer), lambda _: None)
        dialog.deleteLater()

    def import_chats(self) -> None:
        """One file at a time."""
        path = None if self.importing else files.ask_what_to_import(self._widget)
        if path is not None:
            self.importing = Importing(path, self._path, self)
            self.importing.ended.connect(self._end_import)
            self.import_begun.emit(self.importing)

    def stop_import(self) -> None:
        if self.importing is not None:
            self.importing.stop()

    def _end_import(self, outcome: object) -> None:
        self.importing = None
        self.import_ended.emit(outcome)
