"""A recorded run: one JSON object a line, first a header, then every event with the time it came at.

Free of torch and Qt: whoever has the file can read it, print it and play it again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from engine.errors import BadTrace, DiskProblem
from engine.protocol.messages import Event, IterationDone, Loaded, Options

FORMAT = 1  # of the file; one that a reader does not know is refused


class Header(msgspec.Struct, kw_only=True):
    """What makes the run again: the program's version, the models as they were loaded, the options with their
    seed, and the question."""

    specexec_trace: int
    version: str
    loaded: Loaded
    options: Options
    question: str


class Timed(msgspec.Struct):
    """`t`: seconds since the question."""

    t: float
    event: Event


@dataclass(frozen=True, slots=True)
class Trace:
    header: Header
    events: list[Timed]

    @property
    def iterations(self) -> list[IterationDone]:
        return [timed.event for timed in self.events if isinstance(timed.event, IterationDone)]


def header(loaded: Loaded, options: Options, question: str) -> Header:
    return Header(
        specexec_trace=FORMAT,
        version=version("specexec-desktop"),
        loaded=loaded,
        options=options,
        question=question,
    )


class Recorder:
    """Writes a trace while the run goes on. Used as a context; each line is whole on the disk before the
    next."""

    def __init__(self, path: Path, first: Header) -> None:
        """Replaces what is there. Raises DiskProblem."""
        self._path = path
        self._file = self._opened()
        self._write(first)

    def add(self, t: float, event: Event) -> None:
        """Raises DiskProblem."""
        self._write(Timed(t, event))

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._file.close()

    def _opened(self) -> IO[bytes]:
        try:
            return self._path.open("wb", buffering=0)
        except OSError as error:
            raise _problem(self._path, error) from None

    def _write(self, line: msgspec.Struct) -> None:
        try:
            self._file.write(msgspec.json.encode(line) + b"\n")
        except OSError as error:
            raise _problem(self._path, error) from None


def read(path: Path) -> Trace:
    """Half a line at the end, of a run that was killed, is left out. Raises BadTrace, DiskProblem."""
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise _problem(path, error) from None
    if not lines:
        raise BadTrace(f"{path} is no recorded run.", "Record one: specexec chat PROMPT --trace FILE.")
    return Trace(read_header(lines[0], str(path)), list(read_events(lines[1:], str(path))))


def read_header(line: bytes, name: str) -> Header:
    """name: of the file, for a person. Raises BadTrace."""
    try:
        found = msgspec.json.decode(line, type=Header)
    except msgspec.DecodeError:
        raise BadTrace(
            f"{name} is no recorded run.", "Record one: specexec chat PROMPT --trace FILE."
        ) from None
    if found.specexec_trace != FORMAT:
        raise BadTrace(
            f"{name} was recorded by version {found.version}, in another format.",
            "Read it with that version, or record it again.",
        )
    return found


def read_events(lines: list[bytes], name: str) -> Iterator[Timed]:
    """Raises BadTrace that names the line."""
    for number, line in enumerate(lines, start=2):
        try:
            yield msgspec.json.decode(line, type=Timed)
        except msgspec.DecodeError as error:
            raise BadTrace(f"Line {number} of {name} is damaged: {error}.", "Record the run again.") from None


def _problem(path: Path, error: OSError) -> DiskProblem:
    return DiskProblem(f"{path}: {error.strerror}.", "Name a file that can be read and written.")
