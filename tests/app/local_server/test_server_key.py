"""The key of the local server: in the keyring, else in a private file; it moves from there once."""

import sys
from pathlib import Path

import keyring
import platformdirs
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyring.backends.null import Keyring as ForgetfulKeyring

from app.local_server.server_key import ACCOUNT, KeyringStaysLocked, kept_key, key_path, new_key
from engine.errors import DiskProblem
from engine.secret import SERVICE
from tests.app.local_server.conftest import LockedKeyring
from tests.engine.hub.conftest import MemoryKeyring

PLACE = SERVICE, ACCOUNT


class BrokenKeyring(MemoryKeyring):
    """A keyring whose own library fails, as D-Bus does."""

    def get_password(self, service: str, username: str) -> str | None:
        raise OSError("the bus is gone")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise OSError("the bus is gone")


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *_, **__: tmp_path / "data")


def write_file(text: str) -> None:
    key_path().parent.mkdir(parents=True)
    key_path().write_text(text)


def test_the_key_is_made_once_and_stored_in_the_keyring_only(own_keyring: MemoryKeyring) -> None:
    first = kept_key()
    assert len(first.text) > 24
    assert not first.is_in_file
    assert own_keyring.kept == {PLACE: first.text}
    assert kept_key() == first
    assert not key_path().exists()


def test_a_new_key_replaces_the_present_one(own_keyring: MemoryKeyring) -> None:
    first, second = kept_key(), new_key()
    assert first != second
    assert own_keyring.kept == {PLACE: second.text}
    assert kept_key() == second


def test_a_key_in_the_file_moves_to_the_keyring(own_keyring: MemoryKeyring) -> None:
    write_file("sk-of-yesterday\n")
    moved = kept_key()
    assert (moved.text, moved.is_in_file) == ("sk-of-yesterday", False)
    assert own_keyring.kept == {PLACE: "sk-of-yesterday"}
    assert not key_path().exists()


@pytest.mark.parametrize("backend", [NoKeyring, LockedKeyring, ForgetfulKeyring, BrokenKeyring])
def test_the_file_stays_unless_the_keyring_holds_its_key(
    own_keyring: MemoryKeyring, backend: type[KeyringBackend]
) -> None:
    keyring.set_keyring(backend())
    write_file("sk-of-yesterday")
    kept = kept_key()
    assert (kept.text, kept.is_in_file) == ("sk-of-yesterday", True)
    assert key_path().read_text() == "sk-of-yesterday"


@pytest.mark.parametrize("backend", [NoKeyring, ForgetfulKeyring, BrokenKeyring])
def test_without_a_keyring_the_key_is_made_in_a_private_file(
    own_keyring: MemoryKeyring, backend: type[KeyringBackend]
) -> None:
    keyring.set_keyring(backend())
    made = kept_key()
    assert made.is_in_file
    assert kept_key() == made
    assert key_path().read_text() == made.text
    if sys.platform != "win32":
        assert key_path().stat().st_mode & 0o777 == 0o600
    assert new_key() != made


def test_a_locked_keyring_is_an_error_rather_than_another_key(own_keyring: MemoryKeyring) -> None:
    keyring.set_keyring(LockedKeyring())
    with pytest.raises(KeyringStaysLocked) as caught:
        kept_key()
    assert caught.value.kind == "keyring_locked"
    assert "new key" in caught.value.hint
    assert not key_path().exists()
    made = new_key()  # as the error advises
    assert made.is_in_file
    assert kept_key() == made


def test_a_key_made_while_the_keyring_was_locked_replaces_the_one_in_it(own_keyring: MemoryKeyring) -> None:
    kept_key()
    keyring.set_keyring(LockedKeyring())
    newer = new_key()
    keyring.set_keyring(own_keyring)
    assert kept_key().text == newer.text
    assert own_keyring.kept == {PLACE: newer.text}


def test_a_file_that_cannot_be_written_is_named(own_keyring: MemoryKeyring, tmp_path: Path) -> None:
    keyring.set_keyring(NoKeyring())
    (tmp_path / "data").write_text("not a folder")
    with pytest.raises(DiskProblem, match=r"server-key\.txt"):
        kept_key()


def test_a_printed_key_does_not_show_it(own_keyring: MemoryKeyring) -> None:
    key = kept_key()
    assert key.text not in f"{key} {key!r}"
