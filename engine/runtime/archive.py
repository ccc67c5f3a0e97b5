"""A runtime for machines without a network: a zip of wheels, perhaps in parts NAME.zip.001, .002, ...

Beside it lies NAME.zip.sha256, lines of `sha256sum` for its parts. Nothing in it is trusted beyond that: the
app's own lists have the hash of each wheel, and the installer checks them.
"""

import hashlib
import io
import json
import re
import zipfile
from pathlib import Path

from engine.hub import Stop, disk
from engine.runtime.backends import Backend, backends
from engine.runtime.errors import BadArchive
from engine.runtime.progress import Meter

MANIFEST = "runtime.json"  # {"backend", "key"}
_BLOCK = 1 << 20


class Archive:
    """Raises `BadArchive` where `path` is none for this app. path: the zip, or any of its parts.

    Attributes: `parts`: its files in order; `backend`: what it holds; `nbytes`: of all its parts.
    """

    def __init__(self, path: Path) -> None:
        self.parts = _parts(path)
        self.nbytes = sum(part.stat().st_size for part in self.parts)
        try:
            with Joined(self.parts) as joined, zipfile.ZipFile(joined) as archive:
                said = json.loads(archive.read(MANIFEST))
                self.unpacked_nbytes = sum(entry.file_size for entry in archive.infolist())
                name, key = said["backend"], said["key"]
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
            raise BadArchive(
                f"{path.name} is no runtime, or a part of it is missing.",
                "Put all of its parts into one folder and choose the first.",
            ) from error
        found = backends().get(name)
        if found is None or found.key() != key:
            raise BadArchive(
                f"{path.name} belongs to another version of the app, or to another system.",
                "Take the file that was published with this version.",
            )
        self.backend: Backend = found

    def unpack(self, folder: Path, stop: Stop, meter: Meter) -> None:
        """Check the parts and put the wheels into `folder`. Raises `BadArchive`, `DiskFull`, `Stopped`."""
        meter.enter("unpacking", 2 * self.nbytes)
        done = self._check(stop, meter)
        with disk.named_errors("unpacking the runtime"):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                self._unpack(folder, stop, meter, done)
            except zipfile.BadZipFile as error:
                raise BadArchive(
                    f"{self.parts[0].name} is damaged.", "Copy or download it again, with all of its parts."
                ) from error

    def _unpack(self, folder: Path, stop: Stop, meter: Meter, done: int) -> None:
        with Joined(self.parts) as joined, zipfile.ZipFile(joined) as archive:
            for entry in archive.infolist():
                if not re.fullmatch(r"[\w.+-]+\.whl", entry.filename):
                    continue
                meter.say(entry.filename)
                with archive.open(entry) as source, (folder / entry.filename).open("wb") as target:
                    while block := source.read(_BLOCK):
                        stop.check()
                        target.write(block)
                        done += len(block)
                        meter.at(done)

    def _check(self, stop: Stop, meter: Meter) -> int:
        """Bytes read. The sums may be missing: the installer checks each wheel anyway."""
        sums = _sums(self.parts[0])
        done = 0
        for part in self.parts:
            digest = hashlib.sha256()
            with disk.named_errors(f"reading {part.name}"), part.open("rb") as file:
                while block := file.read(_BLOCK):
                    stop.check()
                    digest.update(block)
                    done += len(block)
                    meter.at(done)
            if part.name in sums and sums[part.name] != digest.hexdigest():
                raise BadArchive(f"{part.name} is damaged.", "Copy or download it again.")
        return done


class Joined(io.RawIOBase):
    """Files one after another, as one that can be read and sought."""

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
                raise OSError(f"{file.name} became shorter")
            pieces.append(piece)
            self._at += len(piece)
            wanted -= len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        for file in self._files:
            file.close()
        super().close()


def _parts(path: Path) -> list[Path]:
    """All parts of `path` that lie beside it, in order, from the first; or itself alone."""
    match = re.fullmatch(r"(.+\.zip)\.\d{3}", path.name)
    if match is None:
        found = [path]
    else:
        found = []
        while (part := path.with_name(f"{match.group(1)}.{len(found) + 1:03}")).is_file():
            found.append(part)
    if not found or not all(part.is_file() for part in found):
        raise BadArchive(f"{path.name} or its first part is not there.", "Choose the file again.")
    return found


def _sums(first: Path) -> dict[str, str]:
    """SHA-256 by name, as far as they were given along."""
    path = first.with_name(first.name.removesuffix(".001") + ".sha256")
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return {}
    return {name.strip().lstrip("*"): digest for digest, _, name in (line.partition(" ") for line in lines)}
