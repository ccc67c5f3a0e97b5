"""The key that clients of the local server give: made here, and kept in a file that only this user can read.
Imports no Qt."""

import secrets
from pathlib import Path

import platformdirs

from engine.errors import DiskProblem
from engine.files import make_private_folder, write_private

KEY_NBYTES = 24
PREFIX = "sk-"  # some clients take no key without it


def key_path() -> Path:
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "server-key.txt"


def kept_key() -> str:
    """Return the key, which is made when it is first needed. Raises DiskProblem."""
    try:
        return key_path().read_text("utf-8").strip() or new_key()
    except (FileNotFoundError, UnicodeDecodeError):
        return new_key()
    except OSError as error:
        raise _problem(error) from error


def new_key() -> str:
    """Make another key, and return it. Raises DiskProblem."""
    key = PREFIX + secrets.token_urlsafe(KEY_NBYTES)
    try:
        make_private_folder(key_path().parent)
        write_private(key_path(), key.encode())
    except OSError as error:
        raise _problem(error) from error
    return key


def _problem(error: OSError) -> DiskProblem:
    return DiskProblem(
        f"The server's key cannot be kept in {key_path()}: {error.strerror}.",
        "Check the disk and the folder's permissions.",
    )
