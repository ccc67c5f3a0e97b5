"""Files written either whole or not at all, even if the process or the machine goes down meanwhile; files
and folders that only this user can read; the paths that users name; what tells files apart.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from engine import reads
from engine.errors import BadOption


@contextmanager
def replacing(path: Path, single_writer: bool = False) -> Iterator[Path]:
    """Yield the path of a temporary file, which the block creates, and which replaces `path` after the block.

    The temporary file is beside `path`, in a folder that must exist. Its content is flushed to the disk
    before it gets its final name. After an error in the block, `path` is unchanged and the temporary file is
    deleted. single_writer: whether no other process or thread writes `path` at the same time; the temporary
    file then always has the same name, so that the next attempt overwrites a large file left by a killed
    process. Raises OSError.
    """
    name = f".{path.name}.new" if single_writer else f".{secrets.token_hex(8)}.new"
    temporary = path.with_name(name)
    try:
        yield temporary
        with temporary.open("r+b") as file:  # Windows flushes only files that are open for writing
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def write_whole(path: Path, data: bytes, single_writer: bool = False) -> None:
    """Write `data` to the file at `path`. After an error, the file is what it was before.

    single_writer: as for `replacing`. Raises OSError.
    """
    with replacing(path, single_writer) as temporary:
        temporary.write_bytes(data)


def write_private(path: Path, data: bytes) -> None:
    """Write `data` to the file at `path`, which only this user can read. After an error, the file is what it
    was before. Raises OSError."""
    with replacing(path) as temporary:
        temporary.touch(0o600)
        temporary.write_bytes(data)


def named_path(text: str | Path) -> Path:
    """Return the path that a user means, with "~" replaced by the home folder; it need not exist. Raises
    BadOption if nothing can have such a path, for example because it is too long."""
    try:
        path = Path(text).expanduser()
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: the home of an unknown user
        reason = error.strerror if isinstance(error, OSError) else str(error).rstrip(".")
        raise BadOption(
            f"The path {str(text)[:200]!r} cannot be used: {reason}.", "Check the path."
        ) from error
    return path


def identity(paths: Iterable[Path]) -> list[tuple[str, int, int]]:
    """Return what tells files apart from others, and from what they were before: of each, its path without
    links, its bytes and the time when it was changed, in nanoseconds; sorted by path. Raises OSError, and the
    errors of `reads.aside`."""

    def states() -> list[tuple[str, int, int]]:
        with reads.noted():
            known = [(path.resolve(), path.stat()) for path in sorted({*paths})]
        return [(str(path), state.st_size, state.st_mtime_ns) for path, state in known]

    return reads.aside(states)


def sync_folder(folder: Path) -> None:
    """Flush the file names in `folder` to the disk, if the system allows it.

    Windows has no such call, and journals names itself. Some file systems refuse it, and so do folders that
    this process may not read; then nothing is done. Raises OSError for other errors.
    """
    if os.name == "nt":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def open_private(path: Path, is_appended: bool = False) -> IO[bytes]:
    """Open a file to write, unbuffered, that only this user can read, also if others could read it before.

    is_appended: whether its content is kept. Raises OSError.
    """

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600)

    file = open(path, "ab" if is_appended else "wb", buffering=0, opener=opener)  # noqa: SIM115
    make_private(path)
    return file


def make_private(path: Path) -> None:
    """Let only this user read a file or folder, if it exists. Devices and files of others stay as they are;
    so does everything on Windows, where the user's own folders are private."""
    if os.name == "nt":
        return
    with suppress(FileNotFoundError, PermissionError):
        mode = path.stat().st_mode
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            path.chmod(stat.S_IMODE(mode) & 0o700)


def make_private_folder(folder: Path) -> None:
    """Create a folder that only this user can enter, or make an existing one so. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_private(folder)


def is_own_folder(folder: Path) -> bool:
    """Return whether nobody else can write to the folder or replace it. Create it if necessary."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        both = [place.stat() for place in (folder, folder.parent)]
    except OSError:
        return False
    return all(status.st_uid == os.getuid() and not status.st_mode & 0o022 for status in both)
