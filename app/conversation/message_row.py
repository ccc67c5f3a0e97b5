"""The row for one message in the transcript."""

from collections.abc import Sequence, Set

from PySide6.QtCore import QEvent, QPoint, QUrl, Signal
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import formatting
from app.conversation.answer_view import AnswerView
from app.conversation.call_card import CallCard, Decision
from app.conversation.memory_mark import MemoryMark
from app.conversation.message_editor import MessageEditor
from app.conversation.question_view import QuestionView
from app.rendering.message_actions import Action
from app.store import Passage, ShownMessage, StoredCall, StoredMessage


class MessageRow(QWidget):
    """A row of the transcript: the view of a message, or an editor in its place.

    Attributes:
        id: id of the message.
        view: the widget that shows the question or the answer.
        versions: ids of all versions of the message, this one included, oldest first.
        editor: the editor shown in place of the view, or None.
        mark: the line above the first message that the model reads, or None.
        calls: the cards of the answer's calls, in order.

    Signals:
        editing: the editor was opened by the user, or has the focus again
        edited: str, the changed text
        asked: Action, chosen by the user; never EDIT, which the row handles itself
        version_asked: int, id of another version
        undo_asked: the user wants the model to read the messages above again
        why_asked: the user wants to see what makes up the answer's speed
        answer_asked: the user wants the answer's thought to end
        decided: str, Decision: the id of a call and what the user decides about it
        link_clicked: QUrl
        found: int, y of the first search match, in pixels from the top of the row
        preview_asked: AttachedFile or Passage, which the user wants to see
    """

    edited = Signal(str)
    editing = Signal()
    asked = Signal(Action)
    version_asked = Signal(int)
    undo_asked = Signal()
    why_asked = Signal()
    answer_asked = Signal()
    decided = Signal(str, Decision)
    link_clicked = Signal(QUrl)
    found = Signal(int)
    preview_asked = Signal(object)

    def __init__(
        self, message: StoredMessage, parent: QWidget | None = None, passages: Sequence[Passage] = ()
    ) -> None:
        """passages: those that an answer was given from."""
        super().__init__(parent)
        self.id = message.id
        self.versions: tuple[int, ...] = ()
        self.editor: MessageEditor | None = None
        self._send_key = "enter"
        self.view: QuestionView | AnswerView
        if message.role == "user":
            self.view = QuestionView(message.text, self, message.files)
            self.view.preview_asked.connect(self.preview_asked)
        else:
            self.view = AnswerView(self)
            self.view.open_thought(message.opened)
            self.view.append(message.text)
            self.view.passages.show_passages(passages)
            self.view.passages.asked.connect(self.preview_asked)
            self.view.link_clicked.connect(self.link_clicked)
            self.view.why_asked.connect(self.why_asked)
            self.view.answer_asked.connect(self.answer_asked)
        self._is_hovered = self._has_focus = False
        self._is_done = message.role == "user"
        self._is_question = self._is_done
        self.view.asked.connect(self._ask)
        self.view.version_asked.connect(lambda number: self.version_asked.emit(self.versions[number - 1]))
        self.view.found.connect(lambda top: self.found.emit(self.view.mapTo(self, QPoint(0, top)).y()))
        self.mark: MemoryMark | None = None
        self.calls: list[CallCard] = []
        self._running: Set[str] = frozenset()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self.view)

    def update_message(
        self, shown: ShownMessage, is_answering: bool, may_change: bool, *, is_last: bool
    ) -> None:
        """Show the current state of the message.

        is_answering: whether the engine is writing the message.
        may_change: whether editing and regenerating are possible now.
        is_last: whether no message follows.
        """
        self.versions = shown.versions
        self.view.set_versions(shown.version, len(shown.versions))
        if is_answering:
            self._is_done = False
        elif isinstance(self.view, AnswerView) and not self._is_done:
            message = shown.message
            self.view.open_thought(message.opened)
            reports = message.reports
            tokens = sum(report.thought_tokens for report in reports)
            self.view.thought.measure(tokens, sum(report.thought_s for report in reports))
            ending, figures = formatting.message_ending(message), formatting.message_figures(message)
            self.view.finish(ending, figures, message.text, formatting.message_speed(message))
            self._is_done = True
        self._show_calls(shown.message.calls)
        if self.editor is not None:
            self.editor.allow(may_change)
        self.view.set_actions(actions(shown.message, is_last) if may_change else set())

    def mark_running(self, running: Set[str]) -> None:
        """Show which calls run now. running: their ids."""
        self._running = running
        for card in self.calls:
            card.show_call(card.call, is_running=card.call.id in running)

    def _show_calls(self, calls: Sequence[StoredCall]) -> None:
        for call in calls[len(self.calls) :]:
            card = CallCard(call, self)
            card.decided.connect(self.decided)
            self.calls.append(card)
            self._column.addWidget(card)
            card.show()
        for card, call in zip(self.calls, calls, strict=False):
            card.show_call(call, is_running=call.id in self._running)

    def mark_memory(self, begins: bool) -> None:
        """Show above the message that the model's memory begins here, or show it no longer."""
        if begins and self.mark is None:
            self.mark = MemoryMark(self)
            self.mark.undo_asked.connect(self.undo_asked)
            self._column.insertWidget(0, self.mark)
        elif self.mark is not None and not begins:
            self._column.removeWidget(self.mark)
            self.mark.hide()
            self.mark.deleteLater()
            self.mark = None

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._reveal(is_hovered=True)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._reveal(is_hovered=False)

    def follow_focus(self, focused: QWidget | None) -> None:
        """Show the actions while the focus is within the row."""
        self._has_focus = focused is not None and self.isAncestorOf(focused)
        self._reveal(is_hovered=self._is_hovered)

    def _reveal(self, *, is_hovered: bool) -> None:
        self._is_hovered = is_hovered
        self.view.action_row.reveal(is_hovered or self._has_focus)

    @property
    def unsaved(self) -> str | None:
        """The changed text that is in the editor; None if nothing was changed."""
        written = self.editor.editor.toPlainText() if self.editor else self.view.text
        return None if written == self.view.text else written

    def edit(self, unsaved: str | None = None) -> None:
        """Replace the view with an editor, which takes the focus; one that is open takes it again. unsaved: a
        text to go on with, without the focus."""
        if self.editor is not None:
            self.editor.setFocus()
            self.editing.emit()
            return
        self.editor = MessageEditor(self.view.text if unsaved is None else unsaved, self._is_question, self)
        self.editor.send_with(self._send_key)
        self._column.addWidget(self.editor)
        self.view.hide()
        self.editor.left.connect(self._leave)
        self.editor.saved.connect(self._save)
        if unsaved is None:
            self.editor.setFocus()
            self.editing.emit()

    def send_with(self, key: str) -> None:
        """Set which key saves a change, as `Composer.send_with`."""
        self._send_key = key
        if self.editor is not None:
            self.editor.send_with(key)

    def _ask(self, action: Action) -> None:
        if action is Action.EDIT:
            self.edit()
        else:
            self.asked.emit(action)

    def _save(self, text: str) -> None:
        self._leave()
        self.edited.emit(text)

    def _leave(self) -> None:
        if self.editor is not None:
            self._column.removeWidget(self.editor)
            self.editor.hide()
            self.editor.deleteLater()
            self.editor = None
            self.view.show()


def actions(message: StoredMessage, is_last: bool) -> set[Action]:
    """Return the actions to offer for a message, besides copying. is_last: whether no message follows."""
    offered = {Action.EDIT, Action.BRANCH, Action.DELETE}
    if is_last:  # a question without an answer
        offered.add(Action.REGENERATE)
    if message.role == "assistant":
        offered |= {Action.REGENERATE, Action.RACE}
        if len(message.reports) == 1 and message.state == "complete":
            offered.add(Action.AGAIN)
        if _was_cut_off(message):
            offered.add(Action.CONTINUE)
    return offered


def _was_cut_off(message: StoredMessage) -> bool:
    return message.state == "interrupted" or bool(
        message.reports and message.reports[-1].stop_reason in ("cancelled", "max_new_tokens", "repetition")
    )
