"""The list of added engines and their keys."""

import os
import subprocess
import sys

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring

from engine.errors import BadOption
from engine.remote import engines
from engine.remote.address import base_url, is_private
from engine.remote.engines import AddedEngine
from engine.remote.errors import EnginesFileProblem, EngineUnknown
from tests.engine.hub.conftest import MemoryKeyring


def test_an_engine_is_listed_until_it_is_removed(own_keyring: MemoryKeyring) -> None:
    assert engines.added() == []
    assert engines.add(AddedEngine("mine", "localhost:8000"), " secret\n") == ""
    assert engines.add(AddedEngine("Büro 2", "vllm.example", allow_clear=True)) == ""
    assert engines.added() == [
        AddedEngine("mine", "http://localhost:8000/v1"),
        AddedEngine("Büro 2", "https://vllm.example/v1", allow_clear=True),
    ]
    assert engines.key_of("mine") == "secret"
    assert engines.key_of("Büro 2") is None
    engines.remove("mine")
    assert [engine.name for engine in engines.added()] == ["Büro 2"]
    assert own_keyring.kept == {}
    with pytest.raises(EngineUnknown):
        engines.key_of("mine")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_only_this_user_reads_the_list_and_it_holds_no_key() -> None:
    engines.add(AddedEngine("mine", "localhost"), "secret")
    path = engines.engines_path()
    assert path.stat().st_mode & 0o777 == 0o600
    assert "secret" not in path.read_text("utf-8")


def test_a_key_is_not_sent_to_another_host_than_it_was_stored_for(own_keyring: MemoryKeyring) -> None:
    engines.add(AddedEngine("mine", "https://good.example"), "secret")
    path = engines.engines_path()
    path.write_text(path.read_text("utf-8").replace("good.example", "evil.example"), "utf-8")
    assert engines.key_of("mine") is None


def test_a_key_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    engines.add(AddedEngine("my box-2", "localhost"))
    monkeypatch.setenv("SPECEXEC_ENGINE_KEY_MY_BOX_2", "secret")
    assert engines.key_of("my box-2") == "secret"


@pytest.fixture
def no_keyring() -> None:
    keyring.set_keyring(NoKeyring())


def test_without_a_keyring_the_key_lasts_for_the_session(no_keyring: None) -> None:
    notice = engines.add(AddedEngine("mine", "localhost"), "secret")
    assert "no keyring" in notice
    assert "$SPECEXEC_ENGINE_KEY_MINE" in notice
    assert engines.key_of("mine") == "secret"


@pytest.mark.parametrize("name", ["", " ", "a/b", "a\nb", "\u202eb", "-a", "x" * 65])
def test_names_that_cannot_be_used(name: str) -> None:
    with pytest.raises(BadOption):
        engines.add(AddedEngine(name, "localhost"))


def test_names_are_unique() -> None:
    engines.add(AddedEngine("mine", "localhost"))
    with pytest.raises(BadOption, match="already"):
        engines.add(AddedEngine("Mine", "localhost:1"))


@pytest.mark.parametrize("key", ["two words", "ключ", "a\nb", "a\x7f"])
def test_keys_that_cannot_be_sent(key: str) -> None:
    with pytest.raises(BadOption):
        engines.add(AddedEngine("mine", "localhost"), key)
    assert engines.added() == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("localhost:8000", "http://localhost:8000/v1"),
        ("127.0.0.1:8000/", "http://127.0.0.1:8000/v1"),
        ("[::1]:8000/v1/", "http://[::1]:8000/v1"),
        ("192.168.1.5:8000", "https://192.168.1.5:8000/v1"),
        (" http://192.168.1.5:8000 ", "http://192.168.1.5:8000/v1"),
        ("openrouter.example/api/v1", "https://openrouter.example/api/v1"),
    ],
)
def test_addresses_are_completed(text: str, expected: str) -> None:
    assert base_url(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ftp://host",
        "http://",
        "https://user:password@host",
        "host?key=1",
        "host#a",
        "http://host:99999",
        "a\0b",
    ],
)
def test_addresses_that_cannot_be_used(text: str) -> None:
    with pytest.raises(BadOption):
        base_url(text)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1", True), ("::1", True), ("10.1.2.3", True), ("192.168.0.1", True), ("fd00::1", True),
        ("fe80::1%eth0", True), ("::ffff:10.0.0.1", True), ("8.8.8.8", False), ("::ffff:8.8.8.8", False),
        ("2001:4860:4860::8888", False), ("name", False),
    ],
)  # fmt: skip
def test_who_can_read_what_is_sent(address: str, expected: bool) -> None:
    assert is_private(address) is expected


@pytest.mark.parametrize(
    "text", ["engines = 3", "[[engines]]\nname = 'a'", "[[engines]]\nname = 'a/b'\naddress = 'x'", "\0"]
)
def test_a_damaged_list_is_reported(text: str) -> None:
    path = engines.engines_path()
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    with pytest.raises(EnginesFileProblem, match="cannot be read"):
        engines.added()
    assert path.read_text("utf-8") == text


HEAVY = ("torch", "PySide6", "numba")


def test_nothing_heavy_is_imported() -> None:
    code = "import sys, engine.remote.any_engine\nprint([m for m in HEAVY if m in sys.modules])".replace(
        "HEAVY", str(HEAVY)
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
