"""Runtime files for machines without a network: a zip of wheels, possibly split into NAME.zip.001, .002, ...

An optional file NAME.zip.sha256 beside the zip holds the SHA-256 of each part, in the format of `sha256sum`.
The wheels are not trusted: the app's own lists contain the hash of each wheel, and the installer checks it.
"""

import hashlib
import io
import lzma
import re
import struct
import zipfile
import zlib
from pathlib import Path

from msgspec import Struct

from engine.documents import json_of
from engine.hub import Stop, disk
from engine.runtime.backends import Backend, backends
from engine.runtime.errors import BadArchive
from engine.runtime.progress import SetupMeter

MANIFEST = "runtime.json"  # in the zip: {"backend": ..., "key": ...}, as in `Backend`
_MANIFEST_NBYTES = 1 << 16
_BLOCK = 1 << 20
# What zipfile raises for an archive that is damaged, encrypted, or packed in a way it does not know.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    RuntimeError,
    ArithmeticError,
    LookupError,
    EOFError,
    ValueError,
)


class _ArchiveManifest(Struct):
    """The content of the manifest, as in `Backend`."""

    backend: str
    key: str


class Archive:
    """A runtime file. path: the zip, or any of its parts.

    Attributes: `parts`, its files in order; `nbytes`, the size of all parts; `unpacked_nbytes`, the size of
    its contents when unpacked; `backend`, the backend that it installs. Raises `BadArchive` if it is not a
    runtime file, if a part is missing, or if it was made for another version of the app or another system.
    """

    def __init__(self, path: Path) -> None:
        self.parts = _parts(path)
        self.nbytes = sum(part.stat().st_size for part in self.parts)
        try:
            with Joined(self.parts) as joined, zipfile.ZipFile(joined) as archive:
                manifest = _manifest(archive)
                self.unpacked_nbytes = sum(entry.file_size for entry in archive.infolist())
        except (OSError, *_DAMAGED) as error:
            raise BadArchive(
                f"{path.name} is not a runtime file, or a part of it is missing.",
                "Put all of its parts into one folder and choose the first one.",
            ) from error
        backend = backends().get(manifest.backend)
        if backend is None or backend.key() != manifest.key:
            raise BadArchive(
                f"{path.name} is for another version of the app, or for another system.",
                "Use the runtime file published with this version.",
            )
        self.backend: Backend = backend

    def unpack(self, folder: Path, stop: Stop, meter: SetupMeter) -> None:
        """Verify the parts and extract the wheels to `folder`.

        Raises `BadArchive` if a part is damaged; `DiskFull` or `DiskProblem`; `Stopped`.
        """
        meter.enter("unpacking", 2 * self.nbytes)
        done = self._check(stop, meter)
        with disk.named_errors("unpacking the runtime"):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                self._unpack(folder, stop, meter, done)
            except _DAMAGED as error:
                raise BadArchive(
                    f"{self.parts[0].name} is damaged.", "Copy or download it again, with all of its parts."
                ) from error

    def _unpack(self, folder: Path, stop: Stop, meter: SetupMeter, done: int) -> None:
        with Joined(self.parts) as joined, zipfile.ZipFile(joined) as archive:
            for entry in archive.infolist():
                if not re.fullmatch(r"[\w.+-]+\.whl", entry.filename):
                    continue
                meter.set_activity(entry.filename)
                with archive.open(entry) as source, (folder / entry.filename).open("wb") as target:
                    while block := source.read(_BLOCK):
                        stop.check()
                        target.write(block)
                        done += len(block)
                        meter.set_done(done)

    def _check(self, stop: Stop, meter: SetupMeter) -> int:
        """Verify the checksums of the parts and return the number of bytes read.

        A part without a known checksum is accepted, because the installer verifies each wheel anyway.
        """
        sums = _sums(self.parts[0])
        done = 0
        for part in self.parts:
            digest = hashlib.sha256()
            with disk.named_errors(f"reading {part.name}"), part.open("rb") as file:
                while block := file.read(_BLOCK):
                    stop.check()
                    digest.update(block)
                    done += len(block)
                    meter.set_done(done)
            if part.name in sums and sums[part.name] != digest.hexdigest():
                raise BadArchive(f"{part.name} is damaged.", "Copy or download it again.")
        return done


class Joined(io.RawIOBase):
    """A stream that reads several files as if they were one; seekable."""

    def __init__(self, parts: list[Path]) -> None:
        self._files = [part.open("rb") for part in parts]
        self._ends: list[int] = []
        for part in parts:
            self._ends.append((self._ends[-1] if self._ends else 0) + part.stat().st_size)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._ends[-1]}[whence]
        self._at = max(0, begin + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = self._ends[-1] - self._at
        wanted = left if size < 0 else min(size, left)
        pieces = []
        while wanted > 0:
            index = next(i for i, end in enumerate(self._ends) if self._at < end)
            file = self._files[index]
            file.seek(self._at - (self._ends[index - 1] if index else 0))
            piece = file.read(min(wanted, self._ends[index] - self._at))
            if not piece:
                raise OSError(f"{file.name} was truncated while it was read")
            pieces.append(piece)
            self._at += len(piece)
            wanted -= len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        for file in self._files:
            file.close()
        super().close()


def _manifest(archive: zipfile.ZipFile) -> _ArchiveManifest:
    with archive.open(MANIFEST) as file:
        content = file.read(_MANIFEST_NBYTES + 1)
    if len(content) > _MANIFEST_NBYTES:
        raise ValueError("the manifest is too long")
    return json_of(content, _ArchiveManifest)


def _parts(path: Path) -> list[Path]:
    """Return all parts of the runtime file that contains `path`, in order; only `path` if it is not split.

    Raises `BadArchive` if `path` or the first part does not exist.
    """
    match = re.fullmatch(r"(.+\.zip)\.\d{3}", path.name)
    if match is None:
        parts = [path]
    else:
        parts = []
        while (part := path.with_name(f"{match.group(1)}.{len(parts) + 1:03}")).is_file():
            parts.append(part)
    if not parts or not all(part.is_file() for part in parts):
        raise BadArchive(f"{path.name} or its first part does not exist.", "Choose the file again.")
    return parts


def _sums(first: Path) -> dict[str, str]:
    """Return the SHA-256 of each part by file name; an empty dictionary if there is no checksum file.

    first: the first part.
    """
    path = first.with_name(first.name.removesuffix(".001") + ".sha256")
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return {}
    return {name.strip().lstrip("*"): digest for digest, _, name in (line.partition(" ") for line in lines)}
