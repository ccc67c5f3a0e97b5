"""What the model says, rendered as Markdown while it comes."""

from collections.abc import Collection, Iterator

from PySide6.QtCore import QElapsedTimer, QEvent, QPoint, Qt, QTimer, QUrl, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.engine_link import FRAME_MS
from app.rendering import thoughts
from app.rendering.message_actions import INSET, Action, MessageActions
from app.rendering.text_body import TextBody
from app.rendering.thought_view import ThoughtView

# Rendering takes at most a quarter of the window's time: pauses are three times as long, and what
# does not fit in a quarter of a frame waits for the next.
PAUSE_PER_RENDER = 3
RENDER_MS = FRAME_MS // 4


class AnswerView(QWidget):
    """One answer: its text, a line that says what goes on until there is text, figures and actions after it.

    Attributes:
        text: the answer so far, as it was said, thought and all.

    Signals:
        link_clicked: QUrl
        asked: Action, as `set_actions` allows
        version_asked: int, the number of another version, from 1
        found: int, the pixel where what was searched for stands, or 0
    """

    link_clicked = Signal(QUrl)
    asked = Signal(Action)
    version_asked = Signal(int)
    found = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = ""
        self._is_whole = False
        self._sought: str | None = None
        self._thought = ThoughtView(self)
        self._thought.unfolded.connect(self._render_soon)
        self._body = TextBody(self)
        self._body.setAccessibleName(self.tr("Answer"))
        for part in (self._thought, self._body):
            part.link_clicked.connect(self.link_clicked)
            part.hide()
        self._status = self._line(self.tr("Waiting for the model…"))
        self._summary = self._line("")
        self._actions = MessageActions(self._answer, self)
        self._actions.asked.connect(self.asked)
        self._actions.version_asked.connect(self.version_asked)
        self._summary.hide()
        self._actions.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 4)
        texts = QVBoxLayout()
        texts.setContentsMargins(INSET, 0, INSET, 0)
        for widget in (self._thought, self._body, self._status, self._summary):
            texts.addWidget(widget)
        layout.addLayout(texts)
        layout.addWidget(self._actions)
        self._pause_ms = FRAME_MS
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._render)

    def _line(self, text: str) -> QLabel:
        line = QLabel(text, self)
        line.setProperty("role", "caption")
        line.setWordWrap(True)
        line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return line

    def append(self, text: str) -> None:
        """Add text; it is on the screen within a frame or a few."""
        self.text += text
        self._is_whole = False
        if text and not self._timer.isActive():
            self._timer.start(self._pause_ms)

    def set_status(self, text: str) -> None:
        """Say what the model does, as long as there is no text."""
        if not self.text:
            self._status.setText(text)

    def finish(self, summary: str, text: str | None = None) -> None:
        """The answer is whole: show it now, with `summary` below; `text` replaces what was streamed.

        The rest of a very long text follows a piece at a time.
        """
        if text is not None:
            self.text = text
        self._is_whole = True
        self._timer.stop()
        self._render()
        self._status.hide()
        self._summary.setText(summary)
        self._summary.setVisible(bool(summary))
        self._actions.setVisible(bool(self.text))

    def set_actions(self, actions: Collection[Action]) -> None:
        """What may be done with this answer beside copying it."""
        self._actions.set_actions(actions)

    def set_versions(self, current: int, count: int) -> None:
        """This is version `current` of `count`, from 1."""
        self._actions.set_versions(current, count)

    def bodies(self) -> Iterator[tuple[int, TextBody]]:
        """Each text that is shown, and the place in `text` where its source begins."""
        thought = thoughts.find(self.text, self._is_whole)
        if thought and self._thought.body.isVisibleTo(self):
            yield thought.start, self._thought.body
        yield thought.answer if thought else 0, self._body

    def seek(self, query: str) -> None:
        """Mark what a search finds in it, once all of it is shown; `found` follows."""
        self._sought = query
        self._render_soon()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and self.text:
            self._thought.body.forget_look()
            self._body.forget_look()
            self._render_soon()

    def _render_soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start(0)

    def _render(self) -> None:
        if not self.text:
            return
        clock = QElapsedTimer()
        clock.start()
        thought = thoughts.find(self.text, self._is_whole)
        self._status.hide()
        self._thought.setVisible(thought is not None)
        is_shown = True
        if thought:
            self._thought.set_open(thought.is_open and not self._is_whole)
            if self._thought.switch.isChecked():
                thinking = self.text[thought.start : thought.stop]
                is_shown = self._thought.body.show_markdown(thinking, RENDER_MS)
        answer = self.text[thought.answer :] if thought else self.text
        self._body.setVisible(bool(answer))
        is_shown = self._body.show_markdown(answer, RENDER_MS) and is_shown
        self._pause_ms = max(FRAME_MS, PAUSE_PER_RENDER * clock.elapsed())
        if not is_shown:
            self._timer.start(self._pause_ms)
        elif self._is_whole:
            self._body.finish()
            self._thought.body.finish()
            self._mark()

    def _mark(self) -> None:
        """What is sought; a thought that alone has it is unfolded."""
        query, self._sought = self._sought, None
        if query is None:
            return
        tops = [body.mapTo(self, QPoint(0, top)).y() for body, top in self._marked(query) if top is not None]
        if tops or self._thought.switch.isChecked() or not self._thought.isVisibleTo(self):
            self.found.emit(min(tops, default=0))
        else:
            self._sought = query
            self._thought.switch.setChecked(True)

    def _marked(self, query: str) -> list[tuple[TextBody, int | None]]:
        return [(body, body.mark(query)) for _, body in self.bodies()]

    def _answer(self) -> str:
        """The text without the thought."""
        thought = thoughts.find(self.text, self._is_whole)
        return self.text[thought.answer :] if thought else self.text
