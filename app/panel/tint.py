"""Colouring of an answer by the drafters that proposed its tokens, with a tool tip for each token."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextEdit, QToolTip

from app import formatting
from app.conversation.answer_view import AnswerView
from app.panel.node_words import percent, sources, visible
from app.panel.origins import Origin, Origins
from app.rendering.text_body import TextBody
from app.widgets import theme
from app.widgets.plain_text import plain

SOURCE_ALPHA, IN_VIEW_ALPHA = 60, 90
MIN_PROBABILITY = 1e-9


@dataclass(frozen=True, slots=True)
class ColourRun:
    """Characters from `start` up to `end` whose tokens have the same source."""

    start: int
    end: int
    source: int


def runs(ranges: Sequence[Origin]) -> list[ColourRun]:
    """Join adjacent ranges with the same source; leave out the target's own tokens."""
    joined: list[ColourRun] = []
    for origin in ranges:
        if not origin.source:
            continue
        last = joined[-1] if joined else None
        if last and last.end == origin.start and last.source == origin.source:
            joined[-1] = ColourRun(last.start, origin.end, origin.source)
        else:
            joined.append(ColourRun(origin.start, origin.end, origin.source))
    return joined


class Tint(QObject):
    """Colours one answer at a time. Switched off, it removes all colours and costs nothing.

    Signals:
        position_asked: int, position in the answer whose iteration the user wants to see
    """

    position_asked = Signal(int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._view: AnswerView | None = None
        self._origins = Origins()
        self._is_on = False
        self._in_view: tuple[int, int] | None = None

    def set_on(self, is_on: bool) -> None:
        self._is_on = is_on
        self.refresh()

    def follow(self, view: AnswerView | None, origins: Origins) -> None:
        """Colour the answer in `view` from now on; if `view` is None, colour no answer."""
        if view is self._view and origins is self._origins:
            return
        self._clear()
        if self._view is not None:
            self._view.rendered.disconnect(self.refresh)
        self._view, self._origins, self._in_view = view, origins, None
        if view is not None:
            view.destroyed.connect(self._forget)
            view.rendered.connect(self.refresh)
        self.refresh()

    def look_at(self, start: int, end: int) -> None:
        """Mark the characters from `start` up to `end`, which the iteration in view produced."""
        self._in_view = start, end
        self.refresh()

    def refresh(self) -> None:
        """Update the colours: the text or its origins have changed."""
        if self._view is None:
            return
        if not self._is_on:
            self._clear()
            return
        for offset, body in self._view.bodies():
            body.viewport().removeEventFilter(self)
            body.viewport().installEventFilter(self)
            body.highlight("tint", list(self._selections(offset, body)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show a tool tip for the token under the pointer; ask for its iteration on a click."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            origin = self._origin(watched, event.pos())
            QToolTip.showText(event.globalPos(), plain(origin_text(origin) if origin else ""))
            return True
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonRelease:
            body = watched.parent()
            is_click = isinstance(body, TextBody) and not body.textCursor().hasSelection()
            origin = self._origin(watched, event.position().toPoint()) if is_click else None
            if origin and event.button() == Qt.MouseButton.LeftButton:
                self.position_asked.emit(origin.start)
        return False

    def _origin(self, viewport: QObject, point: QPoint) -> Origin | None:
        for offset, body in self._view.bodies() if self._view else ():
            if body.viewport() is viewport and (place := body.source_at(point)):
                return self._origins.at(offset + place[0])
        return None

    def _selections(self, offset: int, body: TextBody) -> Iterator[QTextEdit.ExtraSelection]:
        colours = theme.current()
        for run in runs(self._origins.ranges):
            colour = QColor(sources(run.source)[0].colour(colours))
            colour.setAlpha(SOURCE_ALPHA)
            yield from _background(body, run.start - offset, run.end - offset, colour)
        if self._in_view:
            colour = QColor(colours.accent)
            colour.setAlpha(IN_VIEW_ALPHA)
            yield from _background(body, self._in_view[0] - offset, self._in_view[1] - offset, colour)

    def _clear(self) -> None:
        for _, body in self._view.bodies() if self._view else ():
            body.viewport().removeEventFilter(self)
            body.highlight("tint", [])

    def _forget(self) -> None:
        self._view = None


def _background(body: TextBody, start: int, end: int, colour: QColor) -> Iterator[QTextEdit.ExtraSelection]:
    for position, length in body.spans(max(0, start), end) if end > 0 else ():
        selection = QTextEdit.ExtraSelection()
        selection.cursor = QTextCursor(body.document())
        selection.cursor.setPosition(position)
        selection.cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
        selection.format = QTextCharFormat()
        selection.format.setBackground(colour)
        yield selection


def origin_text(origin: Origin) -> str:
    """Describe a token in plain text: its drafters, its probability, its iteration, its alternatives."""
    # An engine elsewhere tells neither the iteration nor what proposed the token.
    lines = [_of_iteration(origin) if origin.iteration else _chance(origin.probability)]
    lines += [f"{_chance(option.probability)}  {visible(option.text)}" for option in origin.alternatives]
    return "\n".join(lines)


def _of_iteration(origin: Origin) -> str:
    by = ", ".join(source.name for source in sources(origin.source)) or _tr("the target's own token")
    when = _tr("iteration {}").format(formatting.number(origin.iteration))
    return f"{by} · {_chance(origin.probability)} · {when}"


def _chance(probability: float) -> str:
    return percent(math.log(max(probability, MIN_PROBABILITY)))


def _tr(text: str) -> str:
    return QCoreApplication.translate("tint", text)
