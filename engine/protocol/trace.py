"""Write and read traces. A trace is a recorded run in JSON Lines: a header, then each event with its time.

Imports neither torch nor Qt. A run can be read, printed and replayed from its file alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from engine.errors import BadTrace, DiskProblem
from engine.files import open_private
from engine.protocol.messages import Event, IterationDone, Loaded, Options

FORMAT = 1  # version of the file format; other versions are refused when reading


_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class RecordedOptions(Options, forbid_unknown_fields=False):
    """The options of a recorded run. Options that only another version of the program has are ignored."""


class TraceHeader(msgspec.Struct, kw_only=True):
    """The header of a trace, which holds all that is needed to reproduce the run.

    Attributes: `specexec_trace`, the version of the file format; `version`, the program's version; `loaded`,
    the models as they were loaded; `options`, including the seed; `question`.
    """

    specexec_trace: int
    version: str
    loaded: Loaded
    options: RecordedOptions
    question: str


class TimedEvent(msgspec.Struct):
    """An event, and `t`, the seconds between the question and the event."""

    t: float
    event: Event


@dataclass(frozen=True, slots=True)
class Trace:
    """A recorded run."""

    header: TraceHeader
    events: list[TimedEvent]

    @property
    def iterations(self) -> list[IterationDone]:
        return [timed.event for timed in self.events if isinstance(timed.event, IterationDone)]


def header(loaded: Loaded, options: Options, question: str) -> TraceHeader:
    """Return the header of a new recording."""
    return TraceHeader(
        specexec_trace=FORMAT,
        version=version("specexec-desktop"),
        loaded=loaded,
        options=RecordedOptions(**msgspec.structs.asdict(options)),
        question=question,
    )


class Recorder:
    """A context manager that writes a trace during a run, each line at once and unbuffered.

    Only this user can read the file, since it holds the question and the answer.
    """

    def __init__(self, path: Path, first: TraceHeader) -> None:
        """Create the file at `path`, replacing an existing one, and write the header. Raises DiskProblem."""
        self._path = path
        self._file = self._opened()
        self._write(first)

    def add(self, t: float, event: Event) -> None:
        """Append an event. Raises DiskProblem."""
        self._write(TimedEvent(t, event))

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._file.close()

    def _opened(self) -> IO[bytes]:
        try:
            return open_private(self._path)
        except OSError as error:
            raise _problem(self._path, error) from None

    def _write(self, line: msgspec.Struct) -> None:
        try:
            self._file.write(msgspec.json.encode(line) + b"\n")
        except OSError as error:
            raise _problem(self._path, error) from None


def read(path: Path) -> Trace:
    """Return the trace in the file at `path`. An incomplete last line, left by a killed run, is ignored.

    Raises BadTrace if it is not a trace or is damaged; DiskProblem if it cannot be read.
    """
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise _problem(path, error) from None
    if not lines:
        raise BadTrace(f"{path} is not a recorded run.", "Record one: specexec chat PROMPT --trace FILE.")
    return Trace(read_header(lines[0], str(path)), list(read_events(lines[1:], str(path))))


def read_header(line: bytes, name: str) -> TraceHeader:
    """Decode the header of a trace. name: the file's name, for the error message.

    Raises BadTrace if the line is not a header or is in an unknown version of the format.
    """
    try:
        header = msgspec.json.decode(line, type=TraceHeader)
    except _UNREADABLE:
        raise BadTrace(
            f"{name} is not a recorded run.", "Record one: specexec chat PROMPT --trace FILE."
        ) from None
    if header.specexec_trace != FORMAT:
        raise BadTrace(
            f"{name} was recorded by version {header.version} in a different format.",
            "Read it with that version, or record it again.",
        )
    return header


def read_events(lines: list[bytes], name: str) -> Iterator[TimedEvent]:
    """Decode the events of a trace, one per line. name: the file's name, for the error message.

    Raises BadTrace, with the number of the line, if a line is damaged.
    """
    for number, line in enumerate(lines, start=2):
        try:
            yield msgspec.json.decode(line, type=TimedEvent)
        except _UNREADABLE as error:
            raise BadTrace(f"Line {number} of {name} is damaged: {error}.", "Record the run again.") from None


def _problem(path: Path, error: OSError) -> DiskProblem:
    return DiskProblem(f"{path}: {error.strerror}.", "Choose a file that can be read and written.")
