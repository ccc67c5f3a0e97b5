"""Drafting ahead while the target's pass has a thread of its own: the draft computes only while the target
waits, and whatever ends one of the two ends both."""

import threading
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.decoding.pass_thread import PassThread, Whole
from engine.decoding.verdict import PassEnded
from engine.decoding.verification import TargetVerifier
from engine.drafting import TreeLimits
from engine.model.interface import Yielding, no_progress
from engine.sampling import Sampler
from tests.engine.decoding.paths import LAYERS
from tests.engine.decoding.test_ahead import MANY, Stopped, answer, drafts, pair, plain, samplers

each_draft = pytest.mark.parametrize("draft", ["apart", "states", "self"])


class Waiting:
    """A stand-in for a streamer: the target waits in each layer until the draft has run some layers, or
    waits for the target itself."""

    def __init__(self, draft, script):
        self.on_wait = lambda waits: None
        self.script = list(script)
        self.layers = 0  # of the draft
        self.drafts = False  # whether the draft may run more of them
        self.intrusions = 0
        self.moved_on = threading.Condition()
        draft.on_layer = self.draft_layer

    def draft_layer(self, done, total):
        with self.moved_on:
            self.layers += 1
            self.moved_on.notify_all()

    def target_layer(self, done, total):
        wanted = self.script.pop(0) if self.script else 0
        if not wanted or threading.current_thread().name != "target":
            return
        with self.moved_on:
            goal = self.layers + wanted
        self.on_wait(True)
        with self.moved_on:
            self.moved_on.wait_for(lambda: self.layers >= goal or not self.drafts)
        self.on_wait(False)
        with self.moved_on:
            before = self.layers
            # At most the layer that was about to run comes between.
            self.moved_on.wait_for(lambda: self.layers > before + 1, timeout=0.002)
            self.intrusions += self.layers > before + 1

    def set_drafts(self, drafts):
        with self.moved_on:
            self.drafts = drafts
            self.moved_on.notify_all()

    def kept(self, row):
        """Nothing here depends on where the text goes on."""


class WatchedVerifier(TargetVerifier):
    """Tells the streamer when its passes are waited for: the tree is complete, or drafting has ended."""

    def _launch(self, run, choose, progress):
        streamer = self._target.model.streamer
        streamer.set_drafts(True)
        pending = super()._launch(run, choose, progress)
        verdict, cancel = pending.verdict, pending.cancel

        def waited_for(wait):
            streamer.set_drafts(False)
            return wait()

        pending.verdict, pending.cancel = partial(waited_for, verdict), partial(waited_for, cancel)
        return pending


def threaded(sampler, script=(), closeness=0.8, draft="apart"):
    target, drafter = pair(draft, closeness)
    model = drafter.drafters[0] if draft.endswith("merged") else drafter
    streamer = Waiting(model.sequence.model, script)
    target.model.streamer, target.model.on_layer = streamer, streamer.target_layer
    return WatchedVerifier(target, sampler, ahead=True), drafter, streamer


def no_thread_is_left():
    return not [thread for thread in threading.enumerate() if thread.name == "target"]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 12), max_size=60), samplers, drafts)
def test_the_draft_computes_only_while_the_target_waits(script, sampler, draft):
    verifier, drafter, streamer = threaded(sampler, script, draft=draft)
    found, _ = answer(verifier, drafter, sampler, TreeLimits(8, 4, 6))
    assert found == plain(sampler)
    assert streamer.intrusions == 0
    assert no_thread_is_left()


@each_draft
def test_trees_survive_passes_that_wait(draft):
    verifier, drafter, _ = threaded(Sampler(), [4 * LAYERS] * 300, 1.0, draft)
    found, iterations = answer(verifier, drafter, Sampler(), TreeLimits(4, 4, 3))
    assert found == plain(Sampler())
    assert sum(each.survivors > 0 for each in iterations) > 0.5 * len(iterations)


def test_nothing_is_drafted_beside_a_pass_that_never_waits():
    verifier, drafter, _ = threaded(Sampler())
    found, iterations = answer(verifier, drafter, Sampler(), TreeLimits(8, 4, 6))
    assert found == plain(Sampler())
    assert not any(each.survivors for each in iterations)


def failing(calls, error, otherwise=no_progress):
    """Return a progress that does as `otherwise` so many times, and then raises `error`."""
    left = calls

    def progress(done, total):
        nonlocal left
        left -= 1
        if left < 0:
            raise error
        otherwise(done, total)

    return progress


@each_draft
@pytest.mark.parametrize("calls", [3, 9, 14, 15, 16, 20, 30, 50])
def test_stopping_at_any_call_of_progress_ends_both_passes(calls, draft):
    verifier, drafter, streamer = threaded(Sampler(), [5] * 100, draft=draft)
    progress = failing(calls, Stopped())
    with pytest.raises(Stopped):
        answer(verifier, drafter, Sampler(), TreeLimits(8, 4, 6), progress=progress)
    assert no_thread_is_left()
    streamer.script = [5] * 100
    assert answer(verifier, drafter, Sampler(), TreeLimits(8, 4, 6))[0] == plain(Sampler())


@each_draft
@pytest.mark.parametrize("layer", [LAYERS + 1, LAYERS + 3, 3 * LAYERS, 3 * LAYERS + 2])
def test_an_error_of_the_target_ends_the_answer_and_the_next_is_whole(layer, draft):
    verifier, drafter, streamer = threaded(Sampler(), [5] * 100, draft=draft)
    target = verifier._target.model
    target.on_layer = failing(layer, OSError("the disk is gone"), streamer.target_layer)
    with pytest.raises(OSError, match="the disk is gone"):
        answer(verifier, drafter, Sampler(), TreeLimits(8, 4, 6))
    assert no_thread_is_left()
    target.on_layer = streamer.target_layer
    assert answer(verifier, drafter, Sampler(), TreeLimits(8, 4, 6))[0] == plain(Sampler())


@each_draft
@pytest.mark.parametrize("layer", [40, 43, 47, 60])
def test_an_error_of_the_draft_ends_the_pass_of_the_target(layer, draft):
    verifier, drafter, streamer = threaded(Sampler(), [MANY] * 100, draft=draft)
    draft = drafter.sequence.model
    draft.on_layer = failing(layer, MemoryError("no more"), streamer.draft_layer)
    with pytest.raises(MemoryError, match="no more"):
        answer(verifier, drafter, Sampler(), TreeLimits(8, 4, 6))
    assert no_thread_is_left()
    draft.on_layer = streamer.draft_layer
    streamer.script = []
    assert answer(verifier, drafter, Sampler(), TreeLimits(8, 4, 6))[0] == plain(Sampler())


def run_beside(pending):
    """Yield each layer of a pass beside another one, until that has ended."""
    with suppress(PassEnded):
        for layer in range(99):
            pending(layer, 99)
            yield layer


class Waits:
    """A stand-in for a streamer."""

    def on_wait(self, waits):
        """Set by the pass."""


@pytest.mark.parametrize("is_beside", [False, True], ids=["for the verdict", "beside the pass"])
def test_a_slow_reader_of_progress_holds_up_neither_pass_nor_disk(is_beside):
    """The ring tells that it waits while it holds its lock, which its readers need."""
    reporting, told = threading.Event(), threading.Event()

    def run(progress):
        reporting.wait(5)
        streamer.on_wait(True)
        streamer.on_wait(False)
        told.set()
        return "result"

    reports = []

    def slow(done, total):
        reports.append(done)
        if len(reports) > 1:  # the second one is made while the pass is waited for, in either case
            reporting.set()
            assert told.wait(5)

    streamer = Waits()
    pending = PassThread(run, lambda result: result, streamer, slow)
    if is_beside:
        list(run_beside(pending))
    assert pending.verdict() == "result"


def test_a_layer_that_runs_when_the_target_ends_is_the_last_before_the_verdict():
    streamer, layers = Waits(), []
    may_end = threading.Event()

    def run(progress):
        streamer.on_wait(True)
        assert may_end.wait(5)
        return "result"

    pending = PassThread(run, lambda result: result, streamer, no_progress)
    for layer in run_beside(pending):
        layers.append(layer)
        if layer == 2:
            may_end.set()
            pending._thread.join()
    assert layers == [0, 1, 2]
    assert pending.verdict() == "result"


def test_a_prompt_that_is_being_read_is_read_to_its_end():
    class Ended(Yielding):
        def __call__(self, done, total):
            raise PassEnded

    Whole(Ended())(1, 10)
    with pytest.raises(PassEnded):
        Whole(Ended())(0, 10)


def test_a_pass_is_cancelled_at_its_next_layer():
    begun, may_go_on = threading.Event(), threading.Event()
    layers = []

    def run(progress):
        for layer in range(LAYERS):
            progress(layer, LAYERS)
            layers.append(layer)
            begun.set()
            may_go_on.wait()

    pending = PassThread(run, lambda output: None, None, no_progress)
    begun.wait()
    assert not pending.ready
    ending = threading.Thread(target=pending.cancel)
    ending.start()
    while not pending._is_cancelled:
        pass
    may_go_on.set()
    ending.join()
    assert layers == [0]
    assert pending.ready
