"""Checksums of files: SHA-256, and git's SHA-1 for files whose SHA-256 the Hub does not list."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from engine.hub.disk import READ_NBYTES
from engine.hub.item import RemoteFile
from engine.hub.stop import Stop


class Digest:
    """The checksum of the bytes of `file` received or read so far."""

    def __init__(self, file: RemoteFile) -> None:
        self._file = file
        self._sha256 = hashlib.sha256()
        self._blob = hashlib.sha1(b"blob %d\0" % file.nbytes, usedforsecurity=False)
        self._in_git = bool(file.blob_id) and not file.sha256

    def update(self, data: bytes | memoryview) -> None:
        self._sha256.update(data)
        if self._in_git:
            self._blob.update(data)

    def sha256(self) -> str:
        return self._sha256.hexdigest()

    def matches(self) -> bool:
        """Whether the checksum is the one that the Hub lists for the file.

        True if the Hub lists none; only the size can be checked then.
        """
        if self._in_git:
            return self._blob.hexdigest() == self._file.blob_id
        return self._file.sha256 in ("", self.sha256())


def digest_of(path: Path, file: RemoteFile, stop: Stop, progress: Callable[[int], None]) -> Digest:
    """Return the digest of the file at `path`, which should have the content of `file`.

    progress: called with the number of bytes read so far. Raises OSError, `Stopped`.
    """
    digest = Digest(file)
    done = 0
    with path.open("rb", buffering=0) as opened:
        while data := opened.read(READ_NBYTES):
            stop.check()
            digest.update(data)
            done += len(data)
            progress(done)
    return digest
