"""A partial download: the file name.part, and its sidecar name.part.json, which describes the whole file.

Bytes are written unbuffered and in order. So if only this process dies, all bytes in name.part are valid; if
the machine goes down, only those that were flushed to the disk before ("synced") are certain.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Annotated

import msgspec
import psutil
from msgspec import Meta

from engine.documents import read_json
from engine.files import write_whole
from engine.hub import disk, names
from engine.hub.digest import Digest
from engine.hub.disk import READ_NBYTES
from engine.hub.headers import ETAG
from engine.hub.item import Nbytes, RemoteFile
from engine.hub.stop import Stop

SYNC_NBYTES = 64 << 20  # bytes between two flushes: about as many are fetched again after a power failure


@dataclass(frozen=True, slots=True)
class Sidecar:
    """The content of a sidecar file.

    Attributes: `file`, the whole file; `etag`, the ETag of the response that the bytes come from, "" if it
    had none; `synced`, how many bytes are certainly on the disk; `digest`, the SHA-256 of these bytes;
    `whole`, whether the file is complete and its checksum right.
    """

    file: RemoteFile
    etag: Annotated[str, Meta(pattern=ETAG)] = ""
    synced: Nbytes = 0
    digest: str = ""
    whole: bool = False


class Part:
    """The partial download of `file`. Used by one thread. place: the path of the finished file.

    Attributes: `path`, the path of name.part; `sidecar`, the path of name.part.json; `position`, the number
    of bytes received; `etag`, the ETag of the response that they come from; `whole`, whether the file is
    complete and its checksum right; `sha256`, the file's SHA-256 once it is whole. All methods but `close`
    raise `DiskFull` or `DiskProblem`.
    """

    def __init__(self, place: Path, file: RemoteFile) -> None:
        self.file = file
        self.path = place.with_name(place.name + names.PART)
        self.sidecar = place.with_name(place.name + names.SIDECAR)
        self.position = 0
        self.etag = ""
        self.whole = False
        self._synced, self._synced_digest = 0, ""
        self._digest = Digest(file)
        self._opened: FileIO | None = None

    @property
    def sha256(self) -> str:
        return self._synced_digest

    @property
    def _file(self) -> FileIO:
        assert self._opened is not None
        return self._opened

    def open(self, stop: Stop, progress: Callable[[int], None]) -> None:
        """Open the file that an earlier run left, or create a new one.

        Bytes from an earlier run are hashed again, unless the file is whole and has the SHA-256 that the Hub
        lists. progress: called with the number of bytes hashed so far. Raises `Stopped`.
        """
        with disk.named_errors(f"reading {self.path.name}"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._opened = FileIO(self.path, "r+" if self.path.exists() else "x+")
            known = read_sidecar(self.sidecar)
            if known is None or not known.file.same_content(self.file):
                self.restart()
                return
            size = min(os.fstat(self._file.fileno()).st_size, self.file.nbytes)
            if known.whole and size == self.file.nbytes and known.digest == self.file.sha256:
                self._synced, self._synced_digest = size, known.digest
                self.position, self.whole = size, True
                return
            if self.path.stat().st_mtime < psutil.boot_time():
                size = min(size, known.synced)
            self.etag = known.etag
            if self._hash_prefix(size, known, stop, progress):
                self._file.truncate(size)
                self._file.seek(size)
            else:
                self.restart()

    def _hash_prefix(self, size: int, known: Sidecar, stop: Stop, progress: Callable[[int], None]) -> bool:
        """Hash the first `size` bytes. Return False if the file is too short or its synced bytes changed."""
        while self.position < size:
            stop.check()
            border = known.synced if self.position < known.synced <= size else size
            data = self._file.read(min(READ_NBYTES, border - self.position))
            if not data:
                return False
            self._digest.update(data)
            self.position += len(data)
            progress(self.position)
            if self.position == known.synced:
                self._synced, self._synced_digest = self.position, self._digest.sha256()
                if self._synced_digest != known.digest:
                    return False
        return True

    def begin(self, etag: str) -> None:
        """Record `etag`, the ETag of the response from which bytes are appended from now on."""
        if etag != self.etag:
            self.etag = etag
            with disk.named_errors(f"writing {self.path.name}"):
                self._write_sidecar()

    def append(self, data: bytes) -> None:
        left = memoryview(data)
        with disk.named_errors(f"writing {self.path.name}"):
            while left:
                written = self._file.write(left)  # only a part of the bytes, if the disk becomes full
                self._digest.update(left[:written])
                self.position += written
                left = left[written:]
            if self.position - self._synced >= SYNC_NBYTES:
                self._sync()
                disk.check_reserve(self.path.parent)

    def restart(self) -> None:
        """Discard all received bytes."""
        with disk.named_errors(f"writing {self.path.name}"):
            self._file.seek(0)
            self._file.truncate()
            self.position, self.etag = 0, ""
            self._synced, self._synced_digest = 0, ""
            self._digest = Digest(self.file)
            self._write_sidecar()

    def finish(self) -> bool:
        """Compare the complete file's checksum with the Hub's. If it is right, sync the file.

        Return whether it is right.
        """
        if self._digest.matches():
            self.whole = True
            with disk.named_errors(f"writing {self.path.name}"):
                self._sync()
        return self.whole

    def close(self) -> None:
        """Sync the received bytes, ignoring disk errors, and close the file."""
        if self._opened is None:
            return
        with self._opened, suppress(OSError):
            if self.position > self._synced:
                self._sync()
        self._opened = None

    def _sync(self) -> None:
        """Flush the received bytes to the disk, so that they survive a power failure."""
        os.fsync(self._file.fileno())
        self._synced, self._synced_digest = self.position, self._digest.sha256()
        self._write_sidecar()

    def _write_sidecar(self) -> None:
        known = Sidecar(self.file, self.etag, self._synced, self._synced_digest, self.whole)
        write_whole(self.sidecar, msgspec.json.encode(known), single_writer=True)


def read_sidecar(path: Path) -> Sidecar | None:
    """Return the content of the sidecar file at `path`; None if it is missing or damaged."""
    try:
        return read_json(path, Sidecar)
    except (OSError, ValueError):
        return None


def nbytes_here(place: Path, file: RemoteFile) -> int:
    """Return how many bytes of `file` an earlier run has received.

    They need not be fetched again, provided their checksum is right.
    """
    known = read_sidecar(place.with_name(place.name + names.SIDECAR))
    path = place.with_name(place.name + names.PART)
    if known is None or not known.file.same_content(file) or not path.is_file():
        return 0
    return min(path.stat().st_size, file.nbytes)


def delete(place: Path) -> None:
    """Delete the partial download of the file whose finished path is `place`. Raises `DiskProblem`."""
    with disk.named_errors(f"deleting {place.name}"):
        for ending in (names.PART, names.SIDECAR):
            place.with_name(place.name + ending).unlink(missing_ok=True)
