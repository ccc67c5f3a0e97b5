"""Finds calls in a text that arrives in pieces.

A format reads characters, one at a time, with a generator that asks for the next one by `yield`. So it is
written like a parser of a whole text, and the cuts between the pieces cannot change what it finds. Text that
turns out to be no call is given back as text.
"""

import contextlib
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Generator
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
    """Raised at a `yield` if there is no next character."""


class CallReader(ABC):
    """Reads one answer. A format has the marks with which calls begin, and reads what follows one; `closing`
    is the mark with which they end, or ""."""

    marks: tuple[str, ...] = ()
    closing = ""

    def __init__(self, names: Collection[str] | None = None) -> None:
        """names: the functions that may be called; all others are text. None: any."""
        self._names = names
        self._found: list[Found] = []
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
        try:
            return (yield)
        except EndOfText:
            self.emit("text", "".join(held))
            raise

    def spaces(self, held: str) -> Reading[tuple[str, str]]:
        """Skip white space. Return `held` with it and with the next character, and that character."""
        while True:
            character = yield from self.next(held)
            held += character
            if not character.isspace():
                return held, character

    def value(self) -> Reading[None]:
        """Read the arguments, a JSON object of which "{" has been read, up to its end."""
        self.emit("arguments", "{")
        brackets = Brackets()
        brackets.add("{")
        while brackets.depth:
            character = yield
            brackets.add(character)
            self.emit("arguments", character)

    def record(self, before: str, stops: tuple[str, ...] = (), begun: str = "{") -> Reading[str | None]:
        """Read a call as a JSON object with the function's name and its arguments, of which `begun` has been
        read.

        before: what is text if it is no call, `begun` included. stops: marks that end it, too. Return the
        mark that has ended it, or ""; None if it is text.
        """
        body = ""  # behind `begun`
        may_be_header = True  # only the first object within can be the arguments
        brackets = Brackets()
        for character in begun:
            brackets.add(character)
        while brackets.depth:
            character = yield from self.next(before, body)
            body += character
            brackets.add(character)
            if may_be_header and character == "{" and not brackets.is_text:
                may_be_header = False
                if self._is_header(begun + body):
                    self.emit("name", self._name)
                    yield from self.value()
                    return (yield from self.rest(stops))
            stop = "" if brackets.is_text else next((mark for mark in stops if body.endswith(mark)), "")
            if stop:
                body = body[: -len(stop)]
                if self._is_whole(begun + body):
                    return stop
                self.emit("text", before + body)
                if stop in self.marks:
                    return stop
                self.emit("text", stop)
                return None
        if self._is_whole(begun + body):
            return ""
        self.emit("text", before + body)
        return None

    def records(self, held: str, stops: tuple[str, ...] = ()) -> Reading[tuple[str, str]]:
        """Read a list of calls as JSON objects, of which "[" has been read.

        held: what is text if it is no list, "[" included. stops: marks that end a call and the list, too.
        Return the mark that has ended them, or "", and what has been read behind the calls, without the
        list's end.
        """
        while True:
            held, character = yield from self.spaces(held)
            if character == "{":
                if stop := (yield from self.record(held, stops)):
                    return stop, ""
                held = ""
            elif character != "," or held.strip() != ",":
                return "", "" if held.strip() == "]" else held

    def end(self, held: str) -> Reading[str]:
        """Read the closing mark, with white space before it. held: how much of that has been read. Return the
        mark, or that of the next call if it comes instead; "" if what is there is text."""
        stops = (self.closing, *self.marks)
        if not held.strip():
            held, _ = yield from self.spaces(held)
        while (begun := held.lstrip()) not in stops:
            if not any(mark.startswith(begun) for mark in stops):
                self.emit("text", held)
                return ""
            held += yield from self.next(held)
        return begun

    def rest(self, stops: tuple[str, ...]) -> Reading[str]:
        """Skip what follows the arguments: up to the end of the object around them, or one of `stops`."""
        brackets = Brackets()
        brackets.add("{")
        skipped = ""
        while brackets.depth:
            character = yield
            skipped += character
            brackets.add(character)
            if stop := next((mark for mark in stops if skipped.endswith(mark)), ""):
                return stop
        return ""

    def until(self, marks: tuple[str, ...]) -> Reading[str]:
        """Skip text up to one of the marks, and return that."""
        _, mark = yield from self.up_to(*marks)
        return mark

    def up_to(self, *marks: str, begun: str = "") -> Reading[tuple[str, str]]:
        """Read text up to one of the marks; return what stands before it, and the mark: the first of those
        with which the text ends. begun: how much of the text has been read."""
        text = begun
        while not text.endswith(marks):
            text += yield
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
    `is_text`, whether the place is within a text."""

    def __init__(self) -> None:
        self.depth = 0
        self.is_text = False
        self._is_escaped = False

    def add(self, character: str) -> None:
        if self._is_escaped:
            self._is_escaped = False
        elif self.is_text:
            self._is_escaped = character == "\\"
            self.is_text = character != '"'
        elif character == '"':
            self.is_text = True
        elif character in "{[":
            self.depth += 1
        elif character in "}]":
            self.depth -= 1
