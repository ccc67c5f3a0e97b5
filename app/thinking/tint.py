"""The answer in the colours of who proposed its tokens; what the token under the mouse might have been."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextEdit, QToolTip

from app import theme, words
from app.answer_view import AnswerView
from app.rendering.text_body import TextBody
from app.thinking.node_words import percent
from app.thinking.origins import Origin, Origins
from app.thinking.sources import sources
from app.thinking.token_text import visible

GROUND_ALPHA, LOOKED_AT_ALPHA = 60, 130
LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class Run:
    """Characters from `start` up to `end` of one source."""

    start: int
    end: int
    source: int


def runs(ranges: Sequence[Origin]) -> list[Run]:
    """Neighbours of one source are one; the target's own tokens stay plain."""
    found: list[Run] = []
    for one in ranges:
        if not one.source:
            continue
        last = found[-1] if found else None
        if last and last.end == one.start and last.source == one.source:
            found[-1] = Run(last.start, one.end, one.source)
        else:
            found.append(Run(one.start, one.end, one.source))
    return found


class Tint(QObject):
    """Colours one answer at a time; off, it leaves no trace and costs nothing.

    Signals:
        position_asked: int, a place in the answer: show the iteration that made it
    """

    position_asked = Signal(int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._view: AnswerView | None = None
        self._origins = Origins()
        self._is_on = False
        self._looked_at: tuple[int, int] | None = None

    def set_on(self, is_on: bool) -> None:
        self._is_on = is_on
        self.refresh()

    def follow(self, view: AnswerView | None, origins: Origins) -> None:
        """Colour this answer from now on."""
        if view is self._view and origins is self._origins:
            return
        self._clear()
        self._view, self._origins, self._looked_at = view, origins, None
        if view is not None:
            view.destroyed.connect(self._forget)
        self.refresh()

    def look_at(self, start: int, end: int) -> None:
        """Mark what an iteration gave the answer."""
        self._looked_at = start, end
        self.refresh()

    def refresh(self) -> None:
        """More of the answer is shown, or it came from somewhere."""
        if self._view is None:
            return
        if not self._is_on:
            self._clear()
            return
        for offset, body in self._view.bodies():
            body.viewport().removeEventFilter(self)
            body.viewport().installEventFilter(self)
            body.setExtraSelections(list(self._selections(offset, body)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hovering tells of a token, a click asks for its iteration."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            origin = self._origin(watched, event.pos())
            QToolTip.showText(event.globalPos(), told(origin) if origin else "")
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
            ground = QColor(sources(run.source)[0].colour(colours))
            ground.setAlpha(GROUND_ALPHA)
            yield from _ground(body, run.start - offset, run.end - offset, ground)
        if self._looked_at:
            ground = QColor(colours.accent)
            ground.setAlpha(LOOKED_AT_ALPHA)
            yield from _ground(body, self._looked_at[0] - offset, self._looked_at[1] - offset, ground)

    def _clear(self) -> None:
        for _, body in self._view.bodies() if self._view else ():
            body.viewport().removeEventFilter(self)
            body.setExtraSelections([])

    def _forget(self) -> None:
        self._view = None


def _ground(body: TextBody, start: int, end: int, colour: QColor) -> Iterator[QTextEdit.ExtraSelection]:
    for position, length in body.spans(max(0, start), end) if end > 0 else ():
        selection = QTextEdit.ExtraSelection()
        selection.cursor = QTextCursor(body.document())
        selection.cursor.setPosition(position)
        selection.cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
        selection.format = QTextCharFormat()
        selection.format.setBackground(colour)
        yield selection


def told(origin: Origin) -> str:
    """Who proposed it, how probable it was, what else might have come; plain text."""
    who = ", ".join(source.name for source in sources(origin.source)) or _tr("the target's own token")
    when = _tr("iteration {}").format(words.number(origin.iteration))
    lines = [f"{who} · {_chance(origin.probability)} · {when}"]
    lines += [f"{_chance(each.probability)}  {visible(each.text)}" for each in origin.alternatives]
    return "\n".join(lines)


def _chance(probability: float) -> str:
    return percent(math.log(max(probability, LEAST)))


def _tr(text: str) -> str:
    return QCoreApplication.translate("tint", text)
