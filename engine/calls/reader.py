"""Finds calls in a text that arrives in pieces.

A format reads characters, one at a time, with a generator that waits for the next one by `yield`. So it is
written like a parser of a whole text, and the cuts between the pieces cannot change what it finds. Text that
turns out to be no call is given back as text.
"""

import contextlib
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Collection, Generator, Sequence
from typing import Any, Literal, TypeVar

import msgspec

from engine.protocol.thoughts import overlap

LONGEST_NAME = 256  # characters, with the white space around it

T = TypeVar("T")
Reading = Generator[None, str, T]  # receives the next character
# What was found: text beside calls, the name of a function that is called, a piece of its arguments
Found = tuple[Literal["text", "name", "arguments"], str]

_HEADER = re.compile(
    r'\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"name"\s*:\s*"([^"\\]+)"\s*,\s*"(?:arguments|parameters)"\s*:\s*\{'
)


class EndOfText(Exception):
    """Raised where the next character is read if there is none."""


class CallReader(ABC):
    """Reads one answer. A format has the marks with which calls begin, and reads what follows one."""

    marks: tuple[str, ...] = ()

    def __init__(self, names: Collection[str] | None = None) -> None:
        """names: the functions that may be called; all others are text. None: any."""
        self._names = names
        self._found: list[Found] = []
        self._ahead: deque[str] = deque()  # characters that were looked at, to be read again
        self._is_complete = False  # whether there is no text behind those
        self._machine = self.read()
        next(self._machine)

    def add(self, text: str) -> list[Found]:
        """Add a piece; return what it brings."""
        for character in text:
            self._machine.send(character)
        return self._taken()

    def finish(self) -> list[Found]:
        """Return what was held back: the text is complete."""
        with contextlib.suppress(EndOfText):
            self._machine.throw(EndOfText)
        return self._taken()

    def read(self) -> Reading[None]:
        """Read the whole answer: texts, and a call after each mark."""
        while True:
            mark = yield from self.text()
            while mark:
                mark = yield from self.call(mark)

    @abstractmethod
    def call(self, mark: str) -> Reading[str]:
        """Read a call, of which `mark` has been read. Return the mark of the next call if it has been read
        too, or else ""."""

    def text(self) -> Reading[str]:
        """Read text up to a mark, and return the mark."""
        held = ""
        while True:
            held += yield from self.next(held)
            for mark in self.marks:
                if held.endswith(mark):
                    self.emit("text", held[: -len(mark)])
                    return mark
            keep = max((overlap(held, mark) for mark in self.marks), default=0)
            self.emit("text", held[: len(held) - keep])
            held = held[len(held) - keep :]

    def next(self, *held: str) -> Reading[str]:
        """Read a character. held: what is text if there is none; it is joined only then."""
        if self._ahead:
            return self._ahead.popleft()
        try:
            if self._is_complete:
                raise EndOfText
            return (yield)
        except EndOfText:
            self._is_complete = True
            self.emit("text", "".join(held))
            raise

    def again(self, characters: Sequence[str]) -> None:
        """Have characters that were read, the last ones, read again."""
        self._ahead.extendleft(reversed(characters))

    def no_call(self, held: str) -> None:
        """Give what was read as text, but for its last character: the next mark may begin with it."""
        self.emit("text", held[:-1])
        self.again(held[-1])

    def mark(self, marks: tuple[str, ...]) -> Reading[str]:
        """Read one of the marks if it comes next, and return it. If not, return "": nothing has been read."""
        begun = ""
        with contextlib.suppress(EndOfText):
            while any(mark.startswith(begun) for mark in marks):
                if begun in marks:
                    return begun
                begun += yield from self.next()
        self.again(begun)
        return ""

    def spaces(self, held: str, others: str = "") -> Reading[tuple[str, str]]:
        """Skip white space and the characters `others`. Return `held` with what was skipped and with the next
        character, and that character."""
        while True:
            character = yield from self.next(held)
            held += character
            if not character.isspace() and character not in others:
                return held, character

    def value(self, stops: tuple[str, ...]) -> Reading[str]:
        """Read the arguments, a JSON object of which "{" has been read, up to its end or to one of the marks
        `stops`, which cuts them off. Return that mark, or ""."""
        self.emit("arguments", "{")
        brackets, stop = Brackets("{"), ""
        while brackets.depth and not stop:
            piece, stop = yield from self.piece(brackets, stops)
            self.emit("arguments", piece)
        return stop

    def piece(self, brackets: "Brackets", stops: tuple[str, ...], *held: str) -> Reading[tuple[str, str]]:
        """Read on in JSON. Return the next character, or the rest of a text with a mark in it, and ""; or ""
        and the mark that cuts the JSON off.

        brackets: follows what is read. stops: the marks that cut it off, be it in a text, unless that text
        ends like one of JSON. held: as in `next`.
        """
        stop = yield from self.mark(stops)
        if not stop:
            piece = yield from self.next(*held)
        elif brackets.is_text and (rest := (yield from self._rest_of_text())):
            piece = stop + rest
        else:
            return "", stop
        for character in piece:
            brackets.add(character)
        return piece, ""

    def _rest_of_text(self) -> Reading[str]:
        """Read the rest of a text of JSON, and return it. Return "" if it has no end, or what follows
        is no JSON: nothing has been read."""
        text, behind = "", ""
        brackets = Brackets('"')
        with contextlib.suppress(EndOfText):
            while brackets.is_text:
                text += yield from self.next()
                brackets.add(text[-1])
            while not behind or behind[-1].isspace():
                behind += yield from self.next()
        self.again(behind)
        if behind[-1:] in (",", ":", "}", "]"):
            return text
        self.again(text)
        return ""

    def record(self, before: str, stops: tuple[str, ...], begun: str = "{") -> Reading[str | None]:
        """Read a call as a JSON object with the function's name and its arguments, of which `begun` has been
        read.

        before: what is text if it is no call, `begun` included. stops: marks that end it, too. Return the
        mark that has ended it, or ""; None if it is text.
        """
        body, stop = "", ""  # behind `begun`
        may_be_header = True  # only the first object within can be the arguments
        brackets = Brackets(begun)
        while brackets.depth and not stop:
            piece, stop = yield from self.piece(brackets, stops, before, body)
            body += piece
            if may_be_header and piece == "{" and not brackets.is_text:
                may_be_header = False
                if self._is_header(begun + body):
                    self.emit("name", self._name)
                    stop = yield from self.value(stops)
                    return stop or (yield from self.rest(stops))
        if self._is_whole(begun + body):
            return stop
        self.emit("text", before + body)
        if stop in self.marks:
            return stop
        self.emit("text", stop)
        return None

    def records(self, held: str, stops: tuple[str, ...]) -> Reading[str | None]:
        """Read a list of calls as JSON objects, of which "[" has been read.

        held: what is text if it is no list, "[" included. stops: marks that end a call and the list, too.
        Return the mark that has ended them, or ""; None if it is text.
        """
        is_list = False
        while True:
            held, character = yield from self.spaces(held)
            if character == "{":
                if stop := (yield from self.record(held, stops)):
                    return stop
                held, is_list = "", True
            elif not is_list:
                self.no_call(held)
                return None
            elif held.strip() != ",":
                self.again("" if held.strip() == "]" else held)
                return ""

    def rest(self, stops: tuple[str, ...]) -> Reading[str]:
        """Skip what follows the arguments, up to the end of the object around them or to one of the marks
        `stops`, and return that mark, or "". What cannot belong to the object is read again."""
        held = ""
        for following in (",", '"'):
            held, character = yield from self.spaces(held)
            if character == "}":
                return ""
            if character != following:
                self.again(held)
                return ""
        brackets, stop = Brackets('{"'), ""
        while brackets.depth and not stop:
            piece, stop = yield from self.piece(brackets, stops, held)
            held += piece
        return stop

    def end(self, closing: str) -> Reading[str]:
        """Read the closing mark, with white space and needless brackets before it. Return it, or the mark of
        the next call if that comes instead. Return "" if neither comes: nothing has been read."""
        held, character = yield from self.spaces("", "}]")
        self.again(character)
        stop = yield from self.mark((closing, *self.marks))
        if not stop:
            self.again(held[:-1])
        return stop

    def until(self, marks: tuple[str, ...]) -> Reading[str]:
        """Skip text up to one of the marks, and return that."""
        _, mark = yield from self.up_to(*marks)
        return mark

    def up_to(self, *marks: str, begun: str = "") -> Reading[tuple[str, str]]:
        """Read text up to one of the marks; return what stands before it, and the mark: the first of those
        with which the text ends. begun: how much of the text has been read."""
        text = begun
        while not text.endswith(marks):
            text += yield from self.next()
        stop = next(mark for mark in marks if text.endswith(mark))
        return text.removesuffix(stop), stop

    def emit(self, kind: Literal["text", "name", "arguments"], text: str) -> None:
        if text:
            self._found.append((kind, text))

    def emit_call(self, name: str, arguments: object) -> None:
        self.emit("name", name)
        self.emit("arguments", msgspec.json.encode(arguments).decode())

    def _is_header(self, body: str) -> bool:
        """Return whether the object's fields so far are a function's name and the beginning of its
        arguments. Keep the name."""
        header = _HEADER.fullmatch(body)
        self._name = header[1] if header else ""
        return bool(header) and (self._names is None or self._name in self._names)

    def _is_whole(self, body: str) -> bool:
        """Take a complete object for a call, whatever the order of its fields. Return whether it is one."""
        try:
            content: Any = msgspec.json.decode(body)
        except (ValueError, RecursionError):
            return False
        match content:
            case {"name": str() as name, "arguments": dict() as given}:
                pass
            case {"name": str() as name, "parameters": dict() as given}:
                pass
            case {"name": str() as name, **others} if not others:
                given = {}
            case _:
                return False
        if not name or (self._names is not None and name not in self._names):
            return False
        self.emit_call(name, given)
        return True

    def _taken(self) -> list[Found]:
        """Return what was found, and forget it. Neighbours of the same kind are joined."""
        runs: list[tuple[Literal["text", "name", "arguments"], list[str]]] = []
        for kind, text in self._found:
            if runs and runs[-1][0] == kind != "name":
                runs[-1][1].append(text)
            else:
                runs.append((kind, [text]))
        self._found = []
        return [(kind, "".join(texts)) for kind, texts in runs]


class Brackets:
    """Follows the brackets of JSON, character by character. Attributes: `depth`, how many are open;
    `is_text`, whether the place is within a text.

    A closing bracket closes the nearest one of its kind and all within; without one of its kind, it is taken
    for the wrong one, and closes the nearest.
    """

    def __init__(self, begun: str) -> None:
        """begun: the JSON so far."""
        self._open: list[str] = []
        self._braces = 0  # how many of those are "{"
        self.is_text = False
        self._is_escaped = False
        for character in begun:
            self.add(character)

    @property
    def depth(self) -> int:
        return len(self._open)

    def add(self, character: str) -> None:
        if self._is_escaped:
            self._is_escaped = False
        elif character == "\\":
            self._is_escaped = True
        elif character == '"':
            self.is_text = not self.is_text
        elif self.is_text:
            pass
        elif character in "{[":
            self._open.append(character)
            self._braces += character == "{"
        elif character == "}":
            self._close("{", self._braces)
        elif character == "]":
            self._close("[", self.depth - self._braces)

    def _close(self, opening: str, count: int) -> None:
        """Close a bracket, of whose kind `count` are open."""
        while self._open:
            closed = self._open.pop()
            self._braces -= closed == "{"
            if closed == opening or not count:
                return
