"""The thought with which an answer begins, recognised by the marks of known models. Imports no Qt."""

import re
from typing import NamedTuple

from engine.protocol.thoughts import ANSWER_HEADERS, THOUGHT_MARKS

# Some chat templates open the thought in the prompt; the answer then only closes it.
_BARE_CLOSING = re.compile(r"^[ \t]*</think>", re.MULTILINE)

_EMPTY_LINES = re.compile(r"\n*")
_ANSWER = re.compile(
    r"\s*(?:<\|start\|>assistant)?(?:<\|channel\|>final<\|message\|>|<\|begin_of_solution\|>)?\s*"
)


class Thought(NamedTuple):
    """Where in a text the thought is: [start, stop). The answer starts at index `answer`.

    Attributes:
        is_open: whether the thought is not closed yet, so that all of the text belongs to it.
        is_empty: whether there is none, but a header of the answer.
    """

    start: int
    stop: int
    answer: int
    is_open: bool

    @property
    def is_empty(self) -> bool:
        return self.start == self.stop and not self.is_open


def find(text: str, is_whole: bool = False, opened: str = "") -> Thought | None:
    """Return the thought that `text` begins with, or None.

    is_whole: whether `text` is complete. If not, a text that ends within an opening mark counts as a thought.
    opened: the mark of a thought that has been opened before the text, or "".
    """
    begin = len(text) - len(text.lstrip())
    head = text[begin : begin + 40]
    for header in ANSWER_HEADERS:
        if head.startswith(header):
            return Thought(begin, begin, begin + len(header), False)
    for opening, closing in THOUGHT_MARKS.items():
        if head.startswith(opening):
            start = begin + len(opening)
            stop = text.find(closing, start)
            return _closed(text, start, stop, stop + len(closing)) if stop >= 0 else _open(text, start)
        if not is_whole and len(head) > 1 and opening.startswith(head):
            return _open(text, len(text))
    if opened:
        closing = THOUGHT_MARKS.get(opened, opened)
        stop = text.find(closing)
        return _closed(text, 0, stop, stop + len(closing)) if stop >= 0 else _open(text, 0)
    closed = _BARE_CLOSING.search(text)
    return _closed(text, 0, closed.start(), closed.end()) if closed else None


def _open(text: str, start: int) -> Thought:
    return Thought(_skip(_EMPTY_LINES, text, start), len(text), len(text), True)


def _closed(text: str, start: int, stop: int, end: int) -> Thought:
    return Thought(_skip(_EMPTY_LINES, text, start), stop, _skip(_ANSWER, text, end), False)


def _skip(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start
