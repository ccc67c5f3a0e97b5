"""Search in the chat shown: finds and highlights all matches, also while an answer is being written."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QPoint, QTimer, Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextEdit

from app.conversation.message_row import MessageRow
from app.conversation.question_view import MAX_ALL
from app.conversation.transcript import Transcript
from app.rendering.text_body import TextBody
from app.widgets import theme

LOOK_MS = 250  # between two looks at what has changed
MOST_PER_TEXT = 2_000  # maximum number of matches highlighted in one text; Qt asks for each when it paints
LAYER = "find"
_MARKUP = r"[*_`~\\]*"  # what may stand between two letters of an answer and is not shown


@dataclass(frozen=True, slots=True)
class Match:
    """The characters [start, stop) of a message's text."""

    message: int
    start: int
    stop: int


class Finder(QObject):
    """Finds the matches of a query in all messages of the chat, also in those that have no row yet, in folded
    thoughts and in the hidden part of long questions.

    Where Markdown hides text, such as the address of a link, a match is counted until the message has a row,
    which shows that it is not visible.

    Attributes:
        matches: all matches, in order.
        current: the one that was gone to; None if there is none.

    Signals:
        changed: `matches` or `current` changed
    """

    changed = Signal()

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self.matches: list[Match] = []
        self.current: Match | None = None
        self._transcript = transcript
        self._query, self._is_exact = "", False
        self._found: dict[int, tuple[int, list[Match]]] = {}  # by message: length of its text, matches
        self._states: dict[int, object] = {}  # by message: what its row showed when it was highlighted
        self._is_awaited = False  # the current match is to be scrolled to as soon as it is rendered
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)

    def seek(self, query: str, *, is_exact: bool = False) -> None:
        """Find a query, and go to the first match from the messages in view on; "" ends the search.

        is_exact: whether capital and small letters differ.
        """
        if (query, is_exact) == (self._query, self._is_exact):
            return
        self._query, self._is_exact = query, is_exact
        self._found.clear()
        self._clear()
        self.current = None
        if not query:
            self._timer.stop()
            self.matches = []
            self.changed.emit()
            return
        self._look()
        self._timer.start()
        if self.matches:
            order = {shown.message.id: place for place, shown in enumerate(self._transcript.path)}
            first = order.get(self._transcript.first_in_view() or 0, 0)
            below = [match for match in self.matches if order[match.message] >= first]
            self._go_to(below[0] if below else self.matches[0])

    def step(self, by: int) -> None:
        """Go to the next (1) or the previous (-1) match; after the last one follows the first."""
        if self.matches:
            here = self.matches.index(self.current) if self.current in self.matches else -max(by, 0)
            self._go_to(self.matches[(here + by) % len(self.matches)])

    # -- finding ---------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Find and highlight again where something has changed."""
        rows = {row.id: row for row in self._transcript.rows}
        path = [shown.message for shown in self._transcript.path]
        self._states = {id: state for id, state in self._states.items() if id in rows}
        changed = [row for row in rows.values() if self._states.get(row.id) != _state(row)]
        before, self.matches = self.matches, []
        for message in path:
            row = rows.get(message.id)
            text = row.view.text if row else message.text
            length, found = self._found.get(message.id, (-1, []))
            if length != len(text):
                found = self._find(message.id, text, is_question=message.role == "user")
            if row in changed:
                found = [match for match in found if self._may_be_visible(row, match)]
            self._found[message.id] = len(text), found
            self.matches += found
        for row in changed:
            self._highlight(row)
        if self.current not in self.matches:
            self.current = None
        if self._is_awaited:
            self._scroll()
        if before != self.matches:
            self.changed.emit()

    def _find(self, message: int, text: str, *, is_question: bool) -> list[Match]:
        between = "" if is_question else _MARKUP
        words = (between.join(map(re.escape, word)) for word in self._query.split())
        space = rf"{between}\s+{between}"
        pattern = re.compile(space.join(words), 0 if self._is_exact else re.IGNORECASE)
        shown = text[:MAX_ALL] if is_question else text
        return [Match(message, *found.span()) for found in pattern.finditer(shown) if found.group()]

    def _may_be_visible(self, row: MessageRow, match: Match) -> bool:
        """Return False if the row shows that the match is not in the text as it is read."""
        for offset, body in row.view.bodies():
            begin, end = match.start - offset, match.stop - offset
            if begin >= 0 and end <= body.source_length:
                spans = body.spans(begin, end)
                read = "".join(body.text_at(*span) for span in spans)
                return _plain(read) == _plain(self._query)
        return True

    # -- showing ---------------------------------------------------------------------------------------------

    def _go_to(self, match: Match) -> None:
        before, self.current = self.current, match
        self._is_awaited = True
        self._transcript.show_row(match.message)
        for row in self._transcript.rows:
            if row.id == match.message or (before and row.id == before.message):
                self._highlight(row)
        self._scroll()
        self.changed.emit()

    def _scroll(self) -> None:
        """Scroll to the current match, once it is rendered; until then, unfold what hides it."""
        match = self.current
        row = next((row for row in self._transcript.rows if match and row.id == match.message), None)
        if row is None or match is None:
            self._is_awaited = False
            return
        for offset, body in row.view.bodies():
            if match.start >= offset and (spans := body.spans(match.start - offset, match.stop - offset)):
                top = body.reveal(spans[0][0])
                self._transcript.stay_at(row, body.mapTo(row, QPoint(0, top)).y())
                self._is_awaited = False
                return
        row.view.unfold(match.start)

    def _highlight(self, row: MessageRow) -> None:
        self._states[row.id] = _state(row)
        _, found = self._found.get(row.id, (0, []))
        for offset, body in row.view.bodies():
            body.highlight(LAYER, list(self._selections(body, offset, found)) if self._query else [])

    def _selections(
        self, body: TextBody, offset: int, found: Sequence[Match]
    ) -> Iterator[QTextEdit.ExtraSelection]:
        colours = theme.current()
        plain, chosen = QTextCharFormat(), QTextCharFormat()
        plain.setBackground(QColor(colours.found))
        chosen.setBackground(QColor(colours.accent))
        chosen.setForeground(QColor(colours.on_accent))
        for match in found[:MOST_PER_TEXT]:
            if match != self.current:
                yield from _selected(body, match, offset, plain)
        if self.current is not None and self.current in found:
            yield from _selected(body, self.current, offset, chosen)

    def _clear(self) -> None:
        self._states.clear()
        self._is_awaited = False
        for row in self._transcript.rows:
            for _, body in row.view.bodies():
                body.highlight(LAYER, [])


def _selected(
    body: TextBody, match: Match, offset: int, shown: QTextCharFormat
) -> Iterator[QTextEdit.ExtraSelection]:
    spans = body.spans(match.start - offset, match.stop - offset) if match.start >= offset else []
    for position, length in spans:
        selection = QTextEdit.ExtraSelection()
        selection.cursor = QTextCursor(body.document())
        selection.cursor.setPosition(position)
        selection.cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
        selection.format = shown
        yield selection


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _state(row: MessageRow) -> object:
    """Return what changes whenever the row shows other text."""
    bodies = [(offset, body.document().revision()) for offset, body in row.view.bodies()]
    return row, len(row.view.text), bodies, theme.current().found
