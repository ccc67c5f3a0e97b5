"""The link to a CUDA device takes the ways that this process takes. Streams are fakes here."""

import numpy as np
import pytest
import torch

from engine import ways
from engine.streaming import link


class Stream:
    def __init__(self, name: str) -> None:
        self.name = name


@pytest.fixture
def streams(monkeypatch):
    monkeypatch.setattr(torch.cuda, "Stream", lambda device: Stream("own"))
    monkeypatch.setattr(torch.cuda, "default_stream", lambda device: Stream("computing"))
    used = []  # devices that this thread has a context of
    monkeypatch.setattr(torch.cuda, "synchronize", used.append)

    def locks():
        assert used, "locks are made in the context of the card"
        return "locks"

    monkeypatch.setattr(link, "driver_locks", locks)
    monkeypatch.setattr(link, "pinned", lambda nbytes, locks: np.full(nbytes, 7, np.uint8))


def test_copies_run_beside_computing_from_pinned_memory(streams):
    made = link.CudaLink(torch.device("cuda"))
    assert made._stream.name == "own"
    assert made.slab(9).tolist() == [7] * 9


def test_where_two_streams_fail_copies_take_turns_with_computing(streams):
    with ways.taking({"streams": "one"}):
        made = link.CudaLink(torch.device("cuda"))
    assert made._stream.name == "computing"
    assert made.slab(9).tolist() == [7] * 9


def test_where_pinned_memory_fails_the_driver_stages_copies(streams):
    with ways.taking({"copies": "staging"}):
        made = link.CudaLink(torch.device("cuda"))
    assert made._stream.name == "own"
    slab = made.slab(9)
    assert slab.tolist() == [0] * 9
    assert slab.ctypes.data % 4096 == 0
