"""The transcript of a chat: questions, answers and errors."""

from collections.abc import Sequence, Set

from PySide6.QtCore import QEvent, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.conversation.answer_view import AnswerView
from app.conversation.call_card import Decision
from app.conversation.empty_state import EmptyState
from app.conversation.message_row import MessageRow
from app.conversation.question_view import QuestionView
from app.rendering.message_actions import Action
from app.store import Passage, ShownMessage, StoredMessage
from app.widgets import theme
from app.widgets.announcement import announce
from app.widgets.notice import Notice

COLUMN_WIDTH = 760
# Messages with a row when a chat is opened and when an answer begins, so that a very long chat opens as fast
# as a short one and takes no more memory.
MOST_SHOWN = 60
NOTCH = 120  # the angle of one notch of a mouse wheel, in eighths of a degree
END_MARGIN = 24  # distance from the end, in pixels, that still counts as the end


class Transcript(QScrollArea):
    """A column of messages that stays scrolled to its end until the user scrolls up.

    Attributes:
        answer: the view of the answer being written, or None.
        rows: the rows of the messages, in order; earlier messages of a long chat have none.
        notice: the error shown after the last message, or None.
        empty_state: the widget shown while the chat has no messages.
        earlier: the button that shows earlier messages of a long chat.
        jump: the button that scrolls back to the end.

    Signals:
        suggested: str, a suggested question that the user picked in an empty chat
        edited: int, str: a message id and the changed text
        regenerate_asked, continue_asked, branch_asked, delete_asked: int, a message id
        race_asked: int, id of an answer whose question is to be answered in a race
        again_asked: int, id of an answer that the user wants to regenerate with the same seed
        version_asked: int, id of the version to show
        whole_asked: the user wants the model to read all messages again
        why_asked: the user wants to see what makes up the speed of the answer that shows it
        preview_asked: AttachedFile or Passage, which the user wants to see
        decided: int, str, Decision: an answer, the id of its call, and what the user decides about that
        answer_asked: the user wants the thought to end with which the answer in progress begins
        link_clicked: QUrl
        changes_allowed: bool, whether messages can be edited and regenerated from now on
        zoom_asked: int, 1 for larger and -1 for smaller text: Ctrl and the wheel were used
    """

    suggested = Signal(str)
    edited = Signal(int, str)
    regenerate_asked = Signal(int)
    race_asked = Signal(int)
    again_asked = Signal(int)
    continue_asked = Signal(int)
    branch_asked = Signal(int)
    delete_asked = Signal(int)
    version_asked = Signal(int)
    whole_asked = Signal()
    why_asked = Signal()
    preview_asked = Signal(object)
    decided = Signal(int, str, Decision)
    answer_asked = Signal()
    link_clicked = Signal(QUrl)
    changes_allowed = Signal(bool)
    zoom_asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.answer: AnswerView | None = None
        self.notice: Notice | None = None
        self._follows = True
        self._sought: tuple[MessageRow, int] | None = None  # the search match to stay at: row, y in the row
        self._path: Sequence[ShownMessage] = []
        self._answering: int | None = None
        self._first = 0  # index in the path of the first message that has a row
        self.rows: list[MessageRow] = []
        self._may_change = False
        self._send_key = "enter"
        self._memory: int | None = None
        self._running: Set[str] = frozenset()  # ids of the calls that run
        self._unsaved: dict[int, str] = {}  # by message: what was being edited when its row was removed
        self._turned = 0  # angle of the wheel with Ctrl that has not changed the size of text yet
        self.setAccessibleName(self.tr("Chat"))
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._build_column()
        self.jump = QPushButton(self.tr("↓ Jump to the end"), self)
        self.jump.setAccessibleName(self.tr("Jump to the end"))
        self.jump.clicked.connect(self.follow)
        self.jump.hide()
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._range_changed)
        bar.valueChanged.connect(self._scrolled)
        bar.actionTriggered.connect(self._forget_sought)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._follow_focus)

    def _build_column(self) -> None:
        page = QWidget(self)
        page.setObjectName("column")
        self._column = QVBoxLayout()
        self._column.setContentsMargins(20, 16, 20, 16)
        self._column.setSpacing(8)
        self.empty_state = EmptyState(page)
        self.empty_state.suggested.connect(self.suggested)
        self._column.addWidget(self.empty_state, 1)
        self.earlier = QPushButton(self.tr("Earlier messages"), page)
        self.earlier.setAccessibleName(self.tr("Earlier messages"))
        self.earlier.clicked.connect(self._show_earlier)
        self.earlier.hide()
        self._column.addWidget(self.earlier)
        self._column.addStretch(0)
        self._holder = holder = QWidget(page)
        holder.setObjectName("column")
        holder.setMaximumWidth(theme.enlarged(COLUMN_WIDTH))
        holder.setLayout(self._column)
        centred = QHBoxLayout(page)
        centred.setContentsMargins(0, 0, 0, 0)
        centred.addWidget(holder)
        self.setWidget(page)

    def open(self, shown: Sequence[ShownMessage], answering: int | None) -> None:
        """Show another chat, scrolled to its end. answering: id of the message being written, or None."""
        self._cut(0)
        self._first = max(0, len(shown) - MOST_SHOWN)
        self.show_path(shown, answering)
        self.follow()

    def show_path(self, shown: Sequence[ShownMessage], answering: int | None) -> None:
        """Show these messages of the same chat. The rows before the first message that differs are kept."""
        if len(shown) <= self._first:
            self._first = max(0, len(shown) - MOST_SHOWN)
        visible = shown[self._first :]
        pairs = zip(self.rows, visible, strict=False)
        changed = next((i for i, (row, message) in enumerate(pairs) if row.id != message.message.id), None)
        self._cut(min(len(self.rows), len(visible)) if changed is None else changed)
        self.answer = None
        for place, message in enumerate(visible):
            if place == len(self.rows):
                self.rows.append(self._row(message.message, _passages_before(shown, self._first + place)))
            row, is_answering = self.rows[place], message.message.id == answering
            is_last = place == len(visible) - 1
            row.update_message(message, is_answering, self._may_change, is_last=is_last)
            row.mark_memory(row.id == self._memory)
            if is_answering and isinstance(row.view, AnswerView):
                self.answer = row.view
        self._path, self._answering = shown, answering
        self.earlier.setVisible(self._first > 0)
        self.empty_state.setVisible(not shown)

    def mark_memory(self, message: int | None) -> None:
        """Mark the first message that the model reads; None if it reads all of them."""
        self._memory = message
        for row in self.rows:
            row.mark_memory(row.id == message)

    def mark_running(self, running: Set[str]) -> None:
        """Show which calls run now. running: their ids."""
        self._running = frozenset(running)
        for row in self.rows:
            row.mark_running(self._running)

    def allow_changes(self, allowed: bool) -> None:
        """Set whether messages can be edited and regenerated now."""
        self._may_change = allowed
        self.changes_allowed.emit(allowed)
        self.show_path(self._path, self._answering)

    def send_with(self, key: str) -> None:
        """Set which key saves a changed message, as `Composer.send_with`."""
        self._send_key = key
        for row in self.rows:
            row.send_with(key)

    def answer_of(self, message: int) -> AnswerView | None:
        """Return the view of an answer, if it is shown."""
        views = (row.view for row in self.rows if row.id == message)
        return next((view for view in views if isinstance(view, AnswerView)), None)

    def reset_look(self) -> None:
        """Show all messages again as `typography` now says."""
        for row in self.rows:
            row.view.reset_look()

    def show_speed(self, message: int | None, text: str) -> None:
        """Show the speed below this answer, and below no other. None shows it below none."""
        for row in self.rows:
            if isinstance(row.view, AnswerView):
                row.view.show_speed(text if row.id == message else "")

    def _follow_focus(self, _: QWidget | None, focused: QWidget | None) -> None:
        for row in self.rows:
            row.follow_focus(focused)

    @property
    def may_change(self) -> bool:
        """Whether messages can be edited and regenerated now."""
        return self._may_change

    @property
    def is_editing(self) -> bool:
        return any(row.editor is not None for row in self.rows)

    def edit_last_question(self) -> None:
        if self._may_change and (row := self._last(QuestionView)):
            row.edit()

    def copy_last_answer(self) -> bool:
        """Copy the last answer as its button does, without the thought; return False if there is none."""
        row = self._last(AnswerView)
        if row is None or not isinstance(row.view, AnswerView) or not row.view.text:
            return False
        QGuiApplication.clipboard().setText(row.view.answer())
        return True

    def step_version(self, step: int) -> None:
        """Ask for the previous (-1) or next (1) version of the last message that has several."""
        row = next((row for row in reversed(self.rows) if len(row.versions) > 1), None)
        if row is not None and self._may_change:
            place = row.versions.index(row.id) + step
            if 0 <= place < len(row.versions):
                self.version_asked.emit(row.versions[place])

    def jump_to(self, message: int, query: str = "") -> None:
        """Scroll to a message. query: mark this search's matches and scroll to the first one."""
        if row := self.show_row(message):
            row.view.seek(query)

    @property
    def path(self) -> Sequence[ShownMessage]:
        """The messages of the chat, with and without a row."""
        return self._path

    def show_row(self, message: int) -> MessageRow | None:
        """Return the row of a message, made if necessary; None if the message is not in the chat."""
        place = next((i for i, shown in enumerate(self._path) if shown.message.id == message), None)
        if place is None:
            return None
        while place < self._first:
            self._show_earlier()
        self._follows = False
        return self.rows[place - self._first]

    def first_in_view(self) -> int | None:
        """Return the first message that is in view."""
        top = self.verticalScrollBar().value()
        return next((row.id for row in self.rows if row.geometry().bottom() > top), None)

    def stay_at(self, row: MessageRow, top: int) -> None:
        """Keep this y of a row in view until the user scrolls, even if messages above it grow."""
        self._follows, self._sought = False, (row, top)
        self._to_sought()

    def _show_editor(self, row: MessageRow) -> None:
        """Scroll no further than it takes to see the editor of a row, once it has its place."""
        editor = row.editor
        assert editor is not None
        self._follows, self._sought = False, None
        QTimer.singleShot(0, editor, lambda: self.ensureWidgetVisible(editor))

    def _last(self, kind: type[QWidget]) -> MessageRow | None:
        return next((row for row in reversed(self.rows) if isinstance(row.view, kind)), None)

    def _row(self, message: StoredMessage, passages: Sequence[Passage]) -> MessageRow:
        row = MessageRow(message, self.widget(), passages)
        row.send_with(self._send_key)
        row.preview_asked.connect(self.preview_asked)
        row.editing.connect(lambda: self._show_editor(row))
        row.edited.connect(lambda text: self.edited.emit(message.id, text))
        row.asked.connect(lambda action: self._ask(action, message.id))
        row.version_asked.connect(self.version_asked)
        row.undo_asked.connect(self.whole_asked)
        row.why_asked.connect(self.why_asked)
        row.answer_asked.connect(self.answer_asked)
        row.decided.connect(lambda call, decision: self.decided.emit(message.id, call, decision))
        row.mark_running(self._running)
        row.link_clicked.connect(self.link_clicked)
        row.found.connect(lambda top: self.stay_at(row, top))
        self._add(row)
        if message.id in self._unsaved:
            row.edit(self._unsaved.pop(message.id))
        return row

    def _ask(self, action: Action, message: int) -> None:
        {
            Action.REGENERATE: self.regenerate_asked,
            Action.AGAIN: self.again_asked,
            Action.CONTINUE: self.continue_asked,
            Action.BRANCH: self.branch_asked,
            Action.DELETE: self.delete_asked,
            Action.RACE: self.race_asked,
        }[action].emit(message)

    def _cut(self, place: int) -> None:
        for row in self.rows[place:]:
            if row.unsaved is not None:
                self._unsaved[row.id] = row.unsaved
            self._remove(row)
            if self._sought and self._sought[0] is row:
                self._sought = None
        del self.rows[place:]

    def _drop_first(self, count: int) -> None:
        for row in self.rows[:count]:
            self._remove(row)
        del self.rows[:count]
        self._first += count
        self.earlier.show()

    def _show_earlier(self) -> None:
        self._first = max(0, self._first - MOST_SHOWN)
        self._cut(0)
        self.show_path(self._path, self._answering)

    def show_notice(self, notice: Notice) -> None:
        """Show an error after the last message, in place of an earlier error."""
        self.clear_notice()
        self.notice = notice
        self._add(notice)
        announce(notice, f"{notice.accessibleName()} {notice.accessibleDescription()}".strip())

    def clear_notice(self) -> None:
        if self.notice is not None:
            self._remove(self.notice)
            self.notice = None

    def follow(self) -> None:
        """Scroll to the end and stay there. Rows of messages before the last `MOST_SHOWN` are dropped, up to
        the first with an editor."""
        self._follows, self._sought = True, None
        surplus = max(0, len(self.rows) - MOST_SHOWN)
        if droppable := next((i for i, row in enumerate(self.rows[:surplus]) if row.editor), surplus):
            self._drop_first(droppable)
        self._to_end()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)
            return
        self._turned += event.angleDelta().y()
        steps = int(self._turned / NOTCH)
        self._turned -= steps * NOTCH
        if steps:
            self.zoom_asked.emit(1 if steps > 0 else -1)
        event.accept()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._holder.setMaximumWidth(theme.enlarged(COLUMN_WIDTH))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        size = self.jump.sizeHint()
        self.jump.setGeometry(
            (self.width() - size.width()) // 2,
            self.height() - size.height() - 10,
            size.width(),
            size.height(),
        )

    def _add(self, view: QWidget) -> None:
        behind = 1 if self.notice in (None, view) else 2  # items that stay below: the stretch and any notice
        self._column.insertWidget(self._column.count() - behind, view)
        view.show()

    def _remove(self, view: QWidget) -> None:
        self._column.removeWidget(view)
        view.hide()
        view.deleteLater()

    def _to_end(self) -> None:
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def _to_sought(self) -> None:
        """Scroll so that the match is a quarter of the way down the viewport and the text above it is
        visible too."""
        if self._sought is not None:
            row, top = self._sought
            self.verticalScrollBar().setValue(row.y() + top - self.viewport().height() // 4)

    def _forget_sought(self) -> None:
        self._sought = None

    def _range_changed(self) -> None:
        if self._follows:
            self._to_end()
        else:
            self._to_sought()
        self._show_jump()

    def _scrolled(self, value: int) -> None:
        self._follows = value >= self.verticalScrollBar().maximum() - END_MARGIN
        self._show_jump()

    def _show_jump(self) -> None:
        self.jump.setVisible(not self._follows)
        self.jump.raise_()


def _passages_before(shown: Sequence[ShownMessage], place: int) -> Sequence[Passage]:
    """Return the passages that were found for the message before the one at `place`."""
    return shown[place - 1].message.passages if place else ()
