"""Where the user's processes of this program find the engine that they share: a file that only the user can
read, with the engine's address and key."""

import contextlib
import hashlib
import os
import secrets
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import msgspec
import platformdirs
from filelock import FileLock

from engine.documents import read_json
from engine.files import is_own_folder, make_private_folder, write_whole
from engine.launch import interpreter

MOST_PATH = 100  # characters of a socket's path


class Announced(msgspec.Struct):
    """An engine that may be joined. `key`: in hexadecimal."""

    address: str
    key: str
    pid: int


@dataclass(frozen=True, slots=True)
class Rendezvous:
    """The file at `path`, which exists while an engine may be joined. Programs of another version, with other
    data or with another runtime have other files."""

    path: Path

    @staticmethod
    def of_this_program() -> "Rendezvous":
        data = platformdirs.user_data_path("specexec-desktop", appauthor=False)
        command = interpreter.command("engine.serving.process")
        whose = [version("specexec-desktop"), str(interpreter.ROOT), str(data.absolute()), *command]
        name = hashlib.sha256("\0".join(whose).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        runtime = os.environ.get("XDG_RUNTIME_DIR", "") if sys.platform != "win32" else ""
        folder = Path(runtime, "specexec-desktop")
        if not runtime or not is_own_folder(folder):
            folder = data / "run"
        return Rendezvous(folder / f"engine-{name}.json")

    def lock(self) -> FileLock:
        """Return the lock that a process holds while it looks for an engine or starts one."""
        make_private_folder(self.path.parent)
        return FileLock(self.path.with_suffix(".lock"), thread_local=False)

    def new_address(self) -> str | None:
        """Return an address in a folder that only this user can enter, to listen at; None: the system chooses
        one, and only the key protects it, as on Windows."""
        if sys.platform == "win32":
            return None
        address = self.path.with_name(f"engine-{secrets.token_hex(4)}")
        if len(str(address)) >= MOST_PATH:
            address = Path(tempfile.mkdtemp(prefix="specexec-")) / "engine"
        return str(address)

    def announce(self, address: str, key: bytes) -> None:
        """Write the file. Raises OSError."""
        write_whole(self.path, msgspec.json.encode(Announced(address, key.hex(), os.getpid())))

    def announced(self) -> Announced | None:
        """Return what the file says, which may have ended since."""
        try:
            return read_json(self.path, Announced)
        except (OSError, ValueError):
            return None

    def withdraw(self) -> None:
        """Remove the file, if it is this process's, and the socket that it names."""
        announced = self.announced()
        if announced is None or announced.pid != os.getpid():
            return
        with contextlib.suppress(OSError):
            self.path.unlink()
        if sys.platform != "win32":
            with contextlib.suppress(OSError):
                Path(announced.address).unlink()
