"""Files that the user brings along: read in the background, kept in the store, shown in the composer."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from app.background import Work
from app.connection.conversation import Conversation
from app.conversation import file_words
from app.conversation.file_preview import FilePreview
from app.documents import child, picture
from app.documents.picture_text import with_text
from app.documents.records import Document, Unreadable
from app.sidebar.transfer import CHATS
from app.store import AttachedFile, Passage, Store, StoreError
from app.window.panes import Panes
from app.window.unsent_keeper import UnsentKeeper
from engine.errors import SpecExecError
from engine.hub import Stop

JOB = "file"


@dataclass(frozen=True, slots=True, eq=False)
class _Brought:
    """A file to read. key: names its chip; chat: where it was brought; read: runs on another thread."""

    key: str
    name: str
    chat: int | None
    read: Callable[[Stop], Document]


class Attachments(QObject):
    """Reads files one after the other, and shows what was read of them. Exported chats are imported.

    Signals:
        failed: SpecExecError; a file cannot be kept or shown
    """

    failed = Signal(object)

    def __init__(self, panes: Panes, chat: Conversation, store: Store, unsent: UnsentKeeper) -> None:
        super().__init__(panes)
        self._panes, self._composer = panes, panes.composer
        self._chat, self._store, self._unsent = chat, store, unsent
        self._work = Work(self)
        self._queue: deque[_Brought] = deque()  # the first one is being read
        self._count = 0
        self._composer.files_brought.connect(self._bring_files)
        self._composer.picture_brought.connect(self._bring_picture)
        self._composer.reading_left.connect(self._leave)
        chat.opened.connect(self._show_reading)
        for asked in (self._composer.preview_asked, panes.transcript.preview_asked):
            asked.connect(self._preview)

    def close_down(self) -> None:
        """Stop reading."""
        self._queue.clear()
        self._work.close()

    def _bring_files(self, paths: list[Path]) -> None:
        for path in paths:
            if path.suffix.lower() == CHATS:
                self._panes.header.sidebar_switch.setChecked(True)  # shows the import, and undoes it
                self._panes.sidebar.import_file(path)
            else:
                self._bring(path.name, partial(child.read_file, path))

    def _bring_picture(self, image: QImage) -> None:
        self._bring(self.tr("Pasted picture"), lambda _: picture.document_of(image))

    def _bring(self, name: str, read: Callable[[Stop], Document]) -> None:
        self._count += 1
        self._queue.append(_Brought(f"reading {self._count}", name, self._chat.id, read))
        if len(self._queue) == 1:
            self._read_next()
        self._show_reading()

    def _read_next(self) -> None:
        if self._queue:
            brought = self._queue[0]
            self._work.run(
                JOB,
                lambda stop: self._store.files.keep(brought.name, with_text(brought.read(stop), stop)),
                lambda file: self._finish(brought, file),
                lambda error: self._fail(brought, error),
            )

    def _finish(self, brought: _Brought, file: AttachedFile) -> None:
        self._leave(brought.key)
        self._unsent.add_file(brought.chat, file)
        if file.kind == "picture" and brought.chat == self._chat.id:
            self._composer.tell(
                self.tr(
                    "The model does not see pictures. It reads the text that Tesseract found in this one."
                )
                if file.has_text
                else self.tr("The model does not see pictures. This one is kept in the chat.")
            )

    def _fail(self, brought: _Brought, error: SpecExecError) -> None:
        self._leave(brought.key)
        if isinstance(error, Unreadable):
            self._composer.tell(file_words.why_unreadable(error.fault, brought.name))
        else:
            self.failed.emit(error)

    def _leave(self, key: str) -> None:
        """Read a file no longer, if it is not read already."""
        is_first = bool(self._queue) and self._queue[0].key == key
        self._queue = deque(brought for brought in self._queue if brought.key != key)
        if is_first:
            self._work.forget(JOB)
            self._read_next()
        self._show_reading()

    def _show_reading(self) -> None:
        here = {each.key: each.name for each in self._queue if each.chat == self._chat.id}
        self._composer.show_reading(here)

    def _preview(self, asked: AttachedFile | Passage) -> None:
        """Show a file or a passage."""
        if isinstance(asked, Passage):
            self._open(FilePreview(file_words.place(asked), "", asked.text, self._panes))
            return
        try:
            whole = self._store.files.whole([asked.id])
            texts = self._store.files.texts([asked.id])
        except StoreError as error:
            self.failed.emit(error)
            return
        content = whole[0].picture if whole and whole[0].picture else texts.get(asked.id, "")
        self._open(FilePreview(asked.name, file_words.details(asked), content, self._panes))

    def _open(self, preview: FilePreview) -> None:
        preview.finished.connect(preview.deleteLater)
        preview.open()
