"""Read the header of a GGUF file, which holds metadata and the list of tensors, and validate it as untrusted.

The layout, little-endian (ggml-org/ggml docs/gguf.md): "GGUF", uint32 version, uint64 number of tensors,
uint64 number of metadata entries; for each metadata entry, string key, uint32 type, value; for each tensor,
string name, uint32 number of dimensions, uint64 size of each dimension (the contiguous one first), uint32
ggml type, uint64 offset into the data section; then padding to `general.alignment`, and the data section. A
string is a uint64 length and UTF-8 bytes. Nothing here depends on the model's architecture.
"""

import os
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from engine import reads
from engine.checkpoints.checkpoint import Span, truncated
from engine.checkpoints.storage import BLOCKS, GGML_TYPES, stored_nbytes
from engine.errors import BadCheckpoint, UnsupportedModel

T = TypeVar("T")

Scalar = bool | int | float | str
Value = Scalar | list[str] | NDArray[np.generic]

DAMAGED = "The file is damaged or was created by a faulty program. Download it again or choose another file."
# Limits on a header, so that a damaged count costs neither memory nor time. They are far above real files:
# the header of Gemma 3, one of the largest, has 262 k tokens, 515 k merges and 20 MB; a mixture with separate
# experts has 2 k tensors.
HEADER_LIMIT = 64 << 20
STRINGS_LIMIT = 3 << 19
ENTRIES_LIMIT = 1 << 15
KEY_LIMIT = 1 << 16
NAME_LIMIT = 256  # llama.cpp: 64
ALIGNMENT_LIMIT = 1 << 16
READ_AHEAD = 4 << 20
FIRST_READ = 4 << 10  # where only the architecture is asked for

STRING, ARRAY, BOOL = 8, 9, 7
NUMBERS = {
    0: "<u1",
    1: "<i1",
    2: "<u2",
    3: "<i2",
    4: "<u4",
    5: "<i4",
    6: "<f4",
    BOOL: "?",
    10: "<u8",
    11: "<i8",
    12: "<f8",
}

_uint64 = struct.Struct("<Q").unpack_from


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """One entry in the list of tensors. Attributes as in `Span`; `name` is the tensor's name in the file."""

    file: Path
    name: str
    shape: tuple[int, ...]
    storage: str
    offset: int
    nbytes: int
    modified: int

    def span(self) -> Span:
        return Span(self.file, self.offset, self.nbytes, self.shape, self.storage, self.modified)


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """Everything before the data section. `nbytes`: its size; `metadata`: by key; `tensors`: by name."""

    nbytes: int
    version: int
    metadata: dict[str, Value]
    tensors: dict[str, GgufTensor]


def read_header(path: Path, limit: int = HEADER_LIMIT) -> GgufHeader:
    """Parse and validate the header of the GGUF file at `path`.

    limit: the maximum size of the header in bytes. Raises `BadCheckpoint` if the header is invalid or cannot
    be read; `UnsupportedModel` if its version or a number format is not supported.
    """

    return _parsed(path, lambda file: _Parser(path, file, limit).header())


def read_architecture(path: Path) -> str:
    """Return `general.architecture` of the GGUF file at `path`, or "". Reads no further than that, which is
    the first entry in the files of gguf-py.

    Raises `BadCheckpoint` and `UnsupportedModel` as `read_header` does.
    """
    return _parsed(path, lambda file: _Parser(path, file, HEADER_LIMIT, FIRST_READ).architecture())


def _parsed(path: Path, parse: Callable[[FileIO], T]) -> T:
    def read() -> T:
        with reads.opened(path) as file:
            return parse(file)

    try:
        return reads.aside(read)
    except OSError as error:
        raise BadCheckpoint(
            f"{path.name} cannot be read: {error.strerror}.", "Check the file and the disk."
        ) from error


class _Parser:
    """A parser that reads the header of one file from start to end.

    It reads ahead in pieces; parsing more than `limit` bytes is an error. Attributes: `buffer`, the bytes
    read so far; `at`, the current position in it; `strings`, the number of strings in arrays so far.
    """

    def __init__(self, path: Path, file: FileIO, limit: int, ahead: int = READ_AHEAD) -> None:
        """ahead: the least number of bytes to read at once."""
        self.path = path
        self.file = file
        self.limit = limit
        self.ahead = ahead
        state = os.fstat(file.fileno())
        self.file_nbytes = state.st_size
        self.modified = state.st_mtime_ns
        self.buffer = bytearray()
        self.at = 0
        self.strings = 0

    def header(self) -> GgufHeader:
        version, tensor_count, entry_count = self.beginning()
        metadata: dict[str, Value] = {}
        for _ in range(entry_count):
            key, value = self.entry()
            if key in metadata:
                raise self.bad(f"metadata key {key[:80]!r} appears twice")
            metadata[key] = value
        alignment = metadata.get("general.alignment", 32)
        if type(alignment) is not int or not 0 < alignment <= ALIGNMENT_LIMIT or alignment & (alignment - 1):
            raise self.bad(f"its alignment {alignment!r} is not a power of two")
        entries = [self.tensor() for _ in range(tensor_count)]
        start = self.at + -self.at % alignment
        return GgufHeader(start, version, metadata, self.place(entries, start, alignment))

    def architecture(self) -> str:
        """Parse the metadata up to the name of the architecture, and return that, or "" if it has none."""
        _, _, entry_count = self.beginning()
        for _ in range(entry_count):
            key, value = self.entry()
            if key == "general.architecture":
                return value if isinstance(value, str) else ""
        return ""

    def beginning(self) -> tuple[int, int, int]:
        """Parse what stands before the metadata: the version, the number of tensors, and that of metadata
        entries."""
        if self.take(4) != b"GGUF":
            raise BadCheckpoint(f"{self.path.name} is not a GGUF file.", DAMAGED)
        version = int(self.number("<u4"))
        if version.to_bytes(4, "little") in (b"\0\0\0\2", b"\0\0\0\3"):
            raise UnsupportedModel(
                f"{self.path.name} is a big-endian GGUF file, which is not supported.",
                "Choose a little-endian file.",
            )
        if version not in (2, 3):
            raise UnsupportedModel(
                f"{self.path.name} has GGUF version {version}; only versions 2 and 3 are supported.",
                "Choose a file in GGUF version 2 or 3.",
            )
        tensor_count = self.count("tensors", ENTRIES_LIMIT, 8 + 4 + 8 + 4 + 8)
        return version, tensor_count, self.count("metadata entries", ENTRIES_LIMIT, 8 + 4 + 1)

    def entry(self) -> tuple[str, Value]:
        """Parse one entry of the metadata: its key and its value."""
        return self.text(KEY_LIMIT), self.value(int(self.number("<u4")))

    # -- the list of tensors ---------------------------------------------------------------------------------

    def tensor(self) -> GgufTensor:
        """Parse one entry in the list of tensors. Its `offset` is from the start of the data section."""
        name = self.text(NAME_LIMIT)
        if not (name.isascii() and name.isprintable()):
            raise self.bad(f"a tensor has the name {name!r}")
        dimensions = int(self.number("<u4"))
        if not 1 <= dimensions <= 4:
            raise self.bad(f"tensor {name!r} has {dimensions} dimensions")
        shape = tuple(int(self.number("<u8")) for _ in range(dimensions))[::-1]
        if min(shape) < 1:
            raise self.bad(f"tensor {name!r} has the shape {shape}")
        kind = int(self.number("<u4"))
        offset = int(self.number("<u8"))
        if kind not in GGML_TYPES:
            raise UnsupportedModel(
                f"{self.path.name} stores {name!r} in ggml format {kind}, which is not supported.",
                "Choose a file in another quantization, for example Q4_K_M or Q8_0.",
            )
        storage = GGML_TYPES[kind]
        nbytes = stored_nbytes(storage, shape)
        if not nbytes:
            raise self.bad(
                f"{name!r} has rows of {shape[-1]} values, not whole blocks of {BLOCKS[storage][0]}"
            )
        return GgufTensor(self.path, name, shape, storage, offset, nbytes, self.modified)

    def place(self, entries: list[GgufTensor], start: int, alignment: int) -> dict[str, GgufTensor]:
        """Return the entries by name, with offsets from the start of the file.

        start: the offset of the data section. Raises `BadCheckpoint` if an entry is listed twice, is not
        aligned, ends outside the file, or overlaps another.
        """
        tensors: dict[str, GgufTensor] = {}
        end = 0
        for entry in sorted(entries, key=lambda entry: entry.offset):
            if entry.name in tensors:
                raise self.bad(f"tensor {entry.name!r} appears twice")
            if entry.offset % alignment:
                raise self.bad(f"tensor {entry.name!r} is not aligned to {alignment} bytes")
            if entry.offset < end:
                raise self.bad(f"tensor {entry.name!r} overlaps another")
            end = entry.offset + entry.nbytes
            tensors[entry.name] = replace(entry, offset=start + entry.offset)
        if tensors and start + end > self.file_nbytes:
            raise truncated(self.path, self.file_nbytes, start + end)
        return tensors

    # -- values ----------------------------------------------------------------------------------------------

    def value(self, kind: int) -> Value:
        if kind in NUMBERS:
            return self.number(NUMBERS[kind])
        if kind == STRING:
            return self.text(HEADER_LIMIT)
        if kind == ARRAY:
            return self.array(int(self.number("<u4")))
        raise self.bad(f"a metadata value has the unknown type {kind}")

    def array(self, kind: int) -> Value:
        if kind in NUMBERS:
            dtype = np.dtype(NUMBERS[kind])
            count = self.count("array items", HEADER_LIMIT, dtype.itemsize)
            return np.frombuffer(self.take(count * dtype.itemsize), dtype)
        if kind == STRING:
            return self.texts(self.count("strings", STRINGS_LIMIT - self.strings, 8))
        raise self.bad(f"a metadata array holds items of type {kind}")

    def number(self, dtype: str) -> bool | int | float:
        kind = np.dtype(dtype)
        number: bool | int | float = np.frombuffer(self.take(kind.itemsize), kind)[0].item()
        return number

    def count(self, what: str, limit: int, least_nbytes: int) -> int:
        """Read a uint64 count of items.

        Raises `BadCheckpoint` if it exceeds `limit`, or if the rest of the file is too short for so many
        items of at least `least_nbytes` each. what: the items, for the message.
        """
        count = int(self.number("<u8"))
        if count > limit:
            raise self.bad(f"it declares {count:,} {what}")
        if self.at + count * least_nbytes > self.file_nbytes:
            raise truncated(self.path, self.file_nbytes, self.at + count * least_nbytes)
        return count

    def text(self, limit: int) -> str:
        nbytes = self.count("bytes of text", limit, 1)
        try:
            return self.take(nbytes).decode()
        except UnicodeDecodeError as error:
            raise self.bad("a string in its metadata is not UTF-8") from error

    def texts(self, count: int) -> list[str]:
        """Read `count` strings. Avoids calls of `text`, because the lists of tokens and merges are long."""
        self.strings += count
        texts: list[str] = []
        at, buffer = self.at, self.buffer
        try:
            for _ in range(count):
                if at + 8 > len(buffer):
                    self.fill(at + 8)
                end = at + 8 + _uint64(buffer, at)[0]
                if end > len(buffer):
                    self.fill(end)
                texts.append(buffer[at + 8 : end].decode())
                at = end
        except UnicodeDecodeError as error:
            raise self.bad("a string in its metadata is not UTF-8") from error
        self.at = at
        return texts

    # -- bytes -----------------------------------------------------------------------------------------------

    def take(self, nbytes: int) -> bytes:
        end = self.at + nbytes
        if end > len(self.buffer):
            self.fill(end)
        taken = bytes(self.buffer[self.at : end])
        self.at = end
        return taken

    def fill(self, end: int) -> None:
        """Read until the buffer holds at least the first `end` bytes of the file."""
        if end > self.file_nbytes:
            raise truncated(self.path, self.file_nbytes, end)
        if end > self.limit:
            raise self.bad(f"its header is larger than {self.limit:,} bytes")
        more = bytearray(max(end - len(self.buffer), self.ahead))
        self.buffer += more[: reads.fill(more, self.file)]
        if end > len(self.buffer):
            raise truncated(self.path, len(self.buffer), end)

    def bad(self, reason: str) -> BadCheckpoint:
        return BadCheckpoint(f"{self.path.name} is invalid: {reason}.", DAMAGED)
