import random
import time
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError

from engine.hub import Download, Hub, Item, Patience, choose, item
from tests.engine.hub.lying_hub import LyingHub, Offered

QUICK = Patience(silence_s=0.3, first_wait_s=0.01, longest_wait_s=0.05)
ID = "owner/model"
FILE = "model.gguf"


def content(nbytes: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(nbytes)


class MemoryKeyring(KeyringBackend):
    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError


@pytest.fixture(autouse=True)
def own_keyring(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryKeyring]:
    """Use neither the tester's tokens nor the tester's proxy."""
    for variable in ("HF_TOKEN", "HF_ENDPOINT", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    before, mine = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(mine)
    yield mine
    keyring.set_keyring(before)


@pytest.fixture
def server() -> Iterator[LyingHub]:
    lying = LyingHub()
    yield lying
    lying.close()


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


def offer(server: LyingHub, nbytes: int = 300_000, id: str = ID, **also: bytes) -> Item:
    """Add a repository with one GGUF file to the server; return its item."""
    server.repositories[id] = Offered({FILE: content(nbytes), **also})
    return asked(server, id)


def asked(server: LyingHub, id: str = ID) -> Item:
    return item(id, choose(Hub(server.endpoint).repository(id)))


def download(server: LyingHub, wanted: Item, models: Path) -> Download:
    return Download(wanted, models, Hub(server.endpoint), patience=QUICK)


def finished(server: LyingHub, wanted: Item, models: Path) -> Download:
    """Start a download and wait for its end."""
    running = download(server, wanted, models)
    running.start()
    running.wait(30)
    return running


def wait_for(running: Download, nbytes: int) -> None:
    """Wait until this many bytes have been received."""
    until = time.monotonic() + 10
    while running.progress().done_nbytes < nbytes:
        assert time.monotonic() < until
        time.sleep(0.005)
