"""A disk that does not answer during an answer: the client is told, and whatever becomes of it, the next
answer is right."""

import pytest

from engine import interruption
from engine.decoding.iteration import decode
from engine.errors import DiskSilent
from engine.protocol import Chat, DiskSilence, IterationDone, Load, Message, Options
from engine.serving import session
from engine.serving.service import EngineService
from engine.streaming import disk_watch
from tests.engine.heads.test_service import write_target
from tests.engine.model.compiled_models import tiny
from tests.engine.streaming.silent_disk import ROWS, SilentDisk

LIMIT = 1200 << 10  # bytes: two slots, and few experts


class Asked:
    """An engine with a streamed model. Attributes: `told`: the seconds of silence that it told of; `on_told`:
    what is done each time."""

    def __init__(self, folder, dtype):
        self.engine, self.told = EngineService(), []
        self.on_told = lambda: None
        load = Load(id=1, target=str(folder), dtype=dtype, device="cpu", context=64, ram_limit=LIMIT / 2**30)
        self.loaded = self.engine.load(load, lambda event: None, lambda: False)

    def answer(self):
        return self.engine.answer(self.chat, self._note, lambda: False)

    @property
    def chat(self):
        options = Options(drafter="recycling+pld", seed=4, max_new_tokens=8)
        return Chat(id=2, messages=[Message("user", "HELLO HELLO")], options=options)

    @property
    def watch(self):
        return self.engine.session.pair.target.model.streamer.watch

    def forget(self):
        """Discard the experts in memory, so that an answer has to read."""
        streamer = self.engine.session.pair.target.model.streamer
        if streamer._cache:
            streamer._cache.clear()

    def _note(self, event):
        if isinstance(event, DiskSilence):
            assert event.request == 2
            self.told.append(event.seconds)
            self.on_told()


@pytest.fixture(params=["auto", "float32"], ids=["compiled", "torch"])
def asked(tmp_path, monkeypatch, request):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    write_target(tmp_path)
    tiny("qwen3_moe").save_pretrained(tmp_path)
    made = Asked(tmp_path, request.param)
    assert ("int8" in made.loaded.dtype) == (request.param == "auto")
    yield made
    interruption.resume()
    made.engine.unload()


def test_nobody_is_told_after_an_answer_that_could_not_even_be_closed(asked, monkeypatch):
    expected = asked.answer().token_ids

    def stubborn(*parts):
        try:
            yield from decode(*parts)
        except GeneratorExit:
            raise ValueError("It does not close.") from None

    def gone(event):
        if isinstance(event, IterationDone):
            raise BrokenPipeError

    monkeypatch.setattr(session, "decode", stubborn)
    with pytest.raises(ValueError, match="close"):
        asked.engine.session.answer(asked.chat, gone, lambda: False)
    assert asked.watch.on_silence is disk_watch.ignore_silence
    monkeypatch.setattr(session, "decode", decode)
    assert asked.answer().token_ids == expected


@pytest.mark.parametrize("least", [0, ROWS], ids=["rows of the embedding", "weights"])
def test_a_client_is_told_that_the_disk_does_not_answer_until_it_does(asked, monkeypatch, least):
    expected = asked.answer().token_ids
    assert asked.told == []
    disk = SilentDisk(monkeypatch, least)
    asked.forget()
    disk.answers.clear()
    asked.on_told = lambda: disk.answers.set() if len(asked.told) == 2 else None
    assert asked.answer().token_ids == expected
    first, second, *_, last = asked.told
    assert 0 < first < second
    assert last == 0


def test_stop_keeps_what_the_answer_has_and_the_next_one_is_right(asked, monkeypatch):
    expected = asked.answer().token_ids
    disk = SilentDisk(monkeypatch)
    asked.forget()
    disk.answers.clear()
    asked.on_told = interruption.interrupt
    stopped = asked.answer()
    assert stopped.stop_reason == "cancelled"
    assert stopped.token_ids == expected[: stopped.tokens]
    assert asked.told[-1] == 0
    interruption.resume()
    asked.on_told = disk.answers.set
    assert asked.answer().token_ids == expected


def test_an_answer_that_ends_with_the_silence_leaves_the_model_loaded(asked, monkeypatch):
    expected = asked.answer().token_ids
    disk = SilentDisk(monkeypatch)
    asked.forget()
    disk.answers.clear()
    with monkeypatch.context() as patched:
        patched.setattr(disk_watch, "GIVEN_UP_S", 0.2)
        with pytest.raises(DiskSilent):
            asked.answer()
    assert asked.engine.session is not None
    asked.on_told = disk.answers.set
    assert asked.answer().token_ids == expected
