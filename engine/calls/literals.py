"""Python's literals as JSON: the values of arguments in calls that are written like Python's.

JSON's own literals are read, too. What is no literal, such as a name or a sum, is taken for a text.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

DEPTH_LIMIT = 64  # of lists within lists
Token = tuple[Literal["text", "word", "mark"], str]  # the text between quotes; a bracket, comma or colon

_NAMES = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}
_WHOLE = re.compile(r"([+-]?)(\d+)", re.ASCII)
_REAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": ""} | {
    each: each for each in "\\'\"/"
}


class _NoLiteralError(Exception):
    """The tokens are no literal."""


def as_json(tokens: Sequence[Token], source: str, kind: str) -> str:
    """Return an argument's value as JSON. source: the text of `tokens`; kind: the value's type in the schema,
    or "". A word where the schema has a text is one."""
    if kind == "string" and len(tokens) == 1 and tokens[0][0] == "word" and _NAMES.get(source) != "null":
        return _quoted(source)
    parser = _LiteralParser(tokens)
    try:
        value = parser.value()
    except (_NoLiteralError, IndexError):
        return _quoted(source)
    return value if parser.place == len(tokens) else _quoted(source)


@dataclass(slots=True)
class _LiteralParser:
    """Makes JSON of tokens. Its methods raise `_NoLiteralError`, or IndexError at the end of the tokens."""

    tokens: Sequence[Token]
    place: int = 0

    def value(self, depth: int = 0) -> str:
        kind, content = self._next()
        if kind == "text":
            return _quoted(_unescaped(content))
        if kind == "word":
            return _word(content)
        if depth == DEPTH_LIMIT:
            raise _NoLiteralError
        if content == "{":
            return "{" + ", ".join(self._items("}", depth + 1)) + "}"
        if content in "[(":
            begin = self.place
            values = self._items("]" if content == "[" else ")", depth + 1)
            is_in_brackets = (
                content == "(" and len(values) == 1 and ("mark", ",") not in self.tokens[begin : self.place]
            )
            return values[0] if is_in_brackets else "[" + ", ".join(values) + "]"
        raise _NoLiteralError

    def _items(self, end: str, depth: int) -> list[str]:
        """Return the items up to the closing bracket `end`."""
        items: list[str] = []
        while self.tokens[self.place] != ("mark", end):
            items.append(self._entry(depth) if end == "}" else self.value(depth))
            if self.tokens[self.place] == ("mark", ","):
                self.place += 1
            elif self.tokens[self.place] != ("mark", end):
                raise _NoLiteralError
        self.place += 1
        return items

    def _entry(self, depth: int) -> str:
        kind, key = self._next()
        if kind == "mark" or self._next() != ("mark", ":"):
            raise _NoLiteralError
        return f"{_quoted(_unescaped(key) if kind == 'text' else key)}: {self.value(depth)}"

    def _next(self) -> Token:
        self.place += 1
        return self.tokens[self.place - 1]


def _word(word: str) -> str:
    if word in _NAMES:
        return _NAMES[word]
    if whole := _WHOLE.fullmatch(word):
        return whole[1].replace("+", "") + (whole[2].lstrip("0") or "0")
    if _REAL.fullmatch(word) and math.isfinite(number := float(word)):
        return repr(number)
    return _quoted(word)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _unescaped(text: str) -> str:
    """Return what is between quotes without its escapes. An unknown one stays, as in Python."""
    made = _ESCAPE.sub(_character, text)
    # Pairs of surrogates are one character, lone ones none.
    return made.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(match: re.Match[str]) -> str:
    escape = match[1]
    if len(escape) > 1:
        return chr(int(escape[1:], 16))
    return _ESCAPED.get(escape, match[0])
