"""The engine loads by a plan, by a smaller one where memory runs out, and learns from its answers."""

from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest

from engine import fitting, loading, planner, protocol
from engine.errors import OutOfMemory
from engine.planner import Plan
from engine.protocol import Message, Options
from engine.service import Engine, weight_limits
from engine.session import Session
from engine.speech import Speech
from tests.engine.conftest import model_file

GIB = 2**30
QUESTION = [Message("user", "Why is the sky blue?")]


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platformdirs, "user_data_path", lambda *args, **kwargs: tmp_path / "data")


def load(engine: Engine, **changes) -> protocol.Loaded:
    model_file("smollm2")
    request = protocol.Load(id=1, dtype="float32", device="cpu", context=256, **changes)
    return engine.load(request, lambda event: None, lambda: False)


def ask(engine: Engine, events: list | None = None, **options) -> protocol.Answer:
    emit = [].append if events is None else events.append
    chosen = Options(max_new_tokens=12, **options)
    return engine.answer(protocol.Chat(id=2, messages=QUESTION, options=chosen), emit, lambda: False)


def test_limits_are_the_plans():
    names = planner.Names("target", None)
    plan = Plan(names, "with SSD", "cpu", 256, ram_limit=5)
    assert weight_limits(plan).device == 5
    assert weight_limits(replace(plan, ram_limit=None)) is None
    plan = Plan(names, "with SSD", "cuda", 256, vram_limit=3, ram_limit=5)
    assert (weight_limits(plan).device, weight_limits(plan).ram) == (3, 5)
    assert weight_limits(replace(plan, vram_limit=None)) is None


def test_a_loaded_model_is_as_planned_and_an_answer_teaches():
    engine = Engine()
    loaded = load(engine, draft="none")
    plan = engine.fitted.plan
    assert (plan.fit, plan.device, plan.context) == ("in RAM", "cpu", loaded.context)
    assert loaded.target.packed == (not plan.target_unpacked)
    assert loaded.note == ""
    assert planner.history() == ()
    ask(engine, drafter="none")
    assert planner.history() == (), "plain decoding says nothing of trees"
    answer = ask(engine)
    (seen,) = planner.history()
    assert seen.verifying > 0
    again = planner.plan_for(
        engine.fitted.machine, engine.fitted.pair, engine.fitted.asked,
        planner.learned(planner.history(), engine.fitted.pair),
    )  # fmt: skip
    seconds = sum(getattr(answer.seconds, name) for name in protocol.Seconds.__struct_fields__)
    assert again.predicted_tokens_per_second == pytest.approx((answer.tokens - 1) / seconds, rel=0.01)
    load(engine)
    assert ask(engine).drafter == "merged"
    assert planner.history() == (seen,), "of heads the planner knows nothing"
    engine.unload()
    assert engine.fitted is None


def test_where_loading_runs_out_of_memory_the_next_smaller_plan_is_taken(monkeypatch):
    unpacked: list[bool] = []
    original = loading.load_model

    def sparing(*arguments):
        unpacked.append(not arguments[6])
        if unpacked[-1]:
            raise MemoryError
        return original(*arguments)

    monkeypatch.setattr(loading, "load_model", sparing)
    engine = Engine()
    loaded = load(engine)
    assert unpacked[0]
    assert not unpacked[-1]
    assert "Memory ran out on RAM; now" in loaded.note
    assert loaded.target.packed
    assert ask(engine).tokens > 0
    engine.unload()


def test_an_answer_that_runs_out_of_memory_is_said_once_and_to_its_end(monkeypatch):
    engine = Engine()
    load(engine)
    whole = ask(engine, seed=3)
    engine.unload()
    load(engine)
    before = engine.fitted.plan
    original = Session.answer
    attempts = []

    def failing_once(self, messages, options, emit, cancelled, request=0):
        attempts.append(options.seed)
        if len(attempts) > 1:
            return original(self, messages, options, emit, cancelled, request)
        said = 0

        def stop(event):
            nonlocal said
            emit(event)
            said += isinstance(event, protocol.TextDelta)
            if said == 3:
                raise MemoryError

        return original(self, messages, options, stop, cancelled, request)

    monkeypatch.setattr(Session, "answer", failing_once)
    events: list = []
    answer = ask(engine, events, seed=3)
    assert attempts == [3, 3]
    assert answer.token_ids == whole.token_ids
    assert "".join(event.text for event in events if isinstance(event, protocol.TextDelta)) == answer.text
    assert "Memory ran out" in answer.note
    assert engine.fitted.plan.memory.ram < before.memory.ram
    engine.unload()


def test_where_no_plan_is_left_it_is_out_of_memory(monkeypatch):
    def full(*arguments):
        raise MemoryError

    monkeypatch.setattr(loading, "load_model", full)
    with pytest.raises(OutOfMemory):
        load(Engine())


def test_another_fault_is_no_lack_of_memory(monkeypatch):
    def faulty(*arguments):
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(loading, "load_model", faulty)
    with pytest.raises(RuntimeError, match="a fault of ours"):
        load(Engine())


def test_a_machine_without_room_refuses_before_anything_is_read(monkeypatch):
    real = fitting.planner.of_probed

    def poor(probed, cards):
        return replace(real(probed, cards), ram=GIB)

    monkeypatch.setattr(fitting.planner, "of_probed", poor)
    with pytest.raises(OutOfMemory, match="GiB more of RAM"):
        load(Engine())
    load(engine := Engine(), ram_limit=0.02)  # the user knows better
    assert engine.fitted.plan.ram_limit == int(0.02 * GIB)
    engine.unload()


def test_speech_begun_again_goes_on_where_it_stopped():
    heard: list[str] = []
    speech = Speech(lambda event: heard.append(event.text))

    def say(text: str) -> None:
        speech(protocol.TextDelta(request=1, text=text, tokens=1))

    for text in ("The ", "sky "):
        say(text)
    speech.begin_again()
    for text in ("The sk", "y is", " blue"):
        say(text)
    assert heard == ["The ", "sky ", "is", " blue"]
