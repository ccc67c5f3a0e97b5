"""Passages: pieces of a file's text of some hundred tokens, found by the words of a question. Pure functions.

FTS5 ranks them by BM25. Questions and passages are folded as messages are (`search.terms`), so Korean,
Chinese and Japanese are found by pairs of characters; English words by their stem. English words that say
nothing of a topic are left out of a question: in a manual, where few sentences have “I” or “how”, BM25
would take them for telling ones. `python -m tests.retrieval` measures how often an answer is found.
"""

import re
from collections.abc import Iterator, Sequence

from app.store import search

LENGTH = 1_400  # characters of a passage: some 350 tokens
MOST_TERMS = 64  # of a question; it may be a pasted page

# Words that nearly every English question has.
_COMMON_TEXT = """
    a about after all also am an and any are as at be because been before being but by can could did do
    does doing each for from had has have having he her here him his how i if in into is it its itself
    just let may me might more most must my no nor not of on once only or other our out over own same
    shall she should so some such than that the their them then there these they this those through to
    too under until up was we were what when where which while who whom why will with would you your
"""
_COMMON = frozenset(_COMMON_TEXT.split())

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
    telling = [term for term in distinct if term not in _COMMON] or list(distinct)
    return " OR ".join(f'"{term}"' for term in telling[:MOST_TERMS])
