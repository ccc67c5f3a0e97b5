"""Duplicating, exporting, importing and printing of chats."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QObject, QStandardPaths, Signal
from PySide6.QtPrintSupport import QPrintDialog
from PySide6.QtWidgets import QFileDialog, QWidget

from app.background import Work
from app.sidebar import outline, printer
from app.sidebar.chat_import import Importing
from app.store import ChatLine, Store, backups
from app.store.exchange import export_file
from app.widgets.save_dialog import ask_where_to_save, file_name

T = TypeVar("T")

CHATS = ".specexec-chat"  # the ending of exported chats


def _tr(text: str) -> str:
    return QCoreApplication.translate("transfer", text)


class ChatTransfer(QObject):
    """Duplicates, exports, imports and prints chats, on another thread or in another process.

    Lives on the GUI thread.

    Attributes:
        importing: the import in progress, or None.

    Signals:
        written: Path of a file that was written
        import_begun: Importing, the import in progress
        import_ended: Outcome of the import
        duplicated: id of the copy
        failed: SpecExecError
    """

    written = Signal(object)
    import_begun = Signal(object)
    import_ended = Signal(object)
    duplicated = Signal(int)
    failed = Signal(object)

    def __init__(self, store: Store, path: Path, parent: QWidget) -> None:
        """path: the store's file. parent: parent of the dialogs."""
        super().__init__(parent)
        self.importing: Importing | None = None
        self._later: list[Path] = []  # files to import after this one
        self._store, self._path, self._widget = store, path, parent
        self._work = Work(self)

    def duplicate(self, chat: ChatLine) -> None:
        self._add(lambda: self._store.chats.duplicate(chat.id), self.duplicated.emit)

    def export(self, title: str, chats: Callable[[], Iterable[ChatLine]]) -> None:
        """Ask for a file and export chats to it.

        title: suggested name of the file. chats: returns the chats; called on the other thread. Each chat is
            read only when its turn comes.
        """
        path = ask_where_to_export(self._widget, title)
        if path is None:
            return

        def write() -> Path:
            export_file(path, [self._store.chats.read(chat.id) for chat in chats()])
            return path

        self._add(write, self.written.emit)

    def save_pdf(self, chat: ChatLine) -> None:
        title = outline.chat_title(chat.title)
        path = ask_where_to_print(self._widget, title)
        if path is None:
            return

        def write() -> Path:
            printer.save_pdf(self._store.chats.read(chat.id), path, title)
            return path

        self._add(write, self.written.emit)

    def print_out(self, chat: ChatLine) -> None:
        device = printer.printer(outline.chat_title(chat.title))
        dialog = QPrintDialog(device, self._widget)
        if dialog.exec():
            read = self._store.chats.read
            self._add(lambda: printer.print_chat(read(chat.id), device), lambda _: None)
        dialog.deleteLater()

    def import_chats(self) -> None:
        """Ask for a file and import it, unless another import is in progress."""
        self._import(ask_what_to_import)

    def import_file(self, path: Path) -> None:
        """Import a file, after those that are being imported."""
        if self.importing:
            self._later.append(path)
        else:
            self._import(lambda _: path)

    @property
    def has_more(self) -> bool:
        """Whether other files are imported after this one."""
        return bool(self._later)

    def import_backup(self) -> None:
        """Ask for one of the daily backups and import the chats in it that are missing here."""
        self._import(lambda parent: ask_for_a_backup(parent, backups.folder(self._path)))

    def _import(self, ask: Callable[[QWidget], Path | None]) -> None:
        path = None if self.importing else ask(self._widget)
        if path is not None:
            self.importing = Importing(path, self._path, self)
            self.importing.ended.connect(self._end_import)
            self.import_begun.emit(self.importing)

    def stop_import(self) -> None:
        self._later.clear()
        if self.importing is not None:
            self.importing.stop()

    def _add(self, function: Callable[[], T], then: Callable[[T], object]) -> None:
        self._work.add(function, then, self.failed.emit)

    def _end_import(self, outcome: object) -> None:
        self.importing = None
        self.import_ended.emit(outcome)
        if self._later:
            self.import_file(self._later.pop(0))


# -- file dialogs --------------------------------------------------------------------------------------------


def ask_where_to_export(parent: QWidget, title: str) -> Path | None:
    """Return the chosen path, whose suffix gives the format; None if the dialog was cancelled."""
    kinds = {
        _tr("Markdown (*.md)"): "md",
        _tr("Plain text (*.txt)"): "txt",
        _tr("SpecExec Desktop chat, with every version (*.specexec-chat)"): "specexec-chat",
        _tr("JSON, with every version (*.json)"): "json",
    }
    return ask_where_to_save(parent, _tr("Export"), file_name(title, "chat"), kinds, _folder())


def ask_where_to_print(parent: QWidget, title: str) -> Path | None:
    """Return the chosen path of a PDF; None if the dialog was cancelled."""
    kinds = {_tr("PDF (*.pdf)"): "pdf"}
    return ask_where_to_save(parent, _tr("Save as PDF"), file_name(title, "chat"), kinds, _folder())


def ask_what_to_import(parent: QWidget) -> Path | None:
    """Return the chosen file; None if the dialog was cancelled."""
    kinds = _tr("Chats (*.specexec-chat *.json *.zip)") + ";;" + _tr("All files (*)")
    chosen, _ = QFileDialog.getOpenFileName(
        parent, _tr("Import chats from SpecExec Desktop or ChatGPT"), _folder(), kinds
    )
    return Path(chosen) if chosen else None


def ask_for_a_backup(parent: QWidget, folder: Path) -> Path | None:
    """Return the chosen backup; None if the dialog was cancelled. folder: where the backups are."""
    kinds = _tr("Backups (*.sqlite)") + ";;" + _tr("All files (*)")
    caption = _tr("Bring back chats from a backup")
    chosen, _ = QFileDialog.getOpenFileName(parent, caption, str(folder), kinds)
    return Path(chosen) if chosen else None


def _folder() -> str:
    return QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
