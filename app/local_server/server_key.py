"""The key that clients of the local server give: made here, and stored in the system's keyring, or, where no
keyring works, in a file that only this user can read. Imports no Qt.

A file that exists holds the newest key: it is one from before keys were stored in the keyring, or one that
the keyring refused. It is moved to the keyring as soon as that takes it.
"""

import secrets
import threading
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from engine.errors import DiskProblem, SpecExecError
from engine.files import make_private_folder, write_private
from engine.secret import StaysLocked, store, stored

ACCOUNT = "local-server"
KEY_NBYTES = 24
PREFIX = "sk-"  # some clients take no key without it

_one_at_a_time = threading.Lock()  # so that two threads that find no key do not make two


class KeyringStaysLocked(SpecExecError):
    """A key that cannot be read, because the user has not unlocked the keyring."""

    kind = "keyring_locked"


@dataclass(frozen=True, slots=True)
class ServerKey:
    """The key, and whether it is in the file because no keyring takes it."""

    text: str
    is_in_file: bool

    def __repr__(self) -> str:
        return f"ServerKey(is_in_file={self.is_in_file})"  # so that no log ever shows the key


def key_path() -> Path:
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "server-key.txt"


def kept_key() -> ServerKey:
    """Return the key, which is made when it is first needed. May wait until the user unlocks the keyring: not
    to be called on the GUI thread. Raises KeyringStaysLocked, DiskProblem."""
    with _one_at_a_time:
        if in_file := _read_file():
            return _keep(in_file)
        try:
            in_keyring = stored(ACCOUNT)
        except StaysLocked as error:
            raise KeyringStaysLocked(
                "The server's key is not available: the system's keyring stays locked.",
                "Unlock it and start the server again, or make a new key, which is then kept in a file.",
            ) from error
        return ServerKey(in_keyring, is_in_file=False) if in_keyring else _keep(_made())


def new_key() -> ServerKey:
    """Make another key, store it in place of the present one, and return it. May wait, as `kept_key` does.
    Raises DiskProblem."""
    with _one_at_a_time:
        return _keep(_made())


def _made() -> str:
    return PREFIX + secrets.token_urlsafe(KEY_NBYTES)


def _keep(key: str) -> ServerKey:
    """Store the key in the keyring and delete the file, or write the file if the keyring does not hold the
    key afterwards. Raises DiskProblem."""
    is_in_file = not _keyring_takes(key)
    try:
        if not is_in_file:
            key_path().unlink(missing_ok=True)
        elif key != _read_file():
            make_private_folder(key_path().parent)
            write_private(key_path(), key.encode())
    except OSError as error:
        raise _problem(error) from error
    return ServerKey(key, is_in_file)


def _keyring_takes(key: str) -> bool:
    """Store the key in the keyring. Return whether it can be read there: some keyrings take all and keep
    nothing."""
    try:
        return store(ACCOUNT, key) and stored(ACCOUNT) == key
    except StaysLocked:
        return False


def _read_file() -> str:
    """Return the key in the file; "": none. Raises DiskProblem."""
    try:
        return key_path().read_text("utf-8").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return ""
    except OSError as error:
        raise _problem(error) from error


def _problem(error: OSError) -> DiskProblem:
    return DiskProblem(
        f"The server's key cannot be kept in {key_path()}: {error.strerror}.",
        "Check the disk and the folder's permissions.",
    )
