"""What may happen to a streamed model while it answers. Each fault has a name, nothing is lost, and the next
answer is that of a model to which nothing happened: through compiled steps, through torch, and through torch
beside a card (here the processor, too), whose weights come from the disk through RAM."""

import os
import threading
from unittest.mock import patch

import pytest
import torch

from engine import interruption
from engine.drafting import TreeLimits
from engine.drafting.none import NoDrafter
from engine.errors import DiskSilent, Interrupted, StreamBroken
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.sequence import Sequence
from engine.sampling import Sampler
from engine.streaming import WeightLimits, disk_watch, expert_cache
from engine.streaming.disk_watch import ignore_silence
from engine.torch_model import builder
from engine.torch_model.loader import load_model
from tests.engine.model.compiled_models import CONTEXT, TEXT, stored, tiny
from tests.engine.model.test_self_draft import answer
from tests.engine.streaming.silent_disk import SilentDisk
from tests.engine.torch_model.test_builder import AtOnce

LITTLE = {"qwen3_moe": 1200 << 10, "llama": 300 << 10}  # bytes: two slots, and few experts

MORE = 1500 << 10  # bytes: some experts more


def through_torch(file, limits=None):
    return load_model(file, torch.float32, "cpu", no_progress, CONTEXT, packed=True, limits=limits)


def through_steps(file, limits=None):
    return load_compiled(file, no_progress, CONTEXT, limits=limits)


def through_card(file, limits=None):
    """As much RAM as device memory, so that most weights are on the disk."""
    if limits is None:
        return through_torch(file)
    with patch.object(builder, "link_to", lambda device: AtOnce(1 << 30)):
        return through_torch(file, WeightLimits(limits.device_nbytes, limits.device_nbytes))


WAYS = {"compiled": through_steps, "torch": through_torch, "card": through_card}


def text(model):
    """The tokens of an answer."""
    sequence = Sequence(model, CONTEXT)
    return answer(sequence, NoDrafter(), Sampler(), TEXT, TreeLimits(1, 1, 1), most=6)[0]


class Case:
    """A streamed model. Attributes: `model`; `path`, of its weights; `expected`: the tokens of its answer."""

    def __init__(self, folder, way, kind):
        self.file = stored(tiny(kind), folder)
        self.path = folder / "model.safetensors"
        self._load, self._kind = WAYS[way], kind
        resident = self._load(self.file)
        self.expected = text(resident)
        resident.close()
        self.model = self.loaded(LITTLE[kind])
        assert self.model.streamer.tiers["ssd"] > 0

    def loaded(self, limit):
        model = self._load(self.file, WeightLimits(limit))
        assert text(model) == self.expected
        return model

    @property
    def watch(self):
        return self.model.streamer.watch

    def in_ram(self, model):
        """Bytes of the cache of experts in RAM: the one behind that of the card, where there is a card."""
        return model.streamer.expert_homes["ram"] or model.streamer.cache_nbytes

    def forget(self):
        """Discard the experts that are in memory, so that the next answer reads some."""
        if self.model.streamer._cache:
            self.model.streamer._cache.clear()

    def when_silent(self, do):
        """Do this, once, when the user is told that the disk does not answer."""

        def told(seconds):
            if seconds:
                self.watch.on_silence = ignore_silence
                do()

        self.watch.on_silence = told


every_way = pytest.mark.parametrize("way", WAYS)
every_kind = pytest.mark.parametrize("kind", LITTLE)


@pytest.fixture
def case(tmp_path, way, kind, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    made = Case(tmp_path, way, kind)
    yield made
    interruption.resume()
    made.model.close()


# A disk that does not answer


@every_way
@every_kind
def test_an_answer_goes_on_when_the_disk_does(case, monkeypatch):
    disk, told = SilentDisk(monkeypatch), []
    case.forget()
    disk.answers.clear()

    def tell(seconds):
        told.append(seconds)
        if len(told) == 2:
            disk.answers.set()

    case.watch.on_silence = tell
    assert text(case.model) == case.expected
    assert 0 < told[0] < told[1]
    assert told[-1] == 0


@every_way
@every_kind
@pytest.mark.parametrize("least", [0, 1 << 14], ids=["rows of the embedding", "weights"])
def test_stop_ends_a_wait_for_a_silent_disk_and_the_next_answer_is_right(case, monkeypatch, least):
    disk = SilentDisk(monkeypatch, least)
    case.forget()
    disk.answers.clear()
    for _ in range(2):
        case.when_silent(interruption.interrupt)
        with pytest.raises(Interrupted):
            text(case.model)
        interruption.resume()
    case.when_silent(disk.answers.set)  # the next answer begins while the disk is still silent
    assert text(case.model) == case.expected
    assert text(case.model) == case.expected


@every_way
@every_kind
def test_a_disk_that_is_silent_for_long_ends_the_answer_by_name(case, monkeypatch):
    disk = SilentDisk(monkeypatch)
    case.forget()
    disk.answers.clear()
    with monkeypatch.context() as patched:
        patched.setattr(disk_watch, "GIVEN_UP_S", 0.2)
        for _ in range(2):
            with pytest.raises(DiskSilent, match=case.path.parent.name) as ended:
                text(case.model)
    assert ended.value.kind == "disk_silent"
    assert ended.value.hint
    case.when_silent(disk.answers.set)
    assert text(case.model) == case.expected


@every_way
@every_kind
def test_a_model_is_closed_while_its_disk_is_silent(case, monkeypatch):
    disk, threads = SilentDisk(monkeypatch, least=0), set(threading.enumerate())
    monkeypatch.setattr(disk_watch, "LEFT_S", 0.05)
    model = case.loaded(LITTLE["qwen3_moe"])
    files = list(model.streamer._files.values())
    model.streamer._cache and model.streamer._cache.clear()
    disk.answers.clear()
    interruption.interrupt()
    with pytest.raises(Interrupted):
        text(model)
    interruption.resume()
    model.close()
    left = set(threading.enumerate()) - threads
    assert left, "a reader waits for the disk"
    assert any(file._handles for file in files), "its file stays open"
    disk.answers.set()
    for thread in left:
        thread.join(60)
    assert not set(threading.enumerate()) - threads
    assert not any(file._handles for file in files)
    assert text(case.model) == case.expected


# A file that changes, and memory that others take


@every_way
@every_kind
def test_a_file_that_ends_within_a_matrix_is_named_and_read_again_when_it_is_whole(case):
    name = "layers.1.mlp.experts.4.up_proj" if "moe" in case.file.architecture else "layers.1.mlp.up_proj"
    span = next(weight for key, weight in case.file.weights.items() if name in key).spans[0]
    whole, state = case.path.read_bytes(), case.path.stat()
    os.truncate(case.path, span.offset + span.nbytes // 2)
    case.forget()
    for _ in range(2):
        with pytest.raises(StreamBroken) as ended:
            [text(case.model) for _ in range(2)]
    assert case.path.name in ended.value.message
    assert ended.value.hint
    with case.path.open("r+b") as file:
        file.write(whole)
    os.utime(case.path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert text(case.model) == case.expected


@every_way
@pytest.mark.parametrize("kind", ["qwen3_moe"])
def test_an_answer_goes_on_with_fewer_experts_in_memory_when_others_take_the_ram(case, monkeypatch):
    looks, model = [], case.loaded(MORE)
    planned = case.in_ram(model)

    def available():
        looks.append(0)
        return 1 << 40 if len(looks) < 4 else 0

    monkeypatch.setattr(expert_cache, "CHECK_S", 0.0)
    monkeypatch.setattr(expert_cache, "available_nbytes", available)
    assert text(model) == case.expected
    assert len(looks) > 4
    assert case.in_ram(model) < planned
    monkeypatch.setattr(expert_cache, "available_nbytes", lambda: 1 << 40)
    assert text(model) == case.expected
    assert case.in_ram(model) == planned
    model.close()
