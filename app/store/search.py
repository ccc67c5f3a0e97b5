"""Full-text search over all messages, for English, Korean, Chinese and Japanese alike.

Han, kana and Hangul are written with few spaces or none. Each run of them is therefore indexed as overlapping
pairs of characters, plus its last character alone. In a query, a run of two characters is one pair, a longer
run is a phrase of pairs, and a single character is the beginning of a pair. All other text is indexed by word
and found by the beginning of a word.
"""

import re
import unicodedata

from app.store.database import Database
from app.store.records import Hit

_CJK = "\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"(?:(?=\w)[{_CJK}])+|[^\W_{_CJK}]+")
_STARTS_CJK = re.compile(f"[{_CJK}]")
_BETWEEN = r"[\W_]*"
_MOST_WORDS = 32  # only so many words of a query are searched for; the query may be a pasted page
_LEAD = 40  # number of characters that an excerpt shows before the first match


def search(database: Database, query: str, limit: int = 50, before: int | None = None) -> list[Hit]:
    """Return messages that contain every word of the query, newest first.

    English words are found by their beginning; Korean, Chinese and Japanese by any part. Deleted chats and
    answers in progress are not searched. before: id of the last message of the previous page. Raises a
    StoreError if the file cannot be read.
    """
    expression = match_expression(query)
    if not expression:
        return []
    with database.reading() as connection:
        # CROSS JOIN makes SQLite read the tables in this order: it goes backwards through the index until the
        # limit is reached.
        found = connection.execute(
            "SELECT messages.id, chat, title, role, messages.created_at, text FROM found"
            " CROSS JOIN messages ON messages.id = found.rowid CROSS JOIN chats ON chats.id = chat"
            " WHERE found MATCH ? AND found.rowid < ? AND deleted_at IS NULL"
            " ORDER BY found.rowid DESC LIMIT ?",
            (expression, 2**63 - 1 if before is None else before, limit),
        ).fetchall()
    return [
        Hit(message, chat, title, role, created_at, *excerpt(text, query))
        for message, chat, title, role, created_at, text in found
    ]


class _Folds(dict[int, str]):
    """A table for `str.translate` that maps characters to lower case, without accents and in normal width.

    Each character is replaced by exactly one, so that positions in the text stay valid.
    """

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = character
        if not _STARTS_CJK.match(character):  # CJK characters can be decomposed too, but not into accents
            base, *marks = list(unicodedata.normalize("NFKD", character.lower()))
            folded = base if all(map(unicodedata.combining, marks)) else character
        self[code] = folded
        return folded


_folds = _Folds()


def fold(text: str) -> str:
    """Return `text` in lower case, without accents and in normal width; its length stays the same.

    text: must be in Unicode's composed form.
    """
    return text.lower() if text.isascii() else text.translate(_folds)


def compose(text: str) -> str:
    """Return `text` in Unicode's composed form, since some systems write 한 as three characters."""
    return unicodedata.normalize("NFC", text)


def terms(text: str) -> str:
    """Return the terms under which the text of a message is indexed, separated by spaces."""
    return " ".join(term for run in _RUN.findall(fold(compose(text))) for term in _terms_of(run))


def _terms_of(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run))] if _STARTS_CJK.match(run) else [run]


def match_expression(query: str) -> str:
    """Return the FTS5 expression for a query: all of its words must be found, each as a prefix.

    Return "" if the query has no word.
    """
    phrases = []
    for runs in _words(query):
        found = [term for run in runs for term in _terms_of(run)]
        if len(runs[-1]) > 1 and _STARTS_CJK.match(runs[-1]):
            found.pop()  # the last character alone: the pair before contains it and is found faster
        phrases.append(f'"{" ".join(found)}" *')
    return " AND ".join(phrases)


def _words(query: str) -> list[list[str]]:
    distinct = list(dict.fromkeys(fold(compose(query)).split()))
    words = map(_RUN.findall, distinct[:_MOST_WORDS])
    return [runs for runs in words if runs]


def ranges(text: str, query: str) -> list[tuple[int, int]]:
    """Return (start, end) of each match of the query's words in `text`. The matches do not overlap.

    text: must be in Unicode's composed form.
    """
    patterns = []
    for runs in sorted(_words(query), key=lambda runs: -sum(map(len, runs))):
        start = "" if _STARTS_CJK.match(runs[0]) else rf"(?<![^\W_{_CJK}])"
        patterns.append(start + _BETWEEN.join(map(re.escape, runs)))
    return [found.span() for found in re.finditer("|".join(patterns), fold(text))] if patterns else []


def excerpt(text: str, query: str, length: int = 160) -> tuple[str, list[tuple[int, int]]]:
    """Return a line of about `length` characters from the text, around the first match, and (start, end) of
    each match in the line."""
    text = compose(text)
    found = ranges(text, query)
    start = max(found[0][0] - _LEAD, 0) if found and len(text) > length else 0
    if start:
        space = text.find(" ", start, found[0][0])
        start = space + 1 if space >= 0 else start
    end = start + length
    lead = "…" if start else ""
    line = lead + re.sub(r"\s", " ", text[start:end]) + ("…" if end < len(text) else "")
    shift = len(lead) - start
    return line, [(a + shift, min(b, end) + shift) for a, b in found if a < end]
