"""A question, shown as plain text."""

from collections.abc import Collection, Iterator, Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app import formatting
from app.conversation.file_chips import FileChips
from app.rendering.message_actions import INSET, Action, MessageActions
from app.rendering.quiet_button import QuietButton
from app.rendering.text_body import TextBody
from app.store import AttachedFile
from app.widgets.plain_text import PlainLabel

# Largest number of characters shown. Longer questions are sent whole, but laying out a megabyte would block
# the window.
MAX_SHOWN = 6_000
MAX_ALL = 96_000  # more is not shown: laying out long lines takes long
MORE = 4  # how many times more “Show more” shows


class QuestionView(QWidget):
    """Shows one question on a raised background, with its actions.

    Attributes:
        text: the question.
        chips, body, action_row: the widgets with the files, the text and the actions.

    Signals:
        asked: Action, one of those allowed by `set_actions`
        version_asked: int, number of another version, counted from 1
        found: int, y of the first search match in pixels; 0 if there is none
        preview_asked: AttachedFile, which the user wants to see
    """

    asked = Signal(Action)
    version_asked = Signal(int)
    found = Signal(int)
    preview_asked = Signal(object)

    def __init__(self, text: str, parent: QWidget | None = None, files: Sequence[AttachedFile] = ()) -> None:
        super().__init__(parent)
        self.text = text
        self.chips: FileChips | None = None
        self._files = files
        self.action_row = MessageActions(lambda: self.text, self)
        self.action_row.asked.connect(self.asked)
        self.action_row.version_asked.connect(self.version_asked)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self._ground(text))
        layout.addWidget(self.action_row)

    def set_actions(self, actions: Collection[Action]) -> None:
        """Set which actions are offered besides copying."""
        self.action_row.set_actions(actions)

    def set_versions(self, current: int, count: int) -> None:
        """Show that this is version `current`, counted from 1, of `count`."""
        self.action_row.set_versions(current, count)

    def bodies(self) -> Iterator[tuple[int, TextBody]]:
        """Yield the text widget with the index in `text` where its text begins."""
        yield 0, self.body

    def unfold(self, place: int) -> None:
        """Show what is folded away at an index in `text`."""
        if self.rest is not None:
            self.rest.show_up_to(place)

    def reset_look(self) -> None:
        """Show the text again in the present font."""
        self.body.reset_look()

    def seek(self, query: str) -> None:
        """Mark the matches of a search, then emit `found`."""
        QTimer.singleShot(0, self, lambda: self.found.emit(self.body.mark(query) or 0))

    def _ground(self, text: str) -> QFrame:
        ground = QFrame(self)
        ground.setObjectName("question")
        ground.setAccessibleName(self.tr("Your message"))
        layout = QVBoxLayout(ground)
        layout.setContentsMargins(INSET, 10, INSET, 10)
        if self._files:
            self.chips = FileChips(ground, is_fixed=True)
            self.chips.show_files(self._files)
            self.chips.preview_asked.connect(self.preview_asked)
            layout.addWidget(self.chips)
        self.body = TextBody(ground)
        self.body.setAccessibleName(self.tr("Your message"))
        layout.addWidget(self.body)
        self.body.show_plain(text[:MAX_SHOWN])
        self.rest = RestOfQuestion(text, self.body, ground) if len(text) > MAX_SHOWN else None
        if self.rest is not None:
            layout.addWidget(self.rest)
        return ground


class RestOfQuestion(QWidget):
    """Says how much of a long question is shown, and has a button that shows more of it."""

    def __init__(self, text: str, body: TextBody, parent: QWidget) -> None:
        super().__init__(parent)
        self._text, self._body = text, body
        self._notice = PlainLabel(parent=self)
        self._notice.setProperty("role", "caption")
        self._notice.setWordWrap(True)
        self.more = QuietButton(self.tr("Show more"), self.tr("Show more of the message"), self)
        self.more.clicked.connect(lambda: self._show(min(MAX_ALL, MORE * self._shown)))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._notice)
        layout.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self._show(MAX_SHOWN)

    def show_up_to(self, place: int) -> None:
        """Show more of the text until it contains the character at `place`, if that can be shown."""
        while self._shown <= place < min(MAX_ALL, len(self._text)):
            self._show(min(MAX_ALL, MORE * self._shown))

    def _show(self, most: int) -> None:
        """Show the first `most` characters."""
        self._shown = most
        self._body.show_plain(self._text[:most])
        shown = self.tr("The first {} of {} characters are shown; all were sent.")
        self._notice.setText(shown.format(formatting.number(most), formatting.number(len(self._text))))
        self._notice.setVisible(len(self._text) > most)
        self.more.setVisible(most < min(MAX_ALL, len(self._text)))
