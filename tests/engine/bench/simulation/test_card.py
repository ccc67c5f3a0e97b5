"""The simulated card and disk: when work begins and ends."""

import numpy as np
import pytest

from engine.bench.simulation.card import COPY_S, READ_S, SimulatedCard, SimulatedDisk
from engine.bench.simulation.clock import VirtualClock


@pytest.fixture
def clock():
    return VirtualClock()


def ends(clock, card, events):
    """Return the time at which each of the events happens."""

    def wait():
        times = []
        for event in events:
            card.wait(event)
            times.append(clock.seconds)
        return times

    return clock.run(wait)


def test_copies_come_one_after_another_each_after_its_event(clock):
    card = SimulatedCard(clock, link=100.0)
    chunk = np.zeros(200, np.uint8)
    card.compute(5.0)
    free = card.used()
    first, second = card.copy(None, chunk, card.used()), card.copy(None, chunk, free)
    assert ends(clock, card, [first, second]) == pytest.approx([7 + COPY_S, 9 + 2 * COPY_S])
    assert card.copying.busy_s == pytest.approx(4 + 2 * COPY_S)


def test_what_is_launched_after_a_copy_waits_for_it_and_for_nothing_else(clock):
    card = SimulatedCard(clock, link=100.0)
    early = card.used()
    card.compute(1.0)
    card.compute_after(card.copy(None, np.zeros(300, np.uint8), early))
    card.compute(1.0)
    assert ends(clock, card, [card.used()]) == pytest.approx([4 + COPY_S])


def test_the_draft_computes_where_the_target_waits_and_delays_it_by_one_kernel_at_most(clock):
    card = SimulatedCard(clock, link=100.0)
    card.compute_after(card.copy(None, np.zeros(100, np.uint8), card.used()))
    card.compute(2.0)
    target = card.used()
    drafts = [card.draft(0.4) for _ in range(5)]
    # Two of the draft's kernels fit before the copy's end at 1, the third ends at 1.2, the others come last.
    times = ends(clock, card, [*drafts[:3], target, *drafts[3:]])
    assert times == pytest.approx([0.4, 0.8, 1.2, 3.2, 3.6, 4.0])


def test_a_disk_reads_one_request_after_another_and_its_latency_is_hidden(clock):
    disk, log = SimulatedDisk(clock, rate=1000.0), []

    def read():
        disk.read(memoryview(bytearray(500)), 0, 500)
        log.append(clock.seconds)

    def main():
        for thread in [clock.start(read, "reader") for _ in range(2)]:
            thread.join()

    clock.run(main)
    assert log == pytest.approx([READ_S + 0.5, READ_S + 1.0])
