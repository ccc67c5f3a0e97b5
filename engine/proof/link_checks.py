"""Checks of copies to a card: chunks go through two slots that are written and read in turn, while the card
computes. If an event does not order copying and computing, a chunk is overwritten too early or read too
late."""

import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from engine import ways
from engine.proof.card import TestedCard
from engine.proof.speed import Speed, expect

_CHUNKS, _SLOTS, _NBYTES = 24, 2, 1 << 20
_MEASURED = 64 << 20  # bytes of a chunk that is timed
_LOAD = 1024  # rows and columns of the matrix that is multiplied meanwhile


def check_copies(card: TestedCard, subject: list[str], way: str) -> Speed | None:
    """Check how RAM is copied, on one stream."""
    with ways.taking({"copies": way, "streams": "one"}):
        _check(card)
        return _speed(card) if card.measures else None


def check_streams(card: TestedCard, subject: list[str], way: str) -> Speed | None:
    _check(card)
    return _speed(card) if card.measures else None


def _check(card: TestedCard) -> None:
    link = card.link()
    sources = []
    for number in range(_CHUNKS):
        slab = link.slab(_NBYTES)
        slab[:] = np.random.default_rng(number).integers(256, size=_NBYTES, dtype=np.uint8)
        sources.append(slab)
    shown = [torch.empty(_NBYTES, dtype=torch.uint8, device=card.device) for _ in sources]
    load = _load(card)
    slots = link.slots(_SLOTS, _NBYTES)
    free = [link.used()] * _SLOTS
    for number, source in enumerate(sources):
        slot = number % _SLOTS
        arrived = link.copy(slots[slot], source, free[slot])
        link.compute_after(arrived)

        def work(into: Tensor = shown[number], at: Tensor = slots[slot]) -> None:
            load()
            into.copy_(at)

        card.launch(link, work)
        free[slot] = link.used()
    for event in free:
        link.wait(event)
    card.finish()
    for source, chunk in zip(sources, shown, strict=True):
        expect(chunk, torch.from_numpy(source), torch.zeros(()), "copied bytes")


def _load(card: TestedCard) -> Callable[[], None]:
    size = _LOAD if card.measures else 64
    matrix = torch.ones(size, size, device=card.device)

    def load() -> None:
        for _ in range(8):
            torch.mm(matrix, matrix)

    return load


def _speed(card: TestedCard) -> Speed:
    """Return the bandwidth of copies, and how the card is connected meanwhile: an idle card saves power and
    reports an older generation of PCIe. The card computes at the same time, unless it has one stream for
    both: then copies would wait, and their rate would not be the link's."""
    link = card.link()
    source = link.slab(_MEASURED)
    slots = link.slots(_SLOTS, _MEASURED)
    computes = ways.taken("streams") == "two"
    load = _load(card)
    chunks = 16
    for round in range(2):  # the first one wakes the card
        begin = time.perf_counter()
        free = link.used()
        for number in range(chunks):
            if computes:
                load()
            free = link.copy(slots[number % _SLOTS], source, free)
        lanes = card.lanes() if round else ""
        link.wait(free)
        taken_s = time.perf_counter() - begin
    return Speed(chunks * _MEASURED / taken_s, None, "B/s", lanes)
