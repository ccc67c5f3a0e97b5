"""Syntax highlighting of code, and the names of languages. Imports no Qt."""

from functools import lru_cache
from typing import NamedTuple

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

# Longer code is not coloured: lexing takes about 1 ms per KB.
MAX_HIGHLIGHTED = 20_000

# Maximum number of characters at the end of growing code that are lexed without the code before them.
MAX_APART = 1_000

MAX_NAME = 24  # maximum number of characters shown of an unknown language's name

_KINDS = (
    (Keyword.Type, "name"),
    (Keyword, "keyword"),
    (Operator.Word, "keyword"),
    (Name.Tag, "keyword"),
    (String, "string"),
    (Number, "number"),
    (Comment, "comment"),
    (Name.Function, "name"),
    (Name.Class, "name"),
    (Name.Builtin, "name"),
    (Name.Decorator, "name"),
    (Name.Attribute, "name"),
)

Span = tuple[int, int, str]  # start, stop, kind: keyword | name | string | number | comment


@lru_cache(maxsize=64)
def highlight(code: str, language: str) -> list[Span]:
    """Return the coloured spans in order; none for an unknown language or code above MAX_HIGHLIGHTED."""
    lexer = _lexer(language)
    if lexer is None or len(code) > MAX_HIGHLIGHTED:
        return []
    spans: list[Span] = []
    start = 0
    for token, text in lexer.get_tokens(code):
        kind = _kind(token)
        if kind:
            spans.append((start, start + len(text), kind))
        start += len(text)
    return spans


class Growing:
    """Highlights code that grows, without lexing all of it each time text is added."""

    def __init__(self) -> None:
        self._known = _Known("", "", [])

    def highlight(self, code: str, language: str) -> list[Span]:
        """Return the spans as `highlight` does, but lex only the last lines.

        If a string or a comment may extend into these lines, all of the code is lexed again.
        """
        known = self._known
        rest = len(code) - len(known.code)
        fits = known.language == language and code.startswith(known.code) and rest <= MAX_APART
        if not fits or known.is_inside:
            whole_lines = code[: code.rfind("\n") + 1]
            known = self._known = _Known(language, whole_lines, highlight(whole_lines, language))
        begin = len(known.code)
        last = highlight(code[begin:], language)
        return known.spans + [(begin + start, begin + stop, kind) for start, stop, kind in last]


class _Known(NamedTuple):
    language: str
    code: str
    spans: list[Span]

    @property
    def is_inside(self) -> bool:
        """Whether the code ends in a string or a comment that may continue."""
        if not self.spans:
            return False
        _, stop, kind = self.spans[-1]
        return kind in ("string", "comment") and stop >= len(self.code.rstrip())


def shown_name(language: str) -> str:
    """Return the name shown above code, such as JavaScript for js; "" for ""."""
    lexer = _lexer(language)
    return str(lexer.name) if lexer else language[:MAX_NAME]


@lru_cache(maxsize=256)
def _kind(token: _TokenType) -> str:
    return next((kind for parent, kind in _KINDS if token in parent), "")


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False) if language else None
    except ClassNotFound:
        return None
