"""Routers that are asked early by passes on a machine in virtual time, whose disk, products and guesses are
scripted: the cache ends at what is best there."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from engine.bench.simulation.clock import VirtualClock
from engine.checkpoints import Span
from engine.streaming.chunks import StoredMatrix, make_chunk
from engine.streaming.disk_watch import DiskWatch
from engine.streaming.early_routers import AGAIN, AHEAD
from engine.streaming.expert_cache import ExpertCache
from engine.streaming.expert_policy import ExpertPolicy

MIXTURES, EXPERTS, NBYTES = 4, 16, 4096
WEIGHTS = Path("weights")


@dataclass(frozen=True)
class Script:
    """A machine and a model. read_s: of an expert; compute_s: of a mixture; ask_s: of a router. right: how
    early what a router says is what it chooses; chosen: number of experts, in mixtures that come one behind
    another."""

    read_s: float = 0.001
    compute_s: float = 0.003
    ask_s: float = 0.0001
    right: frozenset[int] = frozenset({1, 2})
    chosen: tuple[int, ...] = (2,)


class Machine:
    """The machine of a script, which may be replaced by another between passes. It is also its own disk,
    which reads one expert at a time."""

    def __init__(self, clock, script, slots=24):
        self.clock, self.script = clock, script
        self._random = np.random.default_rng(1)
        self._disk_s = 0.0  # when the disk is free
        chunks = [
            make_chunk([StoredMatrix(None, (Span(WEIGHTS, number * NBYTES, NBYTES, (NBYTES,), "U8"),), at)])
            for number, at in enumerate(np.ndindex(MIXTURES, EXPERTS))
        ]
        policy = ExpertPolicy([chunk.mixture for chunk in chunks])
        watch = DiskWatch("weights", clock)
        self.cache = ExpertCache(chunks, slots, {WEIGHTS: self}, policy, watch, crew=clock)
        self._noted, policy.early.waited = policy.early.waited, self._note
        self.times = np.zeros((MIXTURES, AHEAD + 1), int)  # by mixture: how often it was asked so early

    def read(self, into, offset, needed):
        self._disk_s = max(self._disk_s, self.clock.now()) + self.script.read_s
        self.clock.sleep_until(self._disk_s)

    def _note(self, seconds, turn, ahead, rows):
        self.times[turn, ahead] += 1
        self._noted(seconds, turn, ahead, rows)

    def _drawn(self, mixture):
        count = self.script.chosen[mixture % len(self.script.chosen)]
        drawn = self._random.permutation(EXPERTS)[:count] if count > 1 else [0]
        return sorted(mixture * EXPERTS + int(expert) for expert in drawn)

    def _begin(self):
        """Return what a pass that begins will choose, by mixture."""
        return [self._drawn(mixture) for mixture in range(MIXTURES)]

    def run(self, passes):
        """Run passes; return how often each mixture was asked so early, [MIXTURES, AHEAD + 1]."""
        self.times[:] = 0
        for _ in range(passes):
            wanted = self._begin()
            for mixture, ours in enumerate(wanted):
                later = [(each, each - mixture) for each in range(mixture + 1, MIXTURES)[:AHEAD]]
                with self.cache.changed:
                    self.cache.choose(ours, [ours])
                    asked = [at for at in later if self.cache.asks(*at)]
                for each, ahead in asked:
                    self.clock.sleep(self.script.ask_s)
                    self.cache.expect([wanted[each] if ahead in self.script.right else self._drawn(each)])
                for expert in ours:
                    self.cache.fetch(expert)
                self.clock.sleep(self.script.compute_s)
        return self.times.copy()


# What the routers of these models say early is useless; is right one turn early only; is right two turns
# early, too, where mixtures that miss more than there is time to read come behind others that miss nothing.
USELESS, NEARER = Script(right=frozenset()), Script(right=frozenset({1}))
FURTHER = Script(compute_s=0.0015, chosen=(1, 3))
# Machines on which asking takes longer than waiting.
DEAR, FAST = {"ask_s": 0.005}, {"read_s": 1e-6}

CYCLE = AGAIN + 1  # turns, in which each way that does not pay is tried once


@pytest.mark.parametrize(
    ("model", "first", "best", "then", "best_then"),
    [
        (USELESS, DEAR, 0, DEAR, 0),
        (NEARER, {}, 1, FAST, 0),
        (NEARER, DEAR, 0, {}, 1),
        (FURTHER, {}, 2, DEAR, 0),
        (FURTHER, FAST, 0, {}, 2),
    ],
)
def test_routers_are_asked_as_early_as_is_best_on_each_machine(model, first, best, then, best_then):
    clock = VirtualClock()

    def work():
        machine = Machine(clock, replace(model, **first))
        machine.run(4 * CYCLE)
        before = machine.run(CYCLE)
        machine.script = replace(model, **then)
        machine.run(13 * CYCLE)
        after = machine.run(CYCLE)
        machine.cache.close()
        return before, after

    for times, way in zip(clock.run(work), (best, best_then), strict=True):
        expected = [1] * (AHEAD + 1)
        expected[way] = CYCLE - AHEAD
        assert times[-1].tolist() == expected  # the last mixture may be asked in each way, and misses experts


def test_slots_of_experts_that_were_in_use_are_taken_by_guesses_at_once():
    """While the others that their mixture has chosen are still in use: there are hardly more slots."""
    clock = VirtualClock()

    def work():
        machine = Machine(clock, Script(), slots=6)
        for mixture in [*range(MIXTURES)] * 20:
            ours = [mixture * EXPERTS + place for place in range(4)]
            machine.cache.choose(ours)
            for expert in ours:
                machine.cache.fetch(expert)
                clock.sleep(machine.script.compute_s)
        machine.cache.close()
        return machine.cache.counts.misses

    assert clock.run(work) < 2 * 4 * MIXTURES  # those of the first pass, and few others
