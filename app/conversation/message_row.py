"""The row for one message in the transcript."""

from PySide6.QtCore import QPoint, QUrl, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import formatting
from app.conversation.answer_view import AnswerView
from app.conversation.message_editor import MessageEditor
from app.conversation.question_view import QuestionView
from app.rendering.message_actions import Action
from app.store import ShownMessage, StoredMessage


class MessageRow(QWidget):
    """A row of the transcript: the view of a message, or an editor in its place.

    Attributes:
        id: id of the message.
        view: the widget that shows the question or the answer.
        versions: ids of all versions of the message, this one included, oldest first.
        editor: the editor shown in place of the view, or None.

    Signals:
        edited: str, the changed text
        asked: Action, chosen by the user; never EDIT, which the row handles itself
        version_asked: int, id of another version
        link_clicked: QUrl
        found: int, y of the first search match, in pixels from the top of the row
    """

    edited = Signal(str)
    asked = Signal(Action)
    version_asked = Signal(int)
    link_clicked = Signal(QUrl)
    found = Signal(int)

    def __init__(self, message: StoredMessage, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.id = message.id
        self.versions: tuple[int, ...] = ()
        self.editor: MessageEditor | None = None
        self.view: QuestionView | AnswerView
        if message.role == "user":
            self.view = QuestionView(message.text, self)
        else:
            self.view = AnswerView(self)
            self.view.append(message.text)
            self.view.link_clicked.connect(self.link_clicked)
        self._is_done = message.role == "user"
        self._is_question = self._is_done
        self.view.asked.connect(self._ask)
        self.view.version_asked.connect(lambda number: self.version_asked.emit(self.versions[number - 1]))
        self.view.found.connect(lambda top: self.found.emit(self.view.mapTo(self, QPoint(0, top)).y()))
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self.view)

    def update_message(self, shown: ShownMessage, is_answering: bool, may_change: bool) -> None:
        """Show the current state of the message.

        is_answering: whether the engine is writing the message.
        may_change: whether editing and regenerating are possible now.
        """
        self.versions = shown.versions
        self.view.set_versions(shown.version, len(shown.versions))
        if is_answering:
            self._is_done = False
        elif isinstance(self.view, AnswerView) and not self._is_done:
            self.view.finish(formatting.message_summary(shown.message), shown.message.text)
            self._is_done = True
        self.view.set_actions(actions(shown.message) if may_change else set())

    def edit(self) -> None:
        """Replace the view with an editor."""
        self.editor = MessageEditor(self.view.text, self._is_question, self)
        self._column.addWidget(self.editor)
        self.view.hide()
        self.editor.left.connect(self._leave)
        self.editor.saved.connect(self._save)
        self.editor.setFocus()

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


def actions(message: StoredMessage) -> set[Action]:
    """Return the actions to offer for a message, besides copying."""
    offered = {Action.EDIT, Action.BRANCH}
    if message.role == "assistant":
        offered.add(Action.REGENERATE)
        if len(message.reports) == 1 and message.state == "complete":
            offered.add(Action.AGAIN)
        if _was_cut_off(message):
            offered.add(Action.CONTINUE)
    return offered


def _was_cut_off(message: StoredMessage) -> bool:
    return message.state == "interrupted" or bool(
        message.reports and message.reports[-1].stop_reason in ("cancelled", "max_new_tokens")
    )
