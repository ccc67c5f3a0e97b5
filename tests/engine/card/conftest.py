"""What tests on the card share."""

import sys

import pytest

if sys.platform == "win32":  # whose mmap reserves no pages without giving them memory
    collect_ignore_glob = ["test_*.py"]
else:
    from engine.streaming import link
    from tests.engine.card.card import CARD

    @pytest.fixture
    def driver(monkeypatch):
        """The driver that pins memory for the card."""
        monkeypatch.setattr(link, "driver_locks", lambda: CARD)
        return CARD

    @pytest.fixture
    def small_card(monkeypatch):
        """Return a function that leaves so many bytes of the card's memory free."""
        return lambda free: monkeypatch.setattr(CARD.memory, "nbytes", CARD.memory.used + free)
