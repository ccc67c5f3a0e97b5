"""What tokens chose when they were last read: what is remembered, what is read because of it, and what that
is worth on a machine in virtual time."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from engine.bench.simulation.clock import VirtualClock
from engine.streaming import token_experts
from engine.streaming.early_routers import AGAIN, AHEAD, FEWEST, PLACES, RECALLED
from engine.streaming.expert_policy import ExpertPolicy
from engine.streaming.token_experts import TokenExperts
from tests.engine.streaming.test_asking_on_a_clock import MIXTURES, Machine, Script
from tests.engine.streaming.test_early_routers import wait_for
from tests.engine.streaming.test_expert_cache import cache_of, data

__all__ = ["data"]

CYCLE = AGAIN + 1  # turns, in which each way that does not pay is tried once
MEMBERS = [np.arange(8), np.arange(8, 16)]


def read(memory, tokens, *chosen):
    """Do a pass over tokens. chosen: for each mixture, the experts of each of them."""
    memory.begin(tokens)
    for turn, rows in enumerate(chosen):
        memory.learn(turn, rows)


# The memory


def test_each_mixture_remembers_what_a_token_chose_last():
    memory = TokenExperts(MEMBERS)
    read(memory, [5], [[3, 1]], [[15, 8]])
    read(memory, [7], [[0, 2]], [[9, 10]])
    read(memory, [5], [[4, 1]], [[8, 15]])
    memory.begin([7, 5, 6])
    assert memory.said(0).tolist() == [[0, 2], [4, 1]]
    assert memory.said(1).tolist() == [[1, 2], [0, 7]]


def test_a_token_in_several_rows_is_remembered_once_as_the_last_of_them_chose():
    memory = TokenExperts(MEMBERS)
    read(memory, [5, 6, 5], [[0, 1], [2, 3], [4, 5]])
    memory.begin([5, 5])
    assert memory.said(0).tolist() == [[4, 5]]


def test_what_a_pass_that_ended_early_has_not_chosen_is_not_known():
    memory = TokenExperts(MEMBERS)
    read(memory, [5], [[3, 1]])
    memory.begin([5])
    assert memory.said(0).tolist() == [[3, 1]]
    assert not len(memory.said(1))


def test_rows_of_another_pass_teach_nothing():
    memory = TokenExperts(MEMBERS)
    memory.begin([])
    memory.learn(0, [[1, 2]])
    memory.begin([5])
    memory.learn(0, [])
    memory.begin([5])
    assert not len(memory.said(0))


def test_the_token_that_was_read_longest_ago_is_forgotten(monkeypatch):
    monkeypatch.setattr(token_experts, "TOKENS", 3)
    memory = TokenExperts(MEMBERS)
    for token in (1, 2, 3, 1, 4):
        read(memory, [token], [[token, 0]])
    memory.begin([1, 2])
    assert memory.said(0).tolist() == [[1, 0]]
    assert len(memory._table) == 3
    memory.begin([3])  # which 2 has replaced
    assert not len(memory.said(0))


# The policy


def test_what_tokens_chose_last_is_expected_where_it_was_right():
    """In the first mixture it is, in the second it is not."""
    policy = ExpertPolicy([mixture for mixture in range(2) for _ in range(32)])
    policy.early.pays = lambda turn, ahead, rows: True
    random = np.random.default_rng(1)
    own = {token: random.permutation(32)[:4].tolist() for token in range(6)}
    nothing = np.zeros(64, np.bool_)
    for number in range(120):
        token = number % 6
        policy.begin([token])
        policy.recall(nothing)
        other = (random.permutation(32)[:4] + 32).tolist()
        policy.choose(0, sorted(own[token]), [own[token]])
        policy.choose(1, sorted(other), [other])
        policy.kept(0)
    policy.begin([3])
    assert policy.recall(nothing) == 2
    assert {*policy.guess()[:4]} == {*own[3]}
    told = [policy._told[turn] for turn in (0, 1)]
    first, second = (chances[said.places < PLACES].mean() for said, chances in told)
    assert first > 0.9 > 2 * second


def test_nothing_is_recalled_of_a_trial_nor_of_a_mixture_that_lacks_nothing():
    policy = ExpertPolicy([0] * 8 + [1] * 8)
    ready = np.repeat([True, False], 8)
    for _ in range(2):
        policy.begin([5])
        first, again = policy.recall(ready), policy.recall(ready)
        policy.choose(0, [1, 2], [[1, 2]])
        policy.choose(1, [9, 10], [[9, 10]])
    assert (first, again) == (1, 0)
    assert not policy.recall(ready)
    policy.learns = False
    policy.begin([5])
    assert not policy.recall(ready)


def test_a_router_is_not_asked_of_a_mixture_of_which_choices_were_recalled():
    policy = ExpertPolicy([0] * 8 + [1] * 8)
    for number in range(2):
        policy.begin([5])
        assert policy.recall(np.zeros(16, np.bool_)) == 2 * number
        policy.choose(0, [1, 2], [[1, 2]])
        assert policy.asks(1, 1) == (number == 0)
        if not number:
            policy.expect([[9, 10]])
        policy.choose(1, [9, 10], [[9, 10]])


def test_the_first_mixture_has_no_router_to_try():
    """So that only two alternatives are tried in turn there, and four in the third one."""
    policy = ExpertPolicy([mixture for mixture in range(3) for _ in range(8)])
    tries = {0: [0] * 4, 2: [0] * 4}
    policy.early.learn = lambda *what: None
    for _ in range(4 * FEWEST + 1):
        policy.begin([5])
        policy.recall(np.zeros(24, np.bool_))
        for turn in range(3):
            chosen = [8 * turn, 8 * turn + 1]
            policy.choose(turn, chosen, [chosen])
            for later, ahead in [(turn + ahead, ahead) for ahead in (1, 2) if turn + ahead < 3]:
                if policy.asks(later, ahead):
                    policy.expect([[8 * later]])
            if turn in tries and policy._ahead is not None:
                tries[turn][policy._ahead] += 1
            policy.waited(0.001)
    assert min(tries[2]) >= FEWEST - 1
    assert tries[0][1:3] == [0, 0]
    assert min(tries[0][0], tries[0][RECALLED]) >= FEWEST


# The cache


def test_what_a_token_chose_last_is_there_before_the_first_mixture_chooses(data):
    chunks, files, content = data
    cache = cache_of(chunks, 4, files)
    for token, wanted in ((1, [2, 3]), (2, [4, 5]), (1, [2, 3])):
        before = cache.counts
        cache.begin_pass([token])
        if before.used == 8:  # all but the last pass have been done
            wait_for(cache, lambda: cache._ready[[2, 3]].all())
        cache.choose(wanted, [wanted])
        for expert in wanted:
            assert cache.fetch(expert).tobytes() == content[expert]
        for expert in (7, 8, 13, 14):  # which push out what was there
            if token == 2:
                cache.choose([expert], [[expert]])
                assert cache.fetch(expert).tobytes() == content[expert]
    done = cache.counts - before
    assert (done.hits, done.misses) == (2, 0)
    cache.close()


def test_a_recalled_expert_pushes_out_nothing_that_is_in_use_or_chosen(data):
    chunks, files, content = data
    cache = cache_of(chunks, 2, files)
    cache.begin_pass([5])
    for chosen in ([0, 1], [6, 7]):
        cache.choose(chosen, [chosen])
        for expert in chosen:
            cache.fetch(expert)
    cache.begin_pass([5])
    cache.choose([2, 3], [[2, 3]])
    assert cache.fetch(2).tobytes() == content[2]
    wait_for(cache, lambda: cache._ready[[2, 3]].all())
    with cache._changed:
        assert 6 in cache._policy.guess()  # of the mixture that comes next
        assert not cache._begin_guessed()
        assert {*cache._slots} == {2, 3}
    cache.close()


# What it is worth, in virtual time


@dataclass(frozen=True)
class TokenScript(Script):
    """A machine and a model. faithful: whether a token chooses what it has chosen before, or at random;
    is_read: whether the cache learns which tokens a pass reads."""

    faithful: bool = True
    is_read: bool = True


class TokenMachine(Machine):
    """One whose passes read one of TOKENS tokens each."""

    TOKENS = 6

    def __init__(self, clock, script):
        super().__init__(clock, script)
        self.times = np.zeros((MIXTURES, RECALLED + 1), int)
        self._own = [[self._drawn(mixture) for mixture in range(MIXTURES)] for _ in range(self.TOKENS)]
        self._text = np.random.default_rng(2)

    def _begin(self):
        token = int(self._text.integers(self.TOKENS))
        wanted = self._own[token] if self.script.faithful else super()._begin()
        if self.script.is_read:
            self.cache.begin_pass([token])
        self.clock.sleep(self.script.compute_s)  # of attention in the first layer
        return wanted


def times_of(script, passes=5 * CYCLE):
    """Return how often each mixture was told in each way, of the last CYCLE passes of so many; their seconds;
    those of all."""
    clock = VirtualClock()

    def work():
        machine = TokenMachine(clock, script)
        machine.run(passes - CYCLE)
        before = clock.now()
        times = machine.run(CYCLE)
        machine.cache.close()
        return times, clock.now() - before, clock.now()

    return clock.run(work)


def test_choices_are_recalled_where_tokens_repeat_them_and_routers_say_nothing():
    script = TokenScript(right=frozenset())
    computing_s = CYCLE * (MIXTURES + 1) * script.compute_s
    times, seconds, _ = times_of(script)
    assert times[0].tolist() == [1, 0, 0, CYCLE - 1]
    assert times[-1].tolist() == [1, 1, 1, CYCLE - AHEAD - 1]
    without = times_of(replace(script, is_read=False))[1]
    assert seconds - computing_s < 0.5 * (without - computing_s)


@pytest.mark.parametrize("right", [frozenset(), frozenset({1})])
def test_passes_whose_tokens_repeat_nothing_take_no_longer(right):
    script = dict(faithful=False, right=right, ask_s=0.0001 if right else 0.005)
    times, _, seconds = times_of(TokenScript(**script), 12 * CYCLE)
    assert seconds < 1.02 * times_of(TokenScript(**script, is_read=False), 12 * CYCLE)[2]
    if right:
        assert times[-1].argmax() == 1
