"""A file of records, one JSON object a line, that outlives being killed: each is on the disk before the next
is made."""

import os
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from engine.errors import BadOption, DiskProblem

Record = TypeVar("Record", bound=msgspec.Struct)


class JsonLines(Generic[Record]):
    """Attributes: `records`, those of the file and those added, in this order. Without a file they are kept
    in memory only."""

    def __init__(self, path: Path | None, kind: type[Record]) -> None:
        """Raises BadOption where the file holds something else, DiskProblem where it cannot be read."""
        self._path = path
        self.records: list[Record] = []
        if path is None or not path.exists():
            return
        try:
            data = path.read_bytes()
            whole = data.rfind(b"\n") + 1  # who was killed left half a line
            self.records += [msgspec.json.decode(line, type=kind) for line in data[:whole].splitlines()]
            if whole < len(data):
                os.truncate(path, whole)
        except msgspec.DecodeError as error:
            raise BadOption(f"{path} holds other records: {error}.", "Name a new file.") from None
        except OSError as error:
            raise _problem(path, error) from None

    def add(self, record: Record) -> None:
        """Raises DiskProblem where it cannot be written."""
        self.records.append(record)
        if self._path is None:
            return
        try:
            with self._path.open("ab") as file:
                file.write(msgspec.json.encode(record) + b"\n")
        except OSError as error:
            raise _problem(self._path, error) from None


def _problem(path: Path, error: OSError) -> DiskProblem:
    return DiskProblem(f"{path}: {error.strerror}.", "Name a file that can be read and written.")
