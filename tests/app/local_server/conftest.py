"""Keyrings of the tests: one in memory, one that stays locked, and one that waits as a user does."""

import threading
from collections.abc import Iterator

import keyring
import pytest
from keyring.errors import KeyringLocked

from tests.engine.hub.conftest import MemoryKeyring, own_keyring

__all__ = ["own_keyring"]


class LockedKeyring(MemoryKeyring):
    """A keyring that the user does not unlock."""

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("the user closed the question")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise KeyringLocked("the user closed the question")


class SlowKeyring(MemoryKeyring):
    """A keyring that answers once it is unlocked.

    Attributes:
        is_asked, is_unlocked: set when a question arrives, and by the test.
        askers: the threads that asked.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_asked, self.is_unlocked = threading.Event(), threading.Event()
        self.askers: list[threading.Thread] = []

    def get_password(self, service: str, username: str) -> str | None:
        self.askers.append(threading.current_thread())
        self.is_asked.set()
        if threading.current_thread() is not threading.main_thread():  # there, the test would wait for itself
            self.is_unlocked.wait()
        return super().get_password(service, username)


@pytest.fixture
def slow_keyring(own_keyring: MemoryKeyring) -> Iterator[SlowKeyring]:
    """In use; unlocked at the end of the test, so that no thread is left."""
    slow = SlowKeyring()
    keyring.set_keyring(slow)
    yield slow
    slow.is_unlocked.set()
