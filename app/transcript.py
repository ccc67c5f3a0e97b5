"""The chat as it was said: questions, answers, and what went wrong."""

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.answer_view import AnswerView
from app.empty_state import EmptyState
from app.notice import Notice
from app.question_view import QuestionView

COLUMN_WIDTH = 760
END_MARGIN = 24  # pixels from the end that still count as the end


class Transcript(QScrollArea):
    """A column of messages that follows its end until the person scrolls up.

    Attributes:
        answer: the answer that was begun last, or None.
        jump: the button that leads back to the end.

    Signals:
        suggested: str, a question picked from the empty chat
        link_clicked: QUrl
    """

    suggested = Signal(str)
    link_clicked = Signal(QUrl)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.answer: AnswerView | None = None
        self._notice: Notice | None = None
        self._follows = True
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

    def _build_column(self) -> None:
        page = QWidget(self)
        page.setObjectName("column")
        self._column = QVBoxLayout()
        self._column.setContentsMargins(20, 16, 20, 16)
        self._column.setSpacing(14)
        self._empty = EmptyState(page)
        self._empty.suggested.connect(self.suggested)
        self._column.addWidget(self._empty, 1)
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

    def add_turn(self, question: str) -> None:
        """Show a question and begin its answer."""
        self._add(QuestionView(question, self.widget()))
        self.answer = AnswerView(self.widget())
        self.answer.link_clicked.connect(self.link_clicked)
        self._add(self.answer)
        self.follow()

    def show_notice(self, notice: Notice) -> None:
        """Show what went wrong, after everything else; it replaces an earlier notice."""
        self.clear_notice()
        self._notice = notice
        self._add(notice)

    def clear_notice(self) -> None:
        if self._notice is not None:
            self._remove(self._notice)
            self._notice = None

    def clear(self) -> None:
        """Back to the empty chat; a notice stays, since what it is about has not changed."""
        for view in self._views():
            if view is not self._notice:
                self._remove(view)
        self.answer = None
        self._empty.show()
        self.follow()

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._follows = True
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

    def _views(self) -> list[QWidget]:
        items = (self._column.itemAt(i) for i in range(self._column.count()))
        widgets = (item.widget() for item in items if item is not None)
        return [widget for widget in widgets if widget is not None and widget is not self._empty]

    def _add(self, view: QWidget) -> None:
        if not isinstance(view, Notice):
            self._empty.hide()
        self._column.insertWidget(self._column.count() - 1, view)  # before the stretch
        view.show()

    def _remove(self, view: QWidget) -> None:
        self._column.removeWidget(view)
        view.hide()
        view.deleteLater()

    def _to_end(self) -> None:
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def _range_changed(self) -> None:
        if self._follows:
            self._to_end()
        self._show_jump()

    def _scrolled(self, value: int) -> None:
        self._follows = value >= self.verticalScrollBar().maximum() - END_MARGIN
        self._show_jump()

    def _show_jump(self) -> None:
        self.jump.setVisible(not self._follows)
        self.jump.raise_()
