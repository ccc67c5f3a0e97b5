"""The field in which the user writes a message, and its button."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QImage, QKeyEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.conversation.file_chips import FileChips
from app.conversation.pasted_texts import PastedTexts
from app.conversation.prompt_fields import PromptFields
from app.conversation.prompt_offer import PromptOffer
from app.store import AttachedFile, UnsentMessage
from app.store.prompts import SavedPrompt, variables
from app.store.records import well_formed
from app.widgets.composed_text import ComposedText
from app.widgets.icons import icon
from app.widgets.plain_text import PlainLabel, plain

MAX_LINES = 8
MAX_CHIP_ROWS = 3  # visible at once
SCREEN_SHARE = 0.15  # of the height of a small screen, at most

# Pasted text with more characters is kept outside the field. Measured on two cores: a line of a million
# characters blocks QPlainTextEdit for 40 s.
MAX_TYPED = 20_000
PAGE_KEYS = (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
LONGEST_NAME = 60  # characters behind a “/” that may be the beginning of a prompt's name


class Composer(QFrame):
    """A text field that grows with its text, and a button that sends the text or stops the answer.

    Attributes:
        editor: the text field.
        offer: the saved prompts, shown while the message is a “/” and the beginning of a name.
        read_prompts: returns the saved prompts.
        pasted: holds long pasted texts, which are sent after the typed text.
        attached: the files that the message brings along.
        chips: shows them, and those that are being read; until they are, the message cannot be sent.
        remark: says what is to be known about what was brought; hidden when the user writes.
        attach: the button that chooses files.
        can_stop: whether there is something to stop.
        button: "Send", or while an answer or a load can be stopped, "Stop" or "Cancel loading".

    Signals:
        sent: str, list of AttachedFile: what to send; the receiver calls `accept` to empty the field
        stopped: the user wants to stop the answer or the load
        changed: the unsent message changed
        files_brought: list of Path, files that the user dropped, pasted or chose
        picture_brought: QImage, which the user pasted
        reading_left: str, key of a file that need not be read any more
        preview_asked: AttachedFile, which the user wants to see
    """

    sent = Signal(str, list)
    stopped = Signal()
    changed = Signal()
    files_brought = Signal(list)
    picture_brought = Signal(QImage)
    reading_left = Signal(str)
    preview_asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self._can_send = False
        self.can_stop = self._is_loading = False
        self.read_prompts: Callable[[], Sequence[SavedPrompt]] = tuple
        self.offer = PromptOffer(self)
        self.offer.chosen.connect(self._insert)
        self.editor = _Editor(self.offer, self)
        self.editor.setAccessibleName(self.tr("Message"))
        self.editor.submitted.connect(self._submit)
        self.editor.focus_changed.connect(self._show_focus)
        self.editor.textChanged.connect(self._change)
        self.button = QPushButton(self)
        self.button.setProperty("role", "main")
        self.button.clicked.connect(self._press)
        self._keep_width()
        self.pasted = PastedTexts(self)
        self.pasted.changed.connect(self._change)
        self.editor.pasted.connect(self._hold)
        self.editor.brought.connect(self.bring)
        self.attached: list[AttachedFile] = []
        self._reading: Mapping[str, str] = {}
        self.chips = FileChips(self, is_fixed=False, most_rows=MAX_CHIP_ROWS)
        self.chips.removed.connect(self._remove)
        self.chips.preview_asked.connect(self.preview_asked)
        self.remark = PlainLabel(parent=self)
        self.remark.setProperty("role", "danger")
        self.remark.setWordWrap(True)
        self.remark.hide()
        self.attach = QToolButton(self)
        self.attach.setObjectName("attach")
        self.attach.setIcon(icon("attach"))
        self.attach.setAccessibleName(self.tr("Attach files"))
        self.attach.setToolTip(plain(self.attach.accessibleName()))
        self.attach.clicked.connect(self._choose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 8, 8, 8)
        lower = QHBoxLayout()
        lower.addWidget(self.editor, 1)
        for button in (self.attach, self.button):
            lower.addWidget(button, 0, Qt.AlignmentFlag.AlignBottom)
        for above in (self.offer, self.chips, self.pasted, self.remark):
            layout.addWidget(above)
        layout.addLayout(lower)
        self.setFocusProxy(self.editor)
        self.send_with("enter")

    def allow(self, *, send: bool, stop: bool, is_loading: bool = False) -> None:
        """Set whether the button can send or stop now. The text in the field stays. is_loading: whether what
        it stops is a load."""
        self._can_send, self.can_stop, self._is_loading = send, stop, is_loading
        self._refresh()

    def send_with(self, key: str) -> None:
        """Set which key sends.

        "enter": Enter sends, Shift+Enter starts a new line. "ctrl_enter": Enter starts a new line. Ctrl+Enter
        sends in either case.
        """
        self.editor.sends_with_ctrl = key == "ctrl_enter"
        text = (
            self.tr("Message — Ctrl+Enter to send, Enter for a new line")
            if self.editor.sends_with_ctrl
            else self.tr("Message — Enter to send, Shift+Enter for a new line")
        )
        self.editor.setPlaceholderText(text)
        self._refresh()

    def accept(self) -> None:
        """Empty the field after its text was sent."""
        self.show_unsent(UnsentMessage())

    def text(self) -> str:
        """Return the text to send: the typed text, then the pasted texts."""
        parts = (self._typed, *self.pasted.texts)
        return "\n\n".join(part for part in parts if part.strip())

    def unsent(self) -> UnsentMessage:
        """Return the message as it stands, and as it would be stored."""
        return UnsentMessage(typed=self._typed, pasted=list(self.pasted.texts), files=list(self.attached))

    @property
    def _typed(self) -> str:
        """The text in the field. Halves of characters, which Qt may pass on, are replaced as in the store."""
        return well_formed(self.editor.toPlainText())

    def show_unsent(self, message: UnsentMessage) -> None:
        """Show a message that `unsent` returned, in place of the present one."""
        self.pasted.hold(message.pasted)
        self.attached = list(message.files)
        self.show_ways(self.attached)
        self._type(message.typed)

    def add_file(self, file: AttachedFile) -> None:
        """Let the message bring a file along."""
        if all(other.id != file.id for other in self.attached):
            self.attached.append(file)
        self._change_files()

    def show_reading(self, reading: Mapping[str, str]) -> None:
        """Show by key the names of files that are being read."""
        self._reading = reading
        self.show_ways(self.attached)
        self._refresh()

    def show_ways(self, files: Sequence[AttachedFile]) -> None:
        """Show the attached files, with the ways in which they would be read."""
        self.attached = list(files)
        self.chips.show_files(files, self._reading)

    def tell(self, sentence: str) -> None:
        """Add a sentence to the remark."""
        said = [self.remark.text()] if not self.remark.isHidden() else []
        self.remark.setText("\n".join(dict.fromkeys([*said, sentence])))
        self.remark.show()

    def write(self, text: str) -> None:
        """Put `text` in the field, so that the user can change it and send it."""
        self._type(text)
        self.editor.setFocus()

    def _type(self, text: str) -> None:
        self.editor.setPlainText(text)
        self.editor.moveCursor(self.editor.textCursor().MoveOperation.End)

    def bring(self, data: QMimeData) -> None:
        """Ask for the files or the picture that were dropped or pasted to be read."""
        self.remark.hide()
        if paths := files_in(data):
            self.files_brought.emit(paths)
        elif data.hasImage():
            self.picture_brought.emit(QImage(data.imageData()))

    def take(self, key: QKeyEvent) -> None:
        """Take the focus, and write a key that was typed elsewhere."""
        self.editor.setFocus()
        self.editor.keyPressEvent(key)

    def _submit(self) -> None:
        if self._can_send and not self._reading:
            # A message of files alone is called by their names.
            text = self.text() or ", ".join(file.name for file in self.attached)
            if text:
                self.sent.emit(text, self.attached)

    def _hold(self, text: str) -> None:
        self.pasted.add(well_formed(text))
        self._change()

    def _choose(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(self, self.attach.accessibleName())
        self.remark.hide()
        if names:
            self.files_brought.emit([Path(name) for name in names])
        self.editor.setFocus()

    def _remove(self, key: str) -> None:
        if key in self._reading:
            self.reading_left.emit(key)
        else:
            self.attached = [file for file in self.attached if file.id != key]
            self._change_files()
        self.editor.setFocus()

    def _change_files(self) -> None:
        self.show_ways(self.attached)
        self._refresh()
        self.changed.emit()

    def _insert(self, prompt: SavedPrompt) -> None:
        """Put a saved prompt in the field, after asking for the values of its variables."""
        if not variables(prompt.text):
            self._type(prompt.text)
            return
        fields = PromptFields(prompt, self)
        fields.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        fields.written.connect(self._type)
        fields.finished.connect(self.editor.setFocus)
        fields.open()

    def _change(self) -> None:
        typed = self.editor.toPlainText()
        if typed.startswith("/") and len(typed) <= LONGEST_NAME and "\n" not in typed:
            self.offer.offer(self.read_prompts(), typed[1:])
        else:
            self.offer.hide()
        self.remark.hide()
        self._refresh()
        self.changed.emit()

    def _press(self) -> None:
        if self.can_stop:
            self.stopped.emit()
        else:
            self._submit()

    def _refresh(self) -> None:
        stop = self.tr("Cancel loading") if self._is_loading else self.tr("Stop")
        text = stop if self.can_stop else self.tr("Send")
        self.button.setText(text)
        self.button.setAccessibleName(text)
        sends = self.tr("Ctrl+Enter") if self.editor.sends_with_ctrl else self.tr("Enter")
        self.button.setToolTip(plain(self.tr("Esc") if self.can_stop else sends))
        self.editor.has_message = not (
            self.editor.document().isEmpty() and not self.pasted.texts and not self.attached
        )
        can_send = self._can_send and self.editor.has_message and not self._reading
        self.button.setEnabled(self.can_stop or can_send)

    def _keep_width(self) -> None:
        """Make the button as wide as its widest text, so that the field keeps its width."""
        widths = []
        for text in (self.tr("Cancel loading"), self.tr("Stop"), self.tr("Send")):
            self.button.setText(text)
            self.button.ensurePolished()
            widths.append(self.button.sizeHint().width())
        self.button.setMinimumWidth(max(widths))

    def _show_focus(self, active: bool) -> None:
        self.setProperty("active", active)
        self.style().unpolish(self)
        self.style().polish(self)


def has_files_or_picture(data: QMimeData) -> bool:
    """Return whether `Composer.bring` takes this, rather than the text field."""
    return bool(files_in(data)) or (data.hasImage() and not data.hasText())


def files_in(data: QMimeData) -> list[Path]:
    """Return the files of this machine that were dropped or pasted."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


class _Editor(ComposedText):
    """The text field of the composer; as high as its text, up to `MAX_LINES`.

    Signals:
        submitted: the key that sends was pressed
        focus_changed: bool, whether the field now has the focus
        pasted: str, a pasted text that is too long for the field
        brought: QMimeData with files or a picture that were dropped or pasted

    Attributes:
        has_message: whether there is something to send, typed here or brought along.
    """

    submitted = Signal()
    focus_changed = Signal(bool)
    pasted = Signal(str)
    brought = Signal(QMimeData)

    def __init__(self, offer: PromptOffer, parent: QWidget) -> None:
        """offer: gets keys first."""
        super().__init__(parent=parent)
        self._offer = offer
        self.has_message = False
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Prevent keys from triggering a shortcut of the window: Ctrl+Enter while there is a message to send,
        Esc while prompts are offered. Tab is a key of theirs, too."""
        if isinstance(event, QKeyEvent) and not self._offer.isHidden():
            if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Tab:
                return self._offer.takes(event.key()) or super().event(event)
        if event.type() == QEvent.Type.ShortcutOverride and self.has_message:
            assert isinstance(event, QKeyEvent)
            is_held = event.modifiers() & Qt.KeyboardModifier.ControlModifier
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and is_held:
                event.accept()
                return True
        is_handled = super().event(event)
        if event.type() == QEvent.Type.Resize:
            self._fit()  # not in resizeEvent, during which the viewport does not follow another height
        return is_handled

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.is_composing and not event.modifiers() and self._offer.takes(event.key()):
            return
        if self.is_sent_by(event):
            self.submitted.emit()
        elif event.key() in PAGE_KEYS and not event.modifiers() and self.verticalScrollBar().maximum() == 0:
            event.ignore()  # nothing to page through here: the window pages through the chat
        else:
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return has_files_or_picture(source) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if has_files_or_picture(source):
            self.brought.emit(source)
        elif len(source.text()) > MAX_TYPED:
            self.pasted.emit(source.text())
        else:
            super().insertFromMimeData(source)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        line = self.fontMetrics().lineSpacing()
        lines = min(MAX_LINES, max(1, int(self.document().size().height())))  # the height is in lines
        lines = min(lines, max(2, int(SCREEN_SHARE * self.screen().availableSize().height() / line)))
        margins = 2 * int(self.document().documentMargin())
        self.setFixedHeight(max(30, max(lines * line, self._hint_height()) + margins + 4))

    def _hint_height(self) -> int:
        """Return the height of the hint that an empty field shows; 0 if it shows none."""
        if not self.document().isEmpty():
            return 0
        wraps, margin = int(Qt.TextFlag.TextWordWrap), int(self.document().documentMargin())
        room = self.viewport().rect().adjusted(margin, 0, -margin, 0)
        return self.fontMetrics().boundingRect(room, wraps, self.placeholderText()).height()
