"""One answer of a race: its text, how far it is, its figures."""

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLayout,
    QProgressBar,
    QTextBrowser,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from app import formatting
from app.race import race_words
from app.race.race_record import RaceLane
from app.race.race_words import NOTHING
from app.widgets import theme
from app.widgets.elided_label import ElidedLabel
from app.widgets.flow import Flow
from app.widgets.form_parts import Card, set_role
from app.widgets.plain_text import PlainLabel


class LaneView(Card):
    """Column with one answer. The tokens of the newest pass are marked while the answer grows.

    Attributes:
        text: the widget with the answer so far.
        state: label at the top right: what happens, or when the answer was finished.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lane: RaceLane | None = None
        self._passes = 0
        self._name = ElidedLabel(self)
        self._name.setProperty("role", "name")
        self.state = PlainLabel(parent=self)
        self.state.setProperty("role", "caption")
        self._details = ElidedLabel(self)
        self._details.setProperty("role", "caption")
        self._bar = QProgressBar(self)
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 1)
        self.text = QTextBrowser(self)
        self.text.setOpenLinks(False)
        self.text.setMinimumHeight(60)
        heading = QHBoxLayout()
        heading.addWidget(self._name, 1)
        heading.addWidget(self.state)
        figures = Flow()
        self._seconds = self._figure(figures, self.tr("seconds"))
        self._tokens = self._figure(figures, self.tr("tokens"))
        self._speed = self._figure(figures, self.tr("tokens/s"))
        self._per_pass = self._figure(figures, self.tr("tokens per pass"))
        self.column.addLayout(heading)
        for widget in (self._details, self._bar):
            self.column.addWidget(widget)
        self.column.addWidget(self.text, 1)
        self.column.addLayout(figures)

    def wait(self, name: str, state: str) -> None:
        """Clear the column for an answer that is not known yet."""
        self._lane, self._passes = None, 0
        self._name.setText(name)
        self._details.setText("")
        self.state.setMinimumWidth(0)
        self.state.setText(state)
        set_role(self.state, "caption")
        self.text.clear()
        self.text.setExtraSelections([])
        self.text.setAccessibleName(name)
        self._bar.setValue(0)
        for figure in (self._seconds, self._tokens, self._speed, self._per_pass):
            figure.setText(NOTHING)

    def add(self, text: str) -> None:
        """Add text to the answer while it is being written."""
        self._end().insertText(text)
        self._scroll()

    def show_lane(self, name: str, lane: RaceLane, t: float) -> None:
        """Show an answer as it was after t seconds."""
        self.wait(name, "")
        self._lane = lane
        self._details.setText(race_words.lane_details(lane))
        self._bar.setRange(0, lane.tokens)
        self.show_at(lane.seconds)
        self.state.setMinimumWidth(self.state.sizeHint().width())  # so that nothing moves at the end
        self.show_at(t)

    def show_at(self, t: float) -> None:
        lane = self._lane
        if lane is None:
            return
        passes = lane.passes_at(t)
        if passes != self._passes:
            self._show_passes(lane, passes)
        is_done = t >= lane.seconds
        seconds = lane.seconds if is_done else t
        tokens = lane.tokens_at(passes)
        self._bar.setValue(tokens)
        self._seconds.setText(formatting.decimal(seconds))
        self._tokens.setText(formatting.number(tokens))
        if is_done:
            speed, per_pass = lane.tokens_per_second, lane.tokens_per_pass
        else:
            speed = (tokens - 1) / seconds if seconds > 0 else None
            per_pass = (tokens - 1) / (passes - 1) if passes > 1 else None
        self._speed.setText(race_words.optional(speed))
        self._per_pass.setText(race_words.optional(per_pass))
        done = self.tr("finished after {} s").format(formatting.decimal(lane.seconds))
        self.state.setText(done if is_done else "")
        set_role(self.state, "current_step" if is_done else "caption")
        self._mark("" if is_done or not passes else lane.passes[passes - 1].text)

    def _show_passes(self, lane: RaceLane, passes: int) -> None:
        before, now = lane.length_at(self._passes), lane.length_at(passes)
        if now >= before:
            self._end().insertText(lane.text[before:now])
        else:
            self.text.setPlainText(lane.text[:now])
        self._passes = passes
        self._scroll()

    def _mark(self, newest: str) -> None:
        """Mark the end of the text: what the newest pass added."""
        length = len(newest.encode("utf-16-le")) // 2  # as Qt counts
        cursor = self._end()
        cursor.setPosition(max(0, cursor.position() - length), QTextCursor.MoveMode.KeepAnchor)
        shade = QColor(theme.current().accent)
        shade.setAlphaF(0.22)
        look = QTextCharFormat()
        look.setBackground(shade)
        selection = QTextEdit.ExtraSelection()
        selection.cursor, selection.format = cursor, look
        self.text.setExtraSelections([selection] if newest else [])

    def _end(self) -> QTextCursor:
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        return cursor

    def _scroll(self) -> None:
        bar = self.text.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _figure(self, row: QLayout, name: str) -> QLabel:
        cell = QWidget(self)
        column = QVBoxLayout(cell)
        column.setContentsMargins(0, 0, 12, 0)
        column.setSpacing(0)
        figure = PlainLabel(NOTHING, cell)
        figure.setProperty("role", "figure")
        figure.setAccessibleName(name)
        caption = PlainLabel(name, cell)
        caption.setProperty("role", "caption")
        column.addWidget(figure)
        column.addWidget(caption)
        row.addWidget(cell)
        return figure
