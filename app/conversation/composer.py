"""The field in which the user writes a message, and its button."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.conversation import text_files
from app.conversation.pasted_texts import PastedTexts
from app.conversation.prompt_fields import PromptFields
from app.conversation.prompt_offer import PromptOffer
from app.store import UnsentMessage
from app.store.prompts import SavedPrompt, variables
from app.widgets.composed_text import ComposedText
from app.widgets.plain_text import PlainLabel

MAX_LINES = 8
SCREEN_SHARE = 0.15  # of the height of a small screen, at most

# Pasted text with more characters is kept outside the field. Measured on two cores: a line of a million
# characters blocks QPlainTextEdit for 40 s.
MAX_TYPED = 20_000
LONGEST_NAME = 60  # characters behind a “/” that may be the beginning of a prompt's name


class Composer(QFrame):
    """A text field that grows with its text, and a button that sends the text or stops the answer.

    Attributes:
        editor: the text field.
        offer: the saved prompts, shown while the message is a “/” and the beginning of a name.
        read_prompts: returns the saved prompts.
        pasted: holds long pasted texts and the text of files, which are sent after the typed text.
        remark: says why something that was dropped or pasted cannot be sent; hidden at the next change.
        can_stop: whether there is something to stop.
        button: "Send", or "Stop" while an answer or a load can be stopped.

    Signals:
        sent: str, the text to send; the receiver calls `accept` to empty the field
        stopped: the user wants to stop the answer
        changed: the unsent message changed
    """

    sent = Signal(str)
    stopped = Signal()
    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self._can_send = False
        self.can_stop = False
        self.read_prompts: Callable[[], Sequence[SavedPrompt]] = tuple
        self.offer = PromptOffer(self)
        self.offer.chosen.connect(self._insert)
        self.editor = _Editor(self.offer, self)
        self.editor.setAccessibleName(self.tr("Message"))
        self.send_with("enter")
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
        self.remark = PlainLabel(parent=self)
        self.remark.setProperty("role", "danger")
        self.remark.setWordWrap(True)
        self.remark.hide()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(10, 8, 8, 8)
        texts = QVBoxLayout()
        texts.addWidget(self.offer)
        texts.addWidget(self.pasted)
        texts.addWidget(self.remark)
        texts.addWidget(self.editor)
        layout.addLayout(texts, 1)
        buttons = QVBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.button)
        layout.addLayout(buttons)
        self.setFocusProxy(self.editor)
        self._refresh()

    def allow(self, *, send: bool, stop: bool) -> None:
        """Set whether the button can send or stop now. The text in the field stays."""
        self._can_send, self.can_stop = send, stop
        self._refresh()

    def send_with(self, key: str) -> None:
        """Set which key sends.

        "enter": Enter sends, Shift+Enter starts a new line. "ctrl_enter": Ctrl+Enter sends, Enter starts a
        new line.
        """
        self.editor.sends_with_ctrl = key == "ctrl_enter"
        text = (
            self.tr("Message — Ctrl+Enter to send, Enter for a new line")
            if self.editor.sends_with_ctrl
            else self.tr("Message — Enter to send, Shift+Enter for a new line")
        )
        self.editor.setPlaceholderText(text)

    def accept(self) -> None:
        """Empty the field after its text was sent."""
        self.show_unsent(UnsentMessage())

    def text(self) -> str:
        """Return the text to send: the typed text, then the pasted texts."""
        parts = (self.editor.toPlainText(), *self.pasted.texts)
        return "\n\n".join(part for part in parts if part.strip())

    def unsent(self) -> UnsentMessage:
        """Return the message as it stands."""
        return UnsentMessage(typed=self.editor.toPlainText(), pasted=list(self.pasted.texts))

    def show_unsent(self, message: UnsentMessage) -> None:
        """Show a message that `unsent` returned, in place of the present one."""
        self.pasted.hold(message.pasted)
        self._type(message.typed)

    def write(self, text: str) -> None:
        """Put `text` in the field, so that the user can change it and send it."""
        self._type(text)
        self.editor.setFocus()

    def _type(self, text: str) -> None:
        self.editor.setPlainText(text)
        self.editor.moveCursor(self.editor.textCursor().MoveOperation.End)

    def bring(self, data: QMimeData) -> None:
        """Hold the text of the files that were dropped or pasted; say which of them cannot be sent."""
        remarks = []
        for path in text_files.files_in(data):
            try:
                self._hold(text_files.read(path))
            except text_files.NotText as remark:
                remarks.append(str(remark))
        if data.hasImage() and not data.hasUrls():
            remarks.append(self.tr("The loaded model does not read pictures."))
        self.remark.setText("\n".join(remarks))
        self.remark.setVisible(bool(remarks))

    def take(self, key: QKeyEvent) -> None:
        """Take the focus, and write a key that was typed elsewhere."""
        self.editor.setFocus()
        self.editor.keyPressEvent(key)

    def _submit(self) -> None:
        if self._can_send:
            text = self.text()
            if text:
                self.sent.emit(text)

    def _hold(self, text: str) -> None:
        self.pasted.add(text)
        self._change()

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
        text = self.tr("Stop") if self.can_stop else self.tr("Send")
        self.button.setText(text)
        self.button.setAccessibleName(text)
        self.button.setToolTip(self.tr("Esc") if self.can_stop else self.tr("Enter"))
        is_empty = self.editor.document().isEmpty() and not self.pasted.texts
        self.button.setEnabled(self.can_stop or (self._can_send and not is_empty))

    def _keep_width(self) -> None:
        """Make the button as wide as its widest text, so that the field keeps its width."""
        widths = []
        for text in (self.tr("Stop"), self.tr("Send")):
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
    return bool(text_files.files_in(data)) or (data.hasImage() and not data.hasText())


class _Editor(ComposedText):
    """The text field of the composer; as high as its text, up to `MAX_LINES`.

    Signals:
        submitted: the key that sends was pressed
        focus_changed: bool, whether the field now has the focus
        pasted: str, a pasted text that is too long for the field
        brought: QMimeData with files or a picture that were dropped or pasted
    """

    submitted = Signal()
    focus_changed = Signal(bool)
    pasted = Signal(str)
    brought = Signal(QMimeData)

    def __init__(self, offer: PromptOffer, parent: QWidget) -> None:
        """offer: gets keys first."""
        super().__init__(parent=parent)
        self._offer = offer
        self.sends_with_ctrl = False
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Prevent keys from triggering a shortcut of the window: Ctrl+Enter if it is the key that sends, Esc
        while prompts are offered. Tab is a key of theirs, too."""
        if isinstance(event, QKeyEvent) and not self._offer.isHidden():
            if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Tab:
                return self._offer.takes(event.key()) or super().event(event)
        if event.type() == QEvent.Type.ShortcutOverride and self.sends_with_ctrl:
            assert isinstance(event, QKeyEvent)
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.is_composing and not event.modifiers() and self._offer.takes(event.key()):
            return
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        held = event.modifiers()
        sends = (
            bool(held & Qt.KeyboardModifier.ControlModifier)
            if self.sends_with_ctrl
            else not held & Qt.KeyboardModifier.ShiftModifier
        )
        if is_enter and sends and not self.is_composing:
            self.submitted.emit()
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

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
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
