"""Replayed passes equal plain passes. A tape simulates a CUDA graph: it repeats the same operations on the
same memory, with the Python numbers of the recording."""

import gc
import weakref

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from engine import firsts, ways
from engine.model.architectures import family_of
from engine.model.sequence import Sequence
from engine.quantization import Workspace
from engine.quantization.random_matrix import random_packed
from engine.torch_model import graphs
from engine.torch_model.forward import is_mixture
from engine.torch_model.graphs import Graphs, bucket
from tests.engine.models import CONFIGS, ours, reference
from tests.engine.sessions import Session, assert_same

# Operations that make the host wait for the device, or that cannot be recorded for other reasons.
SYNCHRONISING = ("_local_scalar_dense", "nonzero", "unique", "is_nonzero", "equal", "_assert_async")
CPU = "cpu"


def tensors(tree):
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


class Tape(TorchDispatchMode):
    """Records operations and repeats them. Before a replay it poisons all results, so stale ones are
    noticed."""

    def __init__(self):
        super().__init__()
        self.notes = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        assert not any(word in str(operation) for word in SYNCHRONISING), operation
        results = operation(*args, **(kwargs or {}))
        memory = {each.untyped_storage().data_ptr() for each in tensors((args, kwargs))}
        own = [each for each in tensors(results) if each.untyped_storage().data_ptr() not in memory]
        self.notes.append((operation, args, kwargs or {}, results, own))
        return results

    def replay(self):
        for _, _, _, _, own in self.notes:
            for each in own:
                each.fill_(float("nan") if each.is_floating_point() else 1)
        for operation, args, kwargs, results, own in self.notes:
            again = tensors(operation(*args, **kwargs))
            for old, new in zip(tensors(results), again, strict=True):
                if any(old is each for each in own):
                    old.copy_(new)


def taped(work):
    work()
    with Tape() as tape:
        output = work()
    return tape.replay, output


def repeated(work):
    """Record work that a tape does not see, such as compiled unpacking, by calling it again."""
    output = work()

    def replay():
        again = work()
        output.logits.copy_(again.logits)
        for layer, states in output.hidden.items():
            states.copy_(again.hidden[layer])

    return replay, output


class PoisonedInputs(graphs.Inputs):
    def fill(self, *args):
        for buffer in (self.tokens, self.positions):
            buffer.fill_(1 << 40)
        for place in self.places:
            place.slots.fill_(1 << 40)
            place.key_positions.fill_(1 << 40)
            place.seen.fill_(True)
        super().fill(*args)


@pytest.fixture
def poisoned(monkeypatch):
    monkeypatch.setattr(graphs, "Inputs", PoisonedInputs)


def pair(kind, capacity, record):
    """Return two sequences over the same weights: a plain one, and one whose small passes are replayed."""
    module = reference(kind)
    plain, replayed = ours(module), ours(module)
    replayed.graphs = Graphs(record, [])
    return Sequence(plain, capacity), Sequence(replayed, capacity)


# Passes of models whose layers have states are not recorded.
RECORDED = [kind for kind in CONFIGS if not family_of(str(CONFIGS[kind].get("model_type", kind))).recurrent]


@pytest.mark.parametrize("kind", RECORDED)
@pytest.mark.usefixtures("poisoned")
def test_replayed_passes_equal_plain_ones(kind):
    # The host reads the routing of a mixture: on a device it is not recorded.
    record = repeated if is_mixture(reference(kind)) else taped
    session = Session(*pair(kind, 300, record), seed=1)
    session.extend(80)  # too many rows to be replayed
    for _ in range(4):
        session.extend(session.random.randint(1, 5))
        session.grow(passes=3, most=14)
    for each in session.both:
        each.rewind(40)
    session.extend(215)  # the next keys are in another bucket
    for _ in range(2):
        session.extend(1)
        session.grow(passes=2, most=6)
    session.check()


@pytest.mark.usefixtures("poisoned")
def test_a_sequence_replays_from_its_first_row_to_its_last():
    session = Session(*pair("qwen2_window", 70, taped), seed=2)
    for count in (1, 64, 3, 2):  # the context is full
        session.extend(count)
    session.check()
    assert session.both[1].cache.length == session.both[1].cache.capacity


def test_each_size_and_bucket_is_recorded_once():
    recorded, places = [], set()

    def record(work):
        replay, output = taped(work)
        recorded.append(len(output.logits))
        places.add(output.logits.data_ptr())
        return replay, output

    before = firsts.count()
    session = Session(*pair("llama", 600, record), seed=3)
    for count in (1, 2, 4, 3, 64, 64, 64, 64, 30, 1):  # the last three see more than 256 keys
        session.extend(count)
    session.check()
    assert recorded == [1, 4, 64, 64, 32, 1]
    assert len(places) == 1, "recordings share the memory of their logits"
    assert firsts.count() - before == len(recorded), "so that nobody takes their times for usual"


def test_passes_over_longer_texts_are_recorded_ahead():
    recorded = []

    def record(work):
        replay, output = taped(work)
        recorded.append(len(output.logits))
        return replay, output

    session = Session(*pair("llama", 600, record), seed=7)
    model, cache = session.both[1].model, session.both[1].cache
    for count in (200, 1, 3):  # so many rows as the first has are not recorded
        session.extend(count)
    assert recorded == [1, 4]
    model.record_ahead(cache, lambda: True)
    assert recorded == [1, 4]
    model.record_ahead(cache, lambda: False)
    assert recorded == [1, 4] * 2
    for count in (80, 1, 3):  # these see more than 256 keys
        session.extend(count)
    session.check()
    assert recorded == [1, 4] * 2
    for _ in range(2):
        model.record_ahead(cache, lambda: False)
    assert recorded == [1, 4] * 3, "the largest bucket"
    session.extend(280)
    model.record_ahead(cache, lambda: False)
    session.extend(1)
    session.check()
    assert recorded == [1, 4] * 3


def test_what_cannot_be_recorded_ahead_is_left_to_the_passes(caplog):
    asked = []

    def record(work):
        asked.append(work)
        if len(asked) == 2:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 MiB.")
        return taped(work)

    session = Session(*pair("llama", 600, record), seed=8)
    session.extend(1)
    session.both[1].model.record_ahead(session.both[1].cache, lambda: False)
    assert "No memory to record passes of 1 rows" in caplog.text
    for count in (1, 300, 1):
        session.extend(count)
    session.check()
    assert len(asked) == 2
    assert session.both[1].model.graphs.works


def test_padding_repeats_the_last_row():
    outputs = []

    def record(work):
        replay, output = taped(work)
        outputs.append(output)
        return replay, output

    _, replayed = pair("mistral", 64, record)
    replayed.extend([5, 9])
    logits = outputs[0].logits
    assert len(logits) == 4
    assert_same(logits[1].expand(2, -1), logits[2:])


def test_dropped_rows_that_overflowed_have_no_effect():
    plain, replayed = pair("llama", 64, taped)
    text = [5, 9, 14]
    expected = plain.extend(text)
    body = replayed.model.module.model
    embedding = body.embed_tokens.weight.data.clone()
    body.embed_tokens.weight.data[7] = float("inf")
    visible = np.tri(4, dtype=np.bool_)  # one more row than `text` overwrites
    assert replayed.consider([7] * 4, range(4), visible).logits.isnan().all()
    replayed.rewind(0)
    body.embed_tokens.weight.data[7] = embedding[7]
    assert_same(expected, replayed.extend(text))


def test_a_device_that_cannot_record_runs_plain_passes():
    asked = []

    def refuse(work):
        asked.append(work)
        raise RuntimeError("operation not permitted when stream is capturing")

    session = Session(*pair("llama", 64, refuse), seed=4)
    session.extend(3)
    session.grow(passes=2, most=3)
    session.check()
    assert len(asked) == 1


def test_lack_of_memory_ends_recording_only_for_passes_of_that_size():
    asked = []

    def record(work):
        work()
        asked.append(size := len(taped(work)[1].logits))
        if size == 16:
            try:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 MiB.")
            finally:
                # What torch raises when it ends the recording in which the allocation failed.
                raise RuntimeError("CUDA error: operation failed due to a previous error during capture")
        return taped(work)

    session = Session(*pair("llama", 200, record), seed=6)
    for count in (1, 9, 9, 3, 30):
        session.extend(count)
    session.check()
    assert asked == [1, 16, 4, 32]


def test_an_interrupted_pass_leaves_the_sequence_unchanged():
    class Ended(Exception):
        pass

    def progress(done, total):
        raise Ended

    session = Session(*pair("llama", 64, taped), seed=5)
    session.extend(3)
    with pytest.raises(Ended):
        session.both[1].extend([7, 8], progress)
    assert session.both[1].cache.tail == 0
    session.extend(3)
    session.check()


def test_recordings_and_their_workspaces_live_as_long_as_their_cache():
    model = ours(reference("llama"))
    workspace = Workspace(torch.float32, CPU)
    model.graphs = Graphs(taped, [workspace])
    room = weakref.ref(workspace.take(10))
    sequence = Sequence(model, 64)
    sequence.extend([5])
    workspace.take(1000)
    gc.collect()
    assert room() is not None
    del sequence
    gc.collect()
    assert room() is None


def test_where_replays_fail_kernels_are_launched_one_by_one():
    with ways.taking({"graphs": "launches"}):
        plain, replayed = pair("llama", 80, lambda work: pytest.fail("recorded"))
    assert torch.equal(plain.extend([7, 8]), replayed.extend([7, 8]))


def test_what_the_processor_unpacks_is_not_recorded():
    packed = random_packed("Q4_K", (64, 256), CPU, torch.bfloat16)
    assert packed.recordable
    with ways.taking({"unpack Q4_K float32": "processor"}):
        assert packed.recordable
    with ways.taking({"unpack Q4_K bfloat16": "processor"}):
        assert not packed.recordable


def test_many_rows_are_not_recorded():
    plain, replayed = pair("llama", 80, lambda work: pytest.fail("recorded"))
    tokens = [7] * 65
    assert torch.equal(plain.extend(tokens), replayed.extend(tokens))


@pytest.mark.parametrize(
    ("keys", "capacity", "expected"),
    [(1, 8192, 256), (256, 8192, 256), (257, 8192, 512), (5000, 8192, 8192), (600, 700, 700), (3, 64, 64)],
)
def test_buckets_double_up_to_the_capacity(keys, capacity, expected):
    assert bucket(keys, capacity) == expected


def test_a_mixture_is_not_recorded():
    assert is_mixture(ours(reference("mixtral")).module)
    assert not is_mixture(ours(reference("llama")).module)
