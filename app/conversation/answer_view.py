"""An answer, rendered as Markdown while it arrives."""

from collections.abc import Collection, Iterator, Sequence

from PySide6.QtCore import QElapsedTimer, QEvent, QPoint, Qt, QTimer, QUrl, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.connection.engine_link import FRAME_MS
from app.conversation.figures_button import FiguresButton
from app.conversation.passage_list import PassageList
from app.rendering import thoughts
from app.rendering.message_actions import INSET, Action, MessageActions
from app.rendering.quiet_button import AROUND, QuietButton
from app.rendering.text_body import TextBody
from app.rendering.thought_view import ThoughtView
from app.widgets.plain_text import PlainLabel, plain

# Rendering takes at most a quarter of the GUI thread's time: the pause after a rendering is three times as
# long as the rendering. Text not rendered within a quarter of a frame is left for the next rendering.
PAUSE_PER_RENDER = 3
RENDER_MS = FRAME_MS // 4


class AnswerView(QWidget):
    """Shows one answer: a status line until text arrives, then the text, and at the end a row with its
    figures, its speed and its actions.

    Attributes:
        text: the answer so far as the model wrote it, including the thought.
        thought, body, status, ending: its widgets, from top to bottom; `ending` says why the answer is not
            whole, and is hidden if it is.
        passages: the list of the passages that the answer was given from.
        figures, speed, action_row: the widgets below them, from left to right.
        pause_ms: milliseconds between two renderings; longer if a rendering takes longer.

    Signals:
        link_clicked: QUrl
        asked: Action, one of those allowed by `set_actions`
        version_asked: int, number of another version, counted from 1
        why_asked: the user wants to see what makes up the speed
        answer_asked: the user wants the thought to end
        found: int, y of the first search match in pixels; 0 if there is none
        rendered: the complete text is in the document, also after a change of colours or font
    """

    link_clicked = Signal(QUrl)
    asked = Signal(Action)
    version_asked = Signal(int)
    why_asked = Signal()
    answer_asked = Signal()
    found = Signal(int)
    rendered = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = ""
        self._opened = ""
        self._is_whole = False
        self._sought: str | None = None
        self.thought = ThoughtView(self)
        self.thought.unfolded.connect(self._render_soon)
        self.thought.answer_asked.connect(self.answer_asked)
        self.body = TextBody(self)
        self.body.setAccessibleName(self.tr("Answer"))
        for part in (self.thought, self.body):
            part.link_clicked.connect(self.link_clicked)
            part.hide()
        self.status = self._line(self.tr("Waiting for the model…"))
        self.ending = self._line("")
        self.passages = PassageList(self)
        self.passages.setContentsMargins(INSET, 0, INSET, 0)
        self.figures = FiguresButton(self)
        self.speed = QuietButton("", "", self)
        self.speed.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.speed.elides = Qt.TextElideMode.ElideMiddle  # so that “see why” stays
        self.speed.clicked.connect(self.why_asked)
        self.action_row = MessageActions(self.answer, self, edit=self.tr("Edit this answer"))
        self.action_row.asked.connect(self.asked)
        self.action_row.version_asked.connect(self.version_asked)
        for hidden in (self.ending, self.speed, self.action_row):
            hidden.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 4)
        texts = QVBoxLayout()
        texts.setContentsMargins(INSET, 0, INSET, 0)
        for widget in (self.thought, self.body, self.status, self.ending):
            texts.addWidget(widget)
        layout.addLayout(texts)
        layout.addWidget(self.passages)
        below = QHBoxLayout()
        below.setContentsMargins(INSET - AROUND, 0, 0, 0)  # aligned with the text
        below.setSpacing(0)
        below.addWidget(self.figures)
        below.addWidget(self.speed, 1000)  # before the empty space beside the icons
        below.addWidget(self.action_row, 1)
        layout.addLayout(below)
        self.pause_ms = FRAME_MS
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._render)

    def _line(self, text: str) -> QLabel:
        line = PlainLabel(text, self)
        line.setProperty("role", "caption")
        line.setWordWrap(True)
        line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return line

    def append(self, text: str) -> None:
        """Add text; it is shown within a few frames."""
        self.text += text
        self._is_whole = False
        if text and not self._timer.isActive():
            self._timer.start(self.pause_ms)

    def open_thought(self, mark: str) -> None:
        """Note that the prompt has opened a thought with this mark; "": it has not."""
        self._opened = mark

    def count(self, tokens: int) -> None:
        """Note that the answer in progress has this many tokens."""
        thought = self._found()
        if thought and thought.is_open:
            self.thought.measure(tokens)

    def set_status(self, text: str) -> None:
        """Show what the model is doing, as long as there is no text."""
        if not self.text:
            self.status.setText(text)

    def finish(
        self,
        ending: str = "",
        figures: Sequence[tuple[str, str]] = (),
        text: str | None = None,
        speed: str = "",
    ) -> None:
        """Show the complete answer. Very long text is rendered piece by piece.

        ending: why the answer is not whole; "" if it is. figures: names and values. text: replaces the
        streamed text. speed: shown beside the button that shows the figures.
        """
        if text is not None:
            self.text = text
        self._is_whole = True
        self._timer.stop()
        self._render()
        self.status.hide()
        self.ending.setText(ending)
        self.ending.setVisible(bool(ending))
        self.figures.show_figures(figures, speed)
        self.action_row.setVisible(bool(self.text))

    def show_speed(self, text: str) -> None:
        """Show the speed in a line that leads to its explanation; "" shows none."""
        self.speed.setText(text)
        self.speed.setAccessibleName(text)
        self.speed.setToolTip(plain(text))
        self.speed.setVisible(bool(text))
        self.speed.updateGeometry()

    def set_actions(self, actions: Collection[Action]) -> None:
        """Set which actions are offered besides copying."""
        self.action_row.set_actions(actions)

    def set_versions(self, current: int, count: int) -> None:
        """Show that this is version `current`, counted from 1, of `count`."""
        self.action_row.set_versions(current, count)

    def answer(self) -> str:
        """Return the text without the thought."""
        thought = self._found()
        return self.text[thought.answer :] if thought else self.text

    def bodies(self) -> Iterator[tuple[int, TextBody]]:
        """Yield each visible text widget with the index in `text` where its source begins."""
        thought = self._found()
        if thought and self.thought.body.isVisibleTo(self):
            yield thought.start, self.thought.body
        yield thought.answer if thought else 0, self.body

    def unfold(self, place: int) -> None:
        """Show what is folded away at an index in `text`."""
        thought = self._found()
        if thought and thought.start <= place < thought.stop:
            self.thought.switch.setChecked(True)

    @property
    def is_up_to_date(self) -> bool:
        """Whether no rendering is pending."""
        return not self._timer.isActive()

    def seek(self, query: str) -> None:
        """Mark the matches of a search as soon as the whole text is rendered, then emit `found`."""
        self._sought = query
        self._render_soon()

    def event(self, event: QEvent) -> bool:
        """Leave the icons, the versions and the way to the explanation their room, when one of them, or the
        width, has changed."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            beside = self.action_row.minimumSizeHint().width()
            if not self.speed.isHidden():
                beside += self.speed.sizeHint().width()  # the speed stands among the figures, too
            self.figures.fit(self.width() - (INSET - AROUND) - beside)
        return super().event(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.reset_look()

    def reset_look(self) -> None:
        """Show the text again in the present colours and fonts."""
        if self.text:
            self.thought.body.reset_look()
            self.body.reset_look()
            self._render_soon()

    def _found(self) -> thoughts.Thought | None:
        return thoughts.find(self.text, self._is_whole, self._opened)

    def _render_soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start(0)

    def _render(self) -> None:
        if not self.text:
            return
        clock = QElapsedTimer()
        clock.start()
        thought = self._found()
        self.status.hide()
        self.thought.setVisible(thought is not None and not thought.is_empty)
        is_shown = True
        if thought:
            self.thought.set_open(thought.is_open and not self._is_whole)
            if self.thought.switch.isChecked():
                thinking = self.text[thought.start : thought.stop]
                is_shown = self.thought.body.show_markdown(thinking, RENDER_MS)
        answer = self.text[thought.answer :] if thought else self.text
        self.body.setVisible(bool(answer))
        is_shown = self.body.show_markdown(answer, RENDER_MS) and is_shown
        self.pause_ms = max(FRAME_MS, PAUSE_PER_RENDER * clock.elapsed())
        if not is_shown:
            self._timer.start(self.pause_ms)
        elif self._is_whole:
            if all([self.body.finish(), self.thought.body.finish()]):
                self._mark()
                self.rendered.emit()
            else:
                self._timer.start(0)

    def _mark(self) -> None:
        """Mark the matches of the pending search. If there are none, expand the thought and search it too."""
        query, self._sought = self._sought, None
        if query is None:
            return
        tops = [body.mapTo(self, QPoint(0, top)).y() for body, top in self._marked(query) if top is not None]
        if tops or self.thought.switch.isChecked() or not self.thought.isVisibleTo(self):
            self.found.emit(min(tops, default=0))
        else:
            self._sought = query
            self.thought.switch.setChecked(True)

    def _marked(self, query: str) -> list[tuple[TextBody, int | None]]:
        return [(body, body.mark(query)) for _, body in self.bodies()]
