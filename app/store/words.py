"""What counts as a word of a message, for English, Korean, Chinese and Japanese alike. Pure functions.

Han, kana and Hangul are written with few spaces or none, so their runs are indexed as overlapping pairs of
characters (and the last one alone): any two characters in a row are one term, a longer piece is a phrase of
pairs, and one character is the beginning of a pair. Everything else is indexed word by word, and found by its
beginning.
"""

import re
import unicodedata

_CJK = "\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"(?:(?=\w)[{_CJK}])+|[^\W_{_CJK}]+")
_STARTS_CJK = re.compile(f"[{_CJK}]")
_BETWEEN = r"[\W_]*"
_MOST_WORDS = 32  # of a query: a pasted page is found by its beginning
_LEAD = 40  # characters of an excerpt before what was found


class _Folds(dict[int, str]):
    """Lower case without accents or width, one character for one character, so that positions stay."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = character
        if not _STARTS_CJK.match(character):  # these decompose too, but not into accents
            base, *marks = list(unicodedata.normalize("NFKD", character.lower()))
            folded = base if all(map(unicodedata.combining, marks)) else character
        self[code] = folded
        return folded


_folds = _Folds()


def fold(text: str) -> str:
    """As long as `text`, which is in Unicode's composed form."""
    return text.lower() if text.isascii() else text.translate(_folds)


def compose(text: str) -> str:
    """Unicode's composed form: some systems write 한 as three characters."""
    return unicodedata.normalize("NFC", text)


def terms(text: str) -> str:
    """What is indexed of a message."""
    return " ".join(term for run in _RUN.findall(fold(compose(text))) for term in _terms_of(run))


def _terms_of(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run))] if _STARTS_CJK.match(run) else [run]


def match(query: str) -> str:
    """The query in FTS5's language: every word of it, each found by its beginning. Empty where it has
    none."""
    phrases = []
    for runs in _words(query):
        found = [term for run in runs for term in _terms_of(run)]
        if len(runs[-1]) > 1 and _STARTS_CJK.match(runs[-1]):
            found.pop()  # the last character alone: what is before it says the same, and is found sooner
        phrases.append(f'"{" ".join(found)}" *')
    return " AND ".join(phrases)


def _words(query: str) -> list[list[str]]:
    distinct = list(dict.fromkeys(fold(compose(query)).split()))
    words = map(_RUN.findall, distinct[:_MOST_WORDS])
    return [runs for runs in words if runs]


def ranges(text: str, query: str) -> list[tuple[int, int]]:
    """(start, end) of each place in a composed `text` that the words of the query lead to; they do not
    overlap."""
    patterns = []
    for runs in sorted(_words(query), key=lambda runs: -sum(map(len, runs))):
        start = "" if _STARTS_CJK.match(runs[0]) else rf"(?<![^\W_{_CJK}])"
        patterns.append(start + _BETWEEN.join(map(re.escape, runs)))
    return [found.span() for found in re.finditer("|".join(patterns), fold(text))] if patterns else []


def excerpt(text: str, query: str, length: int = 160) -> tuple[str, list[tuple[int, int]]]:
    """A line of about `length` characters around the first place found, and the ranges in it."""
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
