"""Checksums of files: SHA-256, and git's SHA-1 where the Hub knows no other."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from engine.hub.item import RemoteFile
from engine.hub.stop import Stop

READ_NBYTES = 1 << 20


class Digest:
    """Of bytes that are to become `file`."""

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
        """Where the Hub gives no checksum, the size has to do."""
        if self._in_git:
            return self._blob.hexdigest() == self._file.blob_id
        return self._file.sha256 in ("", self.sha256())


def digest_of(path: Path, file: RemoteFile, stop: Stop, watch: Callable[[int], None]) -> Digest:
    """Of what lies at `path`. `watch` hears how many bytes are read. Raises OSError, `Stopped`."""
    digest = Digest(file)
    done = 0
    with path.open("rb", buffering=0) as opened:
        while data := opened.read(READ_NBYTES):
            stop.check()
            digest.update(data)
            done += len(data)
            watch(done)
    return digest
