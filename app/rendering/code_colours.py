"""The parts of code that are worth a colour, and the names of languages. Knows no Qt."""

from functools import lru_cache
from typing import NamedTuple

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

# Lexing takes about 1 ms per KB; longer code stays plain.
MAX_HIGHLIGHTED = 20_000

# Characters at the end of growing code that may be read without what stands before them.
MAX_APART = 1_000

MAX_NAME = 24

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

Span = tuple[int, int, str]  # start, stop, keyword | name | string | number | comment


@lru_cache(maxsize=64)
def highlight(code: str, language: str) -> list[Span]:
    """Spans in order; none for unknown languages."""
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
    """Highlights code that grows without reading all of it for every piece."""

    def __init__(self) -> None:
        self._known = _Known("", "", [])

    def highlight(self, code: str, language: str) -> list[Span]:
        """As `highlight`; the last lines are read alone, unless a string or a comment goes on in them."""
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
        """A string or a comment reaches to the end and may go on."""
        if not self.spans:
            return False
        _, stop, kind = self.spans[-1]
        return kind in ("string", "comment") and stop >= len(self.code.rstrip())


def shown_name(language: str) -> str:
    """What a language is called above its code: JavaScript for js. "" stays ""."""
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
