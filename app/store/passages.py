"""Passages: pieces of a file's text of some hundred tokens, found by the words of a question. Pure functions.

FTS5 ranks them by BM25. Questions and passages are folded as messages are (`search.terms`), so Korean,
Chinese and Japanese are found by pairs of characters; English words by their stem.
"""

import re
from collections.abc import Iterator, Sequence

from app.store import search

LENGTH = 1_400  # characters of a passage: some 350 tokens
MOST_TERMS = 64  # of a question; it may be a pasted page

# Where a passage may end, the best first: behind a paragraph, a line, a sentence, a word.
_ENDS = (re.compile(r"\n\s*\n"), re.compile(r"\n"), re.compile(r"[.!?。！？]\s*"), re.compile(r"\s"))


def split(pages: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield (number of the page counted from 1, text) of each passage. Joined, the texts of a page are the
    page."""
    for number, page in enumerate(pages, 1):
        start = 0
        while len(page) - start > LENGTH:
            end = _end(page, start)
            yield number, page[start:end]
            start = end
        if page[start:]:
            yield number, page[start:]


def _end(page: str, start: int) -> int:
    """Return where the passage that begins at `start` ends: in its second half, where the text allows it."""
    for pattern in _ENDS:
        ends = [found.end() for found in pattern.finditer(page, start + LENGTH // 2, start + LENGTH)]
        if ends:
            return ends[-1]
    return start + LENGTH


def any_term(question: str) -> str:
    """Return the FTS5 expression that finds passages with any term of the question; "" if it has none."""
    distinct = dict.fromkeys(search.terms(question).split())
    return " OR ".join(f'"{term}"' for term in list(distinct)[:MOST_TERMS])
