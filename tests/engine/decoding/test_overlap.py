"""A compiled target that waits for its disk, and a draft model beside it: the text is that of plain decoding
bit for bit, and whatever ends the answer ends the pass of the target within one chunk."""

import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
import torch

from engine.bench.slower_disk import slow_down
from engine.checkpoints import open_checkpoint
from engine.decoding.verification import TargetVerifier
from engine.drafting import DrafterParts, TreeLimits, make_drafter
from engine.drafting.none import NoDrafter
from engine.errors import Interrupted
from engine.interruption import interrupt, resume
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.sequence import Sequence
from engine.sampling import Sampler
from engine.streaming import WeightLimits
from tests.engine.decoding.test_ahead import Stopped
from tests.engine.model.compiled_models import CONTEXT, random_text, tiny
from tests.engine.model.test_self_draft import LITTLE, PASS_S, SAMPLERS, answer, rows_of
from tests.engine.models import disturbed

LIMITS = TreeLimits(8, 4, 6)


@pytest.fixture(scope="module")
def files(request, tmp_path_factory):
    module, folder = tiny(getattr(request, "param", "llama")), tmp_path_factory.mktemp("pair")
    for name, each in (("target", module), ("draft", disturbed(module, 0.05))):
        each.to(torch.bfloat16).save_pretrained(folder / name)
    return [open_checkpoint(folder / name) for name in ("target", "draft")]


@contextmanager
def streamed(files, pass_s=PASS_S):
    """A streamed target, which reads for so many seconds in every pass, and a draft in memory."""
    target = load_compiled(files[0], no_progress, CONTEXT, limits=WeightLimits(LITTLE))
    try:
        slow_down(target.streamer, target.streamer.pass_nbytes / pass_s / 1e9)
        yield Sequence(target, CONTEXT), Sequence(load_compiled(files[1], no_progress, CONTEXT), CONTEXT)
    finally:
        target.close()


def drafter_of(target, draft, name="specexec"):
    return make_drafter(name, DrafterParts(target.model.vocabulary, draft))


def plain(target, sampler, prompt, most=24):
    target.rewind(0)
    return answer(target, NoDrafter(), sampler, prompt, NoDrafter.defaults, most=most)[0]


@pytest.mark.parametrize(
    ("files", "name"),
    [("llama", "specexec"), ("llama", "specexec+pld"), ("qwen3_5_text", "specexec")],
    indirect=["files"],
)
def test_a_draft_model_beside_a_streamed_target_changes_no_bit(files, name):
    with streamed(files) as (target, draft):
        drafter, prompt = drafter_of(target, draft, name), random_text(20)
        for sampler in SAMPLERS:
            verifier = TargetVerifier(target, sampler, ahead=True)
            found, iterations = answer(target, drafter, sampler, prompt, LIMITS, verifier)
            rows = rows_of(target)
            assert any(each.ahead for each in iterations)
            assert any(each.survivors for each in iterations)
            assert found == plain(target, sampler, prompt)
            assert all(map(np.array_equal, rows, rows_of(target)))
            target.rewind(0)


@pytest.mark.parametrize("layers", [2, 25])
def test_stopping_while_the_target_waits_for_its_disk_ends_its_pass_within_one_chunk(files, layers):
    with streamed(files, pass_s=0.3) as (target, draft):
        drafter, prompt, left = drafter_of(target, draft), random_text(20), layers
        streamer, moved = target.model.streamer, []

        def stop(done, total):
            nonlocal left
            left -= 1
            if left < 0:
                moved.append(streamer.moved)
                raise Stopped

        verifier = TargetVerifier(target, Sampler(), ahead=True)
        with pytest.raises(Stopped):
            answer(target, drafter, Sampler(), prompt, LIMITS, verifier, stop)
        largest = max(chunk.nbytes for chunk in streamer._chunks)
        assert streamer.moved - moved[0] <= largest
        assert not [each for each in threading.enumerate() if each.name == "target"]
        found, _ = answer(target, drafter, Sampler(), prompt, LIMITS, most=4)
        assert found == plain(target, Sampler(), prompt, most=4)


class Hanging:
    """A file on a disk that hangs until `goes_on`."""

    goes_on = threading.Event()

    def __init__(self, file):
        self.file = file

    def read(self, into, offset, needed):
        self.goes_on.wait(20)
        self.file.read(into, offset, needed)

    def close(self):
        self.file.close()


def test_an_interruption_ends_both_passes_even_if_the_disk_hangs(files):
    with streamed(files, pass_s=0.01) as (target, draft):
        drafter, prompt = drafter_of(target, draft), random_text(20)
        verifier = TargetVerifier(target, Sampler(), ahead=True)
        Hanging.goes_on.clear()
        target.model.streamer.replace_files(Hanging)
        timer = threading.Timer(0.3, interrupt)
        timer.start()
        started = time.perf_counter()
        try:
            with pytest.raises(Interrupted):
                answer(target, drafter, Sampler(), prompt, LIMITS, verifier)
            assert time.perf_counter() - started < 5
        finally:
            timer.join()
            resume()
            Hanging.goes_on.set()
        found, _ = answer(target, drafter, Sampler(), prompt, LIMITS, verifier)
        assert found == plain(target, Sampler(), prompt)
