"""What is asked of torch's allocators for a card, on a card that only takes notes."""

import pytest
import torch

from engine.serving.service import EngineService
from engine.torch_model import device_memory

GIB = 2**30


@pytest.fixture
def card(monkeypatch):
    """A card of 12 GiB with 7 GiB free, of which torch keeps 1 GiB. Its calls are noted."""
    calls = []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: calls.append("card"))
    monkeypatch.setattr(torch.accelerator, "empty_host_cache", lambda: calls.append("pinned"))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (7 * GIB, 12 * GIB))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: GIB)
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", calls.append)
    return calls


def test_unloading_gives_the_cards_memory_and_pinned_memory_back(card):
    EngineService().unload()
    assert card == ["card", "pinned"]


def test_a_card_that_fails_does_not_keep_models_from_being_unloaded(card, monkeypatch, caplog):
    def fail():
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(torch.cuda, "empty_cache", fail)
    EngineService().unload()
    assert "illegal memory access" in caplog.text


def test_a_card_that_was_never_used_stays_unused(card, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    EngineService().unload()
    assert card == []


def test_on_windows_no_more_is_allocated_than_the_card_has_free(card):
    device_memory.bound("linux")
    assert card == []
    device_memory.bound("win32")
    assert card == [pytest.approx(8 / 12)]
