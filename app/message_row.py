"""One message of the chat: what was said, or, in its place, an editor."""

from PySide6.QtCore import QPoint, QUrl, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import words
from app.answer_view import AnswerView
from app.message_editor import MessageEditor
from app.question_view import QuestionView
from app.rendering.message_actions import Action
from app.store import Message, Shown


class MessageRow(QWidget):
    """
    Attributes:
        id: of the message.
        view: what was said.
        versions: ids of the message and its siblings, oldest first.
        editor: shown in the view's place, or None.

    Signals:
        edited: str, the changed text
        asked: Action, any but to edit
        version_asked: message, another version
        link_clicked: QUrl
        found: int, the pixel of the row where what was searched for stands
    """

    edited = Signal(str)
    asked = Signal(Action)
    version_asked = Signal(int)
    link_clicked = Signal(QUrl)
    found = Signal(int)

    def __init__(self, message: Message, parent: QWidget | None = None) -> None:
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

    def bring_up_to_date(self, each: Shown, is_answering: bool, may_change: bool) -> None:
        """is_answering: it is being written. may_change: messages may be changed and answered again now."""
        self.versions = each.versions
        self.view.set_versions(each.version, len(each.versions))
        if is_answering:
            self._is_done = False
        elif isinstance(self.view, AnswerView) and not self._is_done:
            self.view.finish(words.message_summary(each.message), each.message.text)
            self._is_done = True
        self.view.set_actions(actions(each.message) if may_change else set())

    def edit(self) -> None:
        """Put an editor in the place of the view."""
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


def actions(message: Message) -> set[Action]:
    """What can be done with it."""
    offered = {Action.EDIT, Action.BRANCH}
    if message.role == "assistant":
        offered.add(Action.REGENERATE)
        if len(message.reports) == 1 and message.state == "complete":
            offered.add(Action.AGAIN)
        if _was_cut_off(message):
            offered.add(Action.CONTINUE)
    return offered


def _was_cut_off(message: Message) -> bool:
    return message.state == "interrupted" or bool(
        message.reports and message.reports[-1].stop_reason in ("cancelled", "max_new_tokens")
    )
