"""A file on its way: name.part, and beside it name.part.json, which says what it is a part of.

Each byte goes to the system at once and in order, so where only this process dies, the length of name.part is
the truth. After the machine itself went down, only what was synced is.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

import msgspec
import psutil

from engine.hub import disk, names
from engine.hub.digest import READ_NBYTES, Digest
from engine.hub.item import RemoteFile
from engine.hub.stop import Stop

SYNC_NBYTES = 64 << 20  # at most so much is fetched again after a power failure


@dataclass(frozen=True, slots=True)
class Sidecar:
    """Attributes: `file` this is to become; `etag` of the answer it comes from, "" where it had none;
    `synced` bytes are on the disk for certain, with the SHA-256 `digest`; `whole`: all of it, and checked."""

    file: RemoteFile
    etag: str = ""
    synced: int = 0
    digest: str = ""
    whole: bool = False


class Part:
    """The part of `file` that is here; `place` is where the whole file will lie. Belongs to one thread.

    Attributes: `position`, bytes that are here; `etag` of the answer they come from; `whole`: complete, and
    its checksum found right; then `sha256`. All methods raise `DiskFull` or `DiskProblem`.
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

    def open(self, stop: Stop, watch: Callable[[int], None]) -> None:
        """Take up what an earlier run left, hashed again; `watch` hears how many bytes are. Raises
        `Stopped`."""
        with disk.named_errors(f"reading {self.path.name}"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._opened = FileIO(self.path, "r+" if self.path.exists() else "x+")
            known = read_sidecar(self.sidecar)
            if known is None or not known.file.same_content(self.file):
                self.restart()
                return
            size = min(os.fstat(self._file.fileno()).st_size, self.file.nbytes)
            if known.whole and size == self.file.nbytes:
                self._synced, self._synced_digest = size, known.digest
                self.position, self.whole = size, True
                return
            if self.path.stat().st_mtime < psutil.boot_time():
                size = min(size, known.synced)
            self.etag = known.etag
            if self._hash_prefix(size, known, stop, watch):
                self._file.truncate(size)
                self._file.seek(size)
            else:
                self.restart()

    def _hash_prefix(self, size: int, known: Sidecar, stop: Stop, watch: Callable[[int], None]) -> bool:
        """False where the synced bytes are no longer what they were."""
        while self.position < size:
            stop.check()
            border = known.synced if self.position < known.synced <= size else size
            data = self._file.read(min(READ_NBYTES, border - self.position))
            if not data:
                return False
            self._digest.update(data)
            self.position += len(data)
            watch(self.position)
            if self.position == known.synced:
                self._synced, self._synced_digest = self.position, self._digest.sha256()
                if self._synced_digest != known.digest:
                    return False
        return True

    def begin(self, etag: str) -> None:
        """What is appended from now on comes from an answer with this ETag."""
        if etag != self.etag:
            self.etag = etag
            with disk.named_errors(f"writing {self.path.name}"):
                self._write_sidecar()

    def append(self, data: bytes) -> None:
        left = memoryview(data)
        with disk.named_errors(f"writing {self.path.name}"):
            while left:
                written = self._file.write(left)  # a disk that runs full takes a part of it
                self._digest.update(left[:written])
                self.position += written
                left = left[written:]
            if self.position - self._synced >= SYNC_NBYTES:
                self._sync()
                disk.check_reserve(self.path.parent)

    def restart(self) -> None:
        """Nothing of it is kept."""
        with disk.named_errors(f"writing {self.path.name}"):
            self._file.seek(0)
            self._file.truncate()
            self.position, self.etag = 0, ""
            self._synced, self._synced_digest = 0, ""
            self._digest = Digest(self.file)
            self._write_sidecar()

    def finish(self) -> bool:
        """Call with all bytes here: whether they are the right ones. They then lie safely on the disk."""
        if self._digest.matches():
            self.whole = True
            with disk.named_errors(f"writing {self.path.name}"):
                self._sync()
        return self.whole

    def close(self) -> None:
        """Keeps what is here, as far as the disk lets it."""
        if self._opened is None:
            return
        with self._opened, suppress(OSError):
            if self.position > self._synced:
                self._sync()
        self._opened = None

    def _sync(self) -> None:
        """What is here survives a power failure."""
        os.fsync(self._file.fileno())
        self._synced, self._synced_digest = self.position, self._digest.sha256()
        self._write_sidecar()

    def _write_sidecar(self) -> None:
        known = Sidecar(self.file, self.etag, self._synced, self._synced_digest, self.whole)
        disk.write_whole(self.sidecar, msgspec.json.encode(known))


def read_sidecar(path: Path) -> Sidecar | None:
    """None where there is none that can be understood."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Sidecar)
    except (OSError, msgspec.MsgspecError):
        return None


def nbytes_here(place: Path, file: RemoteFile) -> int:
    """Bytes of `file` that need not be fetched again, if their checksum holds."""
    known = read_sidecar(place.with_name(place.name + names.SIDECAR))
    path = place.with_name(place.name + names.PART)
    if known is None or not known.file.same_content(file) or not path.is_file():
        return 0
    return min(path.stat().st_size, file.nbytes)


def delete(place: Path) -> None:
    """What is here of the file that was to lie at `place`. Raises `DiskProblem`."""
    with disk.named_errors(f"deleting {place.name}"):
        for ending in (names.PART, names.SIDECAR):
            place.with_name(place.name + ending).unlink(missing_ok=True)
