"""The chat as it was said: questions, answers, and what went wrong."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.answer_view import AnswerView
from app.empty_state import EmptyState
from app.message_row import MessageRow
from app.notice import Notice
from app.question_view import QuestionView
from app.rendering.message_actions import Action
from app.store import Message, Shown

COLUMN_WIDTH = 760
MOST_SHOWN = 60  # messages at first; a chat of thousands opens as fast as a short one
END_MARGIN = 24  # pixels from the end that still count as the end


class Transcript(QScrollArea):
    """A column of messages that follows its end until the person scrolls up.

    Attributes:
        answer: the one being written, or None.
        jump: the button that leads back to the end.

    Signals:
        suggested: str, a question picked from the empty chat
        edited: message, its changed text
        regenerate_asked, again_asked, continue_asked, branch_asked: message; again: with the same seed
        version_asked: message, another version
        link_clicked: QUrl
    """

    suggested = Signal(str)
    edited = Signal(int, str)
    regenerate_asked = Signal(int)
    again_asked = Signal(int)
    continue_asked = Signal(int)
    branch_asked = Signal(int)
    version_asked = Signal(int)
    link_clicked = Signal(QUrl)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.answer: AnswerView | None = None
        self._notice: Notice | None = None
        self._follows = True
        self._sought: tuple[MessageRow, int] | None = None  # where to stay, and its pixel
        self._path: Sequence[Shown] = []
        self._answering: int | None = None
        self._first = 0  # of the path that has a view
        self._rows: list[MessageRow] = []
        self._may_change = False
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

    def _build_column(self) -> None:
        page = QWidget(self)
        page.setObjectName("column")
        self._column = QVBoxLayout()
        self._column.setContentsMargins(20, 16, 20, 16)
        self._column.setSpacing(14)
        self._empty = EmptyState(page)
        self._empty.suggested.connect(self.suggested)
        self._column.addWidget(self._empty, 1)
        self._earlier = QPushButton(self.tr("Earlier messages"), page)
        self._earlier.setAccessibleName(self.tr("Earlier messages"))
        self._earlier.clicked.connect(self._show_earlier)
        self._earlier.hide()
        self._column.addWidget(self._earlier)
        self._column.addStretch(0)
        holder = QWidget(page)
        holder.setObjectName("column")
        holder.setMaximumWidth(COLUMN_WIDTH)
        holder.setLayout(self._column)
        centred = QHBoxLayout(page)
        centred.setContentsMargins(0, 0, 0, 0)
        centred.addWidget(holder)
        self.setWidget(page)

    @property
    def is_following(self) -> bool:
        return self._follows

    def open(self, shown: Sequence[Shown], answering: int | None) -> None:
        """Show another chat, from its end. answering: the message being written, if it is there."""
        self._cut(0)
        self._first = max(0, len(shown) - MOST_SHOWN)
        self.show_path(shown, answering)
        self.follow()

    def show_path(self, shown: Sequence[Shown], answering: int | None) -> None:
        """Show these messages of the same chat; views that are there already stay."""
        if len(shown) <= self._first:
            self._first = max(0, len(shown) - MOST_SHOWN)
        wanted = shown[self._first :]
        pairs = zip(self._rows, wanted, strict=False)
        same = next((place for place, (row, each) in enumerate(pairs) if row.id != each.message.id), None)
        self._cut(min(len(self._rows), len(wanted)) if same is None else same)
        self.answer = None
        for place, each in enumerate(wanted):
            if place == len(self._rows):
                self._rows.append(self._row(each.message))
            row, is_answering = self._rows[place], each.message.id == answering
            row.bring_up_to_date(each, is_answering, self._may_change)
            if is_answering and isinstance(row.view, AnswerView):
                self.answer = row.view
        self._path, self._answering = shown, answering
        self._earlier.setVisible(self._first > 0)
        self._empty.setVisible(not shown)

    def allow_changes(self, allowed: bool) -> None:
        """Whether messages may be changed and answered again now."""
        self._may_change = allowed
        self.show_path(self._path, self._answering)

    @property
    def is_editing(self) -> bool:
        return any(row.editor is not None for row in self._rows)

    def edit_last_question(self) -> None:
        if self._may_change and (row := self._last(QuestionView)):
            row.edit()

    def copy_last_answer(self) -> None:
        if row := self._last(AnswerView):
            QGuiApplication.clipboard().setText(row.view.text)

    def step_version(self, step: int) -> None:
        """To the version before or after, of the last message that has any."""
        row = next((row for row in reversed(self._rows) if len(row.versions) > 1), None)
        if row is not None and self._may_change:
            place = row.versions.index(row.id) + step
            if 0 <= place < len(row.versions):
                self.version_asked.emit(row.versions[place])

    def jump_to(self, message: int, query: str = "") -> None:
        """Scroll to where it begins; query: to the first of what this search finds in it, which is marked."""
        place = next((place for place, each in enumerate(self._path) if each.message.id == message), None)
        if place is None:
            return
        while place < self._first:
            self._show_earlier()
        self._follows = False
        self._rows[place - self._first].view.seek(query)

    def _stay_at(self, row: MessageRow, top: int) -> None:
        """Until a person scrolls: messages above may still be growing."""
        self._follows, self._sought = False, (row, top)
        self._to_sought()

    def _last(self, kind: type[QWidget]) -> MessageRow | None:
        return next((row for row in reversed(self._rows) if isinstance(row.view, kind)), None)

    def _row(self, message: Message) -> MessageRow:
        row = MessageRow(message, self.widget())
        row.edited.connect(lambda text: self.edited.emit(message.id, text))
        row.asked.connect(lambda action: self._ask(action, message.id))
        row.version_asked.connect(self.version_asked)
        row.link_clicked.connect(self.link_clicked)
        row.found.connect(lambda top: self._stay_at(row, top))
        self._add(row)
        return row

    def _ask(self, action: Action, message: int) -> None:
        {
            Action.REGENERATE: self.regenerate_asked,
            Action.AGAIN: self.again_asked,
            Action.CONTINUE: self.continue_asked,
            Action.BRANCH: self.branch_asked,
        }[action].emit(message)

    def _cut(self, place: int) -> None:
        for row in self._rows[place:]:
            self._remove(row)
            if self._sought and self._sought[0] is row:
                self._sought = None
        del self._rows[place:]

    def _show_earlier(self) -> None:
        self._first = max(0, self._first - MOST_SHOWN)
        self._cut(0)
        self.show_path(self._path, self._answering)

    def show_notice(self, notice: Notice) -> None:
        """Show what went wrong, after everything else; it replaces an earlier notice."""
        self.clear_notice()
        self._notice = notice
        self._add(notice)

    def clear_notice(self) -> None:
        if self._notice is not None:
            self._remove(self._notice)
            self._notice = None

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._follows, self._sought = True, None
        self._to_end()

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
        behind = 1 if self._notice in (None, view) else 2  # the stretch, and a notice
        self._column.insertWidget(self._column.count() - behind, view)
        view.show()

    def _remove(self, view: QWidget) -> None:
        self._column.removeWidget(view)
        view.hide()
        view.deleteLater()

    def _to_end(self) -> None:
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def _to_sought(self) -> None:
        """So that something of what is above is seen, too."""
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
