"""A disk that does not answer while a pair is loaded: the client is told, it can cancel, and the next load is
right."""

import io
import os
import threading
from pathlib import Path

import psutil
import pytest
import torch

from engine import interruption
from engine.checkpoints import open_checkpoint
from engine.errors import DiskSilent, Interrupted
from engine.model.sequence import Sequence
from engine.protocol import Chat, DiskSilence, Load, LoadProgress, Message, Options
from engine.serving import load
from engine.serving.service import EngineService
from engine.streaming import WeightLimits, disk_watch
from engine.streaming.disk_watch import DiskWatch
from engine.streaming.readers import reading_aside
from engine.torch_model import builder
from engine.torch_model.loader import load_model
from tests.engine.heads.test_service import write_target
from tests.engine.model.compiled_models import TEXT, tiny
from tests.engine.models import reference
from tests.engine.streaming.silent_disk import SilentDisk
from tests.engine.torch_model.test_builder import AtOnce

LIMIT = 1200 << 10  # bytes: two slots, and few experts
HEADERS, DRAFT, TARGET = "reading", "draft", "target"  # the stage of the load in which the disk falls silent
WAYS = {
    "compiled": dict(dtype="auto"),
    "compiled, streamed": dict(dtype="auto", ram_limit=LIMIT / 2**30),
    "torch": dict(dtype="float32"),
    "torch, streamed": dict(dtype="float32", ram_limit=LIMIT / 2**30),
}


class Loading:
    """An engine that loads a pair. Attributes: `told`: the seconds of silence that it told of; `on_told`:
    what is done each time while the disk is silent; `silent_in`: the stage in which it falls silent, or
    None; `expected`: the tokens of an answer."""

    def __init__(self, folder, way):
        self.engine, self.disk = EngineService(), None
        self.told, self.on_told, self.silent_in = [], lambda: None, None
        self._load = Load(
            id=1, target=str(folder / "target"), draft=str(folder / "draft"), device="cpu", context=64, **way
        )

    def load(self):
        return self.engine.load(self._load, self._note, lambda: False)

    def answer(self):
        options = Options(drafter="specexec", seed=4, max_new_tokens=6)
        chat = Chat(id=2, messages=[Message("user", "HELLO HELLO")], options=options)
        return self.engine.answer(chat, lambda event: None, lambda: False).token_ids

    def _note(self, event):
        assert event.request == 1
        if isinstance(event, DiskSilence):
            self.told.append(event.seconds)
            if not self.disk.answers.is_set():
                self.on_told()
        elif isinstance(event, LoadProgress) and event.stage == self.silent_in:
            self.silent_in = None
            self.disk.answers.clear()


@pytest.fixture
def loading(tmp_path, monkeypatch, way):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(disk_watch, "LEFT_S", 0.05)
    for name, kind in (("target", "qwen3_moe"), ("draft", "llama")):
        write_target(tmp_path / name)
        tiny(kind).save_pretrained(tmp_path / name)
    made = Loading(tmp_path, WAYS[way])
    made.load()
    made.expected = made.answer()
    assert made.told == []
    made.disk = SilentDisk(monkeypatch, least=0)
    yield made
    interruption.resume()
    made.disk.answers.set()
    made.engine.unload()


@pytest.mark.parametrize(
    ("way", "stage"), [("compiled", HEADERS), ("compiled", DRAFT), *((way, TARGET) for way in WAYS)]
)
def test_a_silent_disk_is_told_of_and_can_be_cancelled_and_loading_goes_on_when_it_answers(
    loading, tmp_path, stage
):
    threads = set(threading.enumerate())
    loading.silent_in, loading.on_told = stage, interruption.interrupt
    with pytest.raises(Interrupted, match="Loading was cancelled"):
        loading.load()
    assert loading.told[-1] == 0
    loading.engine.unload()  # as when the program is closed: nobody waits for the disk
    left = set(threading.enumerate()) - threads
    assert left, "a reader waits for the disk"
    interruption.resume()
    loading.disk.answers.set()
    for thread in left:
        thread.join(60)
    assert not any(thread.is_alive() for thread in left)
    files = [file.path for file in psutil.Process().open_files() if tmp_path in Path(file.path).parents]
    assert files == [], "Windows would not let them be deleted"

    loading.silent_in, while_silent = stage, []

    def told():
        while_silent.append(loading.told[-1])
        if len(while_silent) == 2:
            loading.disk.answers.set()

    loading.on_told = told
    loading.load()
    assert 0 < while_silent[0] < while_silent[1]
    assert loading.told[-1] == 0
    assert loading.answer() == loading.expected


@pytest.mark.parametrize("way", ["compiled, streamed"])
def test_the_thread_that_waits_asks_the_disk_nothing_itself(loading, tmp_path, monkeypatch):
    asked = []

    def noting(ask):
        def noted(path, *args, **options):
            if isinstance(path, str | os.PathLike) and tmp_path / "target" in Path(path, "any").parents:
                asked.append((threading.current_thread(), ask.__name__))
            return ask(path, *args, **options)

        return noted

    for module, name in ((os, "stat"), (os, "lstat"), (os, "scandir"), (os, "open"), (io, "open")):
        monkeypatch.setattr(module, name, noting(getattr(module, name)))
    if hasattr(os, "statvfs"):
        monkeypatch.setattr(os, "statvfs", noting(os.statvfs))
    loading.load()
    assert "stat" in {name for _, name in asked}
    assert [name for thread, name in asked if thread is threading.current_thread()] == []


@pytest.mark.parametrize("way", ["compiled"])
def test_a_load_that_ends_when_it_is_told_how_fast_the_disk_is_leaves_nothing_loaded(loading, monkeypatch):
    def silent(target, folder):
        raise Interrupted("The pass was interrupted.")

    with monkeypatch.context() as patched:
        patched.setattr(load, "link_of", silent)
        with pytest.raises(Interrupted, match="Loading was cancelled"):
            loading.load()
    assert loading.engine.session is None


@pytest.mark.parametrize("way", ["compiled"])
def test_a_disk_that_stays_silent_ends_the_load_by_name(loading, monkeypatch):
    for stage, name in ((DRAFT, "draft"), (TARGET, "target")):
        loading.silent_in = stage
        with monkeypatch.context() as patched:
            patched.setattr(disk_watch, "GIVEN_UP_S", 0.2)
            with pytest.raises(DiskSilent, match=f"The disk with {name} has not answered"):
                loading.load()
        assert loading.engine.session is None
        loading.disk.answers.set()
    loading.load()
    assert loading.answer() == loading.expected


@pytest.fixture
def on_device(tmp_path, monkeypatch):
    """A function that loads a model on a device with memory of its own, for which the processor stands. The
    disk falls silent once the tier in RAM is to be filled; `tell` is then called with the seconds."""
    monkeypatch.setattr(builder, "link_to", lambda device: AtOnce(80_000))
    monkeypatch.setattr(disk_watch, "LEFT_S", 0.05)
    disk = SilentDisk(monkeypatch, least=0)
    reference("qwen3").save_pretrained(tmp_path)
    file = open_checkpoint(tmp_path)

    def load(tell=None):
        watch, begun = DiskWatch("model"), []

        def progress(done, total):
            begun.extend([total] * (not done))
            if tell and len(begun) == 2:  # the resident weights are here
                disk.answers.clear()

        watch.on_silence = lambda seconds: tell(disk, seconds)
        with reading_aside(watch):
            limits = WeightLimits(60_000, 1 << 20)
            model = load_model(file, torch.float32, "cpu", progress, 64, limits=limits)
        return Sequence(model, 64).extend(TEXT)

    yield load
    interruption.resume()
    disk.answers.set()


def test_a_tier_in_ram_is_filled_once_the_disk_answers(on_device):
    expected, told = on_device(), []

    def tell(disk, seconds):
        told.append(seconds)
        disk.answers.set()

    assert torch.equal(on_device(tell), expected)
    assert told[0] > 0
    assert told[-1] == 0


def test_a_tier_in_ram_is_not_waited_for_once_the_user_cancels(on_device):
    expected = on_device()
    with pytest.raises(Interrupted):
        on_device(lambda disk, seconds: interruption.interrupt())
    interruption.resume()
    assert torch.equal(on_device(lambda disk, seconds: disk.answers.set()), expected)
