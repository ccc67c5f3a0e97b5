"""What routers say early: how sure it is, whether asking pays, and what the cache reads because of it."""

import threading
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import Interrupted, StreamBroken
from engine.streaming.early_routers import AGAIN, AHEAD, FEWEST, PLACES, EarlyChoice, EarlyRouters
from engine.streaming.expert_policy import LIKELY, ExpertPolicy
from tests.engine.streaming.test_expert_cache import EXPERTS, MIXTURES, FaultyFile, cache_of, data

__all__ = ["data"]


def wait_for(cache, condition):
    with cache._changed:
        assert cache._changed.wait_for(condition, timeout=60)


def use(cache, content, wanted):
    cache.choose(wanted)
    for expert in wanted:
        assert cache.fetch(expert).tobytes() == content[expert]


def ask(cache, mixture, said, ahead=1):
    """Tell the cache what the router of `mixture` says."""
    assert cache.asks(mixture, ahead)
    cache.expect(said)


def choice(turn, ahead=1, places=(0,), usual=0.1):
    return EarlyChoice(
        turn, ahead, np.array(places), np.zeros(len(places), np.bool_), np.full(len(places), usual)
    )


# The cache


def test_what_a_router_says_early_is_there_when_it_chooses(data):
    chunks, files, content = data
    cache = cache_of(chunks, 4, files)
    use(cache, content, [1])
    ask(cache, 1, [[8, 10]])
    wait_for(cache, lambda: cache._ready[[8, 10]].all())
    before = cache.counts
    use(cache, content, [8, 10])
    done = cache.counts - before
    assert (done.hits, done.misses, done.right, cache.counts.predicted) == (2, 0, 2, 2)
    cache.close()


def test_what_is_on_its_way_when_its_mixture_chooses_is_late_and_no_hit(data):
    chunks, files, content = data
    ((path, file),) = files.items()
    stalled = FaultyFile(file)
    cache = cache_of(chunks, 5, {path: stalled})
    use(cache, content, [8])
    use(cache, content, [1])
    stalled.going.clear()
    ask(cache, 1, [[8, 10]])
    wait_for(cache, lambda: 10 in cache._slots)
    before = cache.counts
    cache.choose([8, 10, 11])
    stalled.going.set()
    for expert in (8, 10, 11):
        assert cache.fetch(expert).tobytes() == content[expert]
    done = cache.counts - before
    assert (done.hits, done.late, done.misses, done.right) == (1, 1, 1, 1)
    use(cache, content, [8, 10, 11])
    assert cache.counts - before == replace(done, hits=4), "they have arrived"
    cache.close()


def test_nothing_is_guessed_of_a_mixture_while_its_router_is_asked(data):
    """The last passes say less, and what they say would be read before the answer is there."""
    chunks, files, content = data
    cache = cache_of(chunks, 4, files)
    for _ in range(5):
        use(cache, content, [1])
        use(cache, content, [7])
    with cache._changed:
        cache._policy.choose(0, [1])
        assert cache._policy.guess() == [7]
    assert cache.asks(1, 1)
    with cache._changed:
        assert not cache._policy.guess()
    cache.expect([[9]])
    with cache._changed:
        assert cache._policy.guess()[0] == 9
    cache.close()


def test_nothing_is_asked_of_a_mixture_whose_experts_are_all_there(data):
    chunks, files, content = data
    cache = cache_of(chunks, len(chunks), files)
    mixture = list(range(EXPERTS, 2 * EXPERTS))
    use(cache, content, mixture[1:])
    assert cache.asks(1, 1)
    use(cache, content, mixture)
    assert not cache.asks(1, 1)
    assert cache.asks(2, 1)
    cache.close()


def test_what_is_said_of_the_next_mixture_but_one_is_read_behind_that_of_the_next(data):
    chunks, files, content = data
    cache = cache_of(chunks, 6, files)
    use(cache, content, [1])
    with cache._changed:
        begun, guess = [], cache._guess
        cache._guess = lambda expert: begun.append(expert) or guess(expert)
        assert cache.asks(1, 1)
        assert cache.asks(2, 2)
        cache.expect([[8]])
        cache.expect([[13, 14]])
    wait_for(cache, lambda: cache._ready[[8, 13, 14]].all())
    assert begun == [8, 13, 14]
    use(cache, content, [8])
    assert not cache.asks(2, 1)  # it has said all that it will
    before = cache.counts
    use(cache, content, [13, 14])
    done = cache.counts - before
    assert (done.hits, done.misses, done.right) == (2, 0, 2)
    cache.close()


def test_a_guess_pushes_out_nothing_that_is_in_use_or_chosen(data):
    chunks, files, content = data
    cache = cache_of(chunks, 3, files)
    cache.choose([0, 1, 2])
    assert cache.fetch(0).tobytes() == content[0]
    wait_for(cache, lambda: cache._ready[[0, 1, 2]].all())
    looked, guess = threading.Event(), cache._policy.guess
    with cache._changed:
        cache._policy.guess = lambda: looked.set() or guess()
    ask(cache, 1, [[6, 7, 8]])
    assert looked.wait(60)
    with cache._changed:
        assert {*cache._slots} == {0, 1, 2}
    assert cache.counts.predicted == 0
    assert cache.fetch(1).tobytes() == content[1]
    assert cache.fetch(2).tobytes() == content[2]  # the others make room now
    with cache._changed:
        cache._changed.notify_all()
    wait_for(cache, lambda: cache._ready[[6, 7]].all())
    assert cache._ready[2]
    cache.close()


def test_a_guess_that_cannot_be_read_fails_only_where_it_is_needed(data):
    chunks, files, content = data
    ((path, file),) = files.items()
    faulty = FaultyFile(file)
    faulty.faulty.add(7)
    cache = cache_of(chunks, 4, {path: faulty})
    use(cache, content, [1])
    ask(cache, 1, [[7, 8]])
    wait_for(cache, lambda: cache._ready[8] and 7 in cache._errors)
    use(cache, content, [8])
    use(cache, content, [1])
    cache.choose([7])
    with pytest.raises(StreamBroken):
        cache.fetch(7)
    faulty.faulty.clear()
    use(cache, content, [7])
    cache.close()


def test_what_is_chosen_is_read_before_what_is_only_guessed(data):
    chunks, files, content = data
    ((path, file),) = files.items()
    faulty = FaultyFile(file)
    cache = cache_of(chunks, 6, {path: faulty})
    use(cache, content, [1])
    faulty.going.clear()
    ask(cache, 1, [[7, 8]])
    wait_for(cache, lambda: {7, 8} <= {*cache._slots} and not cache._pieces)  # both readers have one
    with cache._changed:
        assert cache._guess(9)
    cache.choose([10])
    with cache._changed:
        assert [expert for expert, _ in cache._pieces] == [9, 10]
        assert cache._first() == 1
    faulty.going.set()
    assert cache.fetch(10).tobytes() == content[10]
    cache.close()


def test_a_wait_that_is_interrupted_teaches_nothing(data, monkeypatch):
    chunks, files, content = data
    ((path, file),) = files.items()
    faulty = FaultyFile(file)
    cache = cache_of(chunks, 4, {path: faulty})
    noted = []
    monkeypatch.setattr(cache._policy.early, "waited", lambda seconds, *how: noted.append(how))
    use(cache, content, [1])
    ask(cache, 1, [[8]])
    wait_for(cache, lambda: cache._ready[8])
    faulty.going.clear()
    cache.choose([7])
    with monkeypatch.context() as stopped:
        stopped.setattr("engine.streaming.disk_watch.is_interrupted", lambda: True)
        with pytest.raises(Interrupted):
            cache.fetch(7)
    faulty.going.set()
    use(cache, content, [1])
    assert not noted
    ask(cache, 1, [[8]])
    use(cache, content, [7])
    assert noted == [(1, 1, 0)]
    cache.close()


# The policy


def test_an_expert_is_as_sure_as_its_place_and_its_layer_have_been():
    policy = ExpertPolicy([mixture for mixture in range(3) for _ in range(32)])
    random = np.random.default_rng(1)
    for _ in range(60):
        for mixture in range(3):
            said = (random.permutation(32)[:4] + 32 * mixture).tolist()
            policy.expect([said])
            # The first mixture chooses what its router says, the second half of it, the third something else.
            kept = {0: 4, 1: 2, 2: 0}[mixture]
            others = [expert for expert in range(32 * mixture, 32 * mixture + 32) if expert not in said]
            policy.choose(mixture, sorted([*said[:kept], *random.permutation(others)[: 4 - kept].tolist()]))
    for mixture, right in ((0, 4), (1, 2), (2, 0)):
        said = [expert for expert in policy.members(mixture).tolist() if not policy._used[expert]][:4]
        policy.expect([said])
        assert {*policy.guess()} & {*said} == {*said[:right]}
        policy.choose(mixture, said)


def test_what_a_router_does_not_say_is_kept_for_a_later_pass():
    """Its chance is small in this turn only."""
    policy = ExpertPolicy([0] * 16 + [1] * 16)
    for number in range(30):
        said = [16, 17] if number % 2 else [20, 21]
        policy.choose(0, [0, 1])
        policy.expect([said])
        policy.choose(1, said)
    policy.choose(0, [0, 1])
    policy.expect([[20, 21]])
    assert 16 not in policy.guess()
    worth = policy.worth()
    assert worth[20] > worth[16] > worth[25]


def test_of_several_rows_the_first_place_of_an_expert_counts():
    policy = ExpertPolicy([0] * 8 + [1] * 8)
    policy.choose(0, [0])
    policy.expect([[8, 9], [10, 8]])
    assert policy._told[1][0].places.tolist() == [0, 1, 0, *[PLACES] * 5]


def test_what_is_said_two_turns_ahead_is_remembered_while_another_mixture_chooses():
    policy = ExpertPolicy([mixture for mixture in range(4) for _ in range(8)])
    for _ in range(9):
        policy.choose(1, [8, 9])
    policy.choose(0, [0, 1])
    policy.expect([[16, 17]])
    assert policy.guess() == [8, 9, 16, 17]  # those of the next mixture come first
    policy.choose(1, [8, 9])
    assert policy.guess()[:2] == [16, 17]
    assert policy.worth()[16] > policy.worth()[18]
    policy.choose(2, [16, 17])
    assert (policy.was_told.turn, policy.was_told.ahead) == (2, 2)
    policy.choose(3, [24])
    assert policy.was_told is None


def test_what_is_said_is_forgotten_once_its_turn_has_passed():
    """A pass that ended early left it behind."""
    policy = ExpertPolicy([mixture for mixture in range(4) for _ in range(8)])
    policy.choose(1, [8])
    policy.expect([[24]])
    policy.choose(0, [0])
    policy.choose(3, [25])
    assert policy.was_told is None


def test_how_sure_a_router_is_depends_on_how_early_it_is_asked():
    policy = ExpertPolicy([mixture for mixture in range(4) for _ in range(16)])
    random = np.random.default_rng(1)
    for number in range(60):
        ahead = 1 + number % 2
        said = (random.permutation(16)[:4] + 48).tolist()
        policy.choose(3 - ahead, [16 * (3 - ahead)])
        policy.expect([said])
        if ahead == 2:  # then it is wrong
            policy.choose(2, [32])
            said = [expert for expert in range(48, 64) if expert not in said][:4]
        policy.choose(3, said)
    policy.choose(1, [16])
    policy.expect([[50, 51]])
    assert not {50, 51} & {*policy.guess()}
    policy.choose(2, [32])
    policy.forget_told()
    policy.expect([[50, 51]])
    assert {50, 51} <= {*policy.guess()}


class Ended(Exception):
    """A pass that ends early."""


class WatchedPolicy(ExpertPolicy):
    """A policy of TURNS mixtures of four experts. `paying`: the (turn, ahead) that pay; `waits`: what `early`
    is told of waiting, as (turn, ahead)."""

    TURNS = 5

    def __init__(self):
        super().__init__([turn for turn in range(self.TURNS) for _ in range(4)])
        self.paying, self.waits = set(), []
        self.early.pays = lambda turn, ahead, rows: (turn, ahead) in self.paying
        self.early.waited = lambda seconds, turn, ahead, rows: self.waits.append((turn, ahead))

    def run(self, steps, may_ask):
        """Do a pass, and check that it finds what it has done itself, and nothing else. Raises Ended after so
        many steps: the pass is cancelled."""
        said, asked = {}, {}  # by turn: the expert; how early

        def step():
            nonlocal steps
            if not (steps := steps - 1):
                raise Ended

        for turn in range(self.TURNS):
            self.choose(turn, [4 * turn])
            assert (self.was_told and self.was_told.places.argmin()) == said.get(turn)
            later = [(turn + ahead, ahead) for ahead in (1, 2) if turn + ahead < self.TURNS and may_ask]
            now = [at for at in later if self.asks(*at)]
            assert now == [at for at in later if at in self.paying and at[0] not in said]
            asked |= {each: ahead if (each, ahead) in now else 0 for each, ahead in later if each not in said}
            for each, _ in now:
                step()
                assert each not in {expert // 4 for expert in self.guess()}
                said[each] = steps % 4
                self.expect([[4 * each + said[each]]])
            step()
            self.waited(0.001)
            assert self.waits == ([(turn, asked[turn])] if turn in asked else [])
            self.waits.clear()


ways = st.sets(st.tuples(st.integers(1, WatchedPolicy.TURNS - 1), st.integers(1, 2)))


@given(st.lists(st.tuples(ways, st.integers(1, 4 * WatchedPolicy.TURNS), st.booleans()), max_size=8))
@settings(max_examples=50, deadline=None)
def test_whatever_a_pass_that_ends_early_leaves_behind_is_forgotten(passes):
    policy = WatchedPolicy()
    for policy.paying, steps, may_ask in passes:
        with suppress(Ended):
            policy.run(steps, may_ask)


def test_experts_are_what_they_are_whichever_passes_end_early(data):
    chunks, files, content = data
    cache = cache_of(chunks, 5, files)
    random = np.random.default_rng(5)
    fetched = 0
    for _ in range(150):
        ends = random.integers(1, 4 * MIXTURES)  # steps of this pass
        for mixture in range(MIXTURES):
            wanted = sorted((mixture * EXPERTS + random.permutation(EXPERTS)[:2]).tolist())
            with cache.changed:
                cache.choose(wanted, [wanted])
                later = [(mixture + ahead, ahead) for ahead in (1, 2) if mixture + ahead < MIXTURES]
                asked = [each for each, ahead in later if cache.asks(each, ahead)]
            for each in asked:
                ends -= 1
                if ends >= 0:
                    cache.expect([(each * EXPERTS + random.permutation(EXPERTS)[:2]).tolist()])
            for expert in wanted:
                ends -= 1
                if ends >= 0:
                    assert cache.fetch(expert).tobytes() == content[expert]
                    fetched += 1
            if ends < 0:
                break
    assert cache.counts.used == fetched
    assert len(cache._slots) + len(cache._free) <= 5
    cache.close()


# Whether asking pays


class Machine:
    """Passes with one mixture. waits: the seconds that it waits if its router is asked 0, 1 and 2 turns
    early; asking: those by which asking delays a pass."""

    def __init__(self, waits, asking=0.001, rows=1):
        self.waits, self.asking, self.rows = waits, asking, rows

    def run(self, early, turns, turn=0):
        """Return how often the router is asked so early, in so many turns, [AHEAD + 1]."""
        times = [0] * (AHEAD + 1)
        for _ in range(turns):
            ahead = next((each for each in (2, 1) if early.pays(turn, each, self.rows)), 0)
            if ahead:
                early.asked(self.asking, self.rows)
            early.waited(self.waits[ahead], turn, ahead, self.rows)
            times[ahead] += 1
        return times


def taught(*machines):
    """Return routers that know these machines, one of each mixture."""
    early = EarlyRouters(len(machines))
    for turn, machine in enumerate(machines):
        machine.run(early, 3 * FEWEST, turn)
    return early


# In so many turns, each alternative that does not pay is tried once.
CYCLE = AGAIN + 1
BEST = CYCLE - AHEAD  # of these turns go to the one that pays


def test_each_alternative_is_tried_first():
    assert Machine((0.0, 0.0, 0.0)).run(EarlyRouters(1), 3 * FEWEST) == [FEWEST] * 3


def test_a_router_is_asked_as_early_as_costs_least():
    for waits, best in (
        ((0.004, 0.002, 0.001), 2),
        ((0.004, 2**-10, 2**-10), 2),  # of two that cost as much, which is exact here, the earlier one
        ((0.004, 0.001, 0.002), 1),
        ((0.004, 0.0035, 0.0035), 0),  # asking takes longer than it saves
        ((0.004, 0.004, 0.004), 0),  # guesses are useless,
        ((0.004, 0.006, 0.005), 0),  # or push out what is used
        ((0.0, 0.0, 0.0), 0),  # nothing is waited for
    ):
        machine = Machine(waits)
        early = taught(machine)
        machine.run(early, 2 * CYCLE)
        expected = [3] * (AHEAD + 1)
        expected[best] = 3 * BEST
        assert machine.run(early, 3 * CYCLE) == expected


def test_each_mixture_is_asked_as_early_as_is_best_for_it():
    machines = [Machine((0.004, 0.002, 0.001)), Machine((0.004, 0.001, 0.002)), Machine((0.001,) * 3)]
    early = taught(*machines)
    for turn, machine in enumerate(machines):
        times = machine.run(early, 3 * CYCLE, turn)
        assert times.index(max(times)) == 2 - turn


def test_passes_of_few_rows_and_of_many_are_told_apart():
    """What a pass of a tree waits, and what asking takes for all its rows, says nothing of a single row."""
    early = EarlyRouters(1)
    one, many = Machine((0.004, 0.001, 0.002)), Machine((0.02, 0.018, 0.018), asking=0.005, rows=64)
    for _ in range(20):
        one.run(early, CYCLE)
        many.run(early, CYCLE)
    assert one.run(early, CYCLE)[1] >= BEST - 1
    assert many.run(early, CYCLE)[0] >= BEST - 1


@pytest.mark.parametrize("first", range(AHEAD + 1))
@pytest.mark.parametrize("then", range(AHEAD + 1))
def test_what_is_best_is_found_again_when_the_machine_changes(first, then):
    """Within 300 turns, by alternatives that waits differ between by half or more, at random."""
    random = np.random.default_rng(3 * first + then)
    machine = Machine(None, asking=0.0002)
    early = EarlyRouters(1)
    for best in (first, then):
        means = [0.001 if each == best else 0.003 for each in range(AHEAD + 1)]
        machine.waits = Drawn(random, means)
        machine.run(early, 300)
        assert machine.run(early, 10 * CYCLE)[best] >= 8 * BEST


class Drawn:
    """Waits for as many experts as are missing by chance, 0.5 ms for each."""

    def __init__(self, random, means):
        self._random, self._means = random, means

    def __getitem__(self, ahead):
        return self._random.poisson(self._means[ahead] / 0.0005) * 0.0005


def test_chances_before_anything_was_learned_are_likely_enough_to_try():
    found = EarlyRouters(1).chances(choice(0, places=[0, PLACES - 1, PLACES]))
    assert (found[:2] >= LIKELY).all()
    assert found[2] < 0.1
