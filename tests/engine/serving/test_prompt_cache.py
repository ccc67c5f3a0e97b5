"""Conversations that take turns: their rows come back from the prompt cache, and the answers are the same."""

import pytest

from engine import protocol
from engine.protocol import Chat, Forget, Load, Message, Options
from engine.serving import load as steps
from engine.serving.service import EngineService
from tests.engine.conftest import model_file
from tests.engine.heads.test_service import write_target

SUBJECTS = ("the sea", "old bridges")


class Talk:
    """A conversation with an engine, about a long text."""

    def __init__(self, engine, subject, **options):
        self.engine = engine
        self.options = {"max_new_tokens": 8, "seed": 5, **options}
        self.name = subject
        words = f"A long text about {subject}, with a number in each line. "
        self.messages = [Message("user", "".join(f"{words}{n}\n" for n in range(8)) + "How many lines?")]

    def turn(self):
        chat = Chat(
            id=1, messages=self.messages, options=Options(**self.options), conversation=self.name, fresh=True
        )
        answer = self.engine.answer(chat, lambda event: None, lambda: False)
        self.messages = [*self.messages, Message("assistant", answer.text), Message("user", "And then?")]
        return answer


def engine_with(**fields):
    """fields: of the request to load, the demonstration model unless they name another target."""
    if "target" not in fields:
        model_file("smollm2")
    engine = EngineService()
    load = Load(id=1, device="cpu", context=1024, **fields)
    engine.load(load, lambda event: None, lambda: False)
    return engine


@pytest.mark.parametrize(
    ("fields", "ways"),
    [
        ({}, [{"temperature": 0.0}, {"temperature": 0.8}, {"temperature": 0.8, "drafter": "eagle"}]),
        ({"kv_cache": "q8_0"}, [{"temperature": 0.8}]),
        ({"dtype": "float32"}, [{"temperature": 0.8, "drafter": "merged"}]),
    ],
    ids=["f16", "q8_0", "float32"],
)
def test_taking_turns_reads_no_prompt_anew_and_changes_no_answer(fields, ways):
    check_turns(fields, ways)


def test_taking_turns_changes_no_answer_through_torch_either(tmp_path):
    """With a tiny model, whose tokens are letters."""
    target = write_target(tmp_path, max_position_embeddings=1024)
    fields = {"target": str(target), "draft": "none", "dtype": "float32"}
    check_turns(fields, [{"temperature": 1.5, "max_new_tokens": 24}])


def check_turns(fields, ways):
    """Check two talks for each of `ways` to answer, all with one engine, then with one without a cache."""
    asked = [*zip([SUBJECTS, ("the wind", "clocks"), ("a harbour", "green tea")], ways, strict=False)]
    assert len(asked) == len(ways)
    engine, taken = engine_with(**fields), []
    for subjects, options in asked:
        talks = [Talk(engine, subject, **options) for subject in subjects]
        answers = [talk.turn() for _ in range(3) for talk in talks]
        for later, earlier in zip(answers[2:], answers, strict=False):
            assert later.reused_tokens > earlier.prompt_tokens - 64, options
        assert any(part.what == "prompt_cache" for part in answers[-1].memory.parts)
        taken.append(answers)
    engine.unload()

    engine = engine_with(prompt_cache=0, **fields)
    for (subjects, options), answers in zip(asked, taken, strict=True):
        for place, subject in enumerate(subjects):
            alone = Talk(engine, subject, **options)
            expected = [alone.turn().token_ids for _ in range(3)]
            assert [each.token_ids for each in answers[place::2]] == expected, options
    engine.unload()


def test_without_a_prompt_cache_prompts_are_read_anew():
    engine = engine_with(prompt_cache=0)
    talks = [Talk(engine, subject) for subject in SUBJECTS]
    taken = [talk.turn() for _ in range(2) for talk in talks]
    assert taken[-1].reused_tokens < 64
    engine.unload()


@pytest.mark.parametrize("drafter", ["auto", "eagle"])
def test_what_is_on_the_disk_outlasts_the_engine_until_its_chat_is_deleted(drafter, tmp_path, monkeypatch):
    monkeypatch.setattr("engine.prompt_cache.files.default_folder", lambda: tmp_path / "cache" / "prompts")
    before = engine_with(prompt_cache_disk=1.0)
    talks = [Talk(before, subject, drafter=drafter) for subject in SUBJECTS]
    first = [talk.turn() for talk in talks]
    before.unload()
    assert list((tmp_path / "cache" / "prompts").glob("*.rows"))

    after = engine_with(prompt_cache_disk=1.0)
    for talk, answer in zip(talks, first, strict=True):
        talk.engine = after
        assert talk.turn().reused_tokens > answer.prompt_tokens - 64
    for talk in talks:
        after.forget(Forget(id=2, conversation=talk.name))
    talks[0].turn()
    after.forget(Forget(id=3, conversation=talks[0].name))
    after.unload()
    assert not list((tmp_path / "cache" / "prompts").glob("*.rows"))


def test_a_forgotten_conversation_that_the_model_still_holds_is_not_kept_later():
    engine = engine_with()
    talk = Talk(engine, "the sea")
    talk.turn()
    engine.forget(Forget(id=2, conversation="the sea"))
    assert Talk(engine, "old bridges").turn().reused_tokens < 64
    assert talk.turn().reused_tokens < 64
    engine.unload()


def test_where_memory_runs_out_other_conversations_give_way_first(monkeypatch):
    engine = engine_with()
    for subject in SUBJECTS:
        Talk(engine, subject).turn()
    plan, tries = engine.fitted.plan, []

    def runs_out_once(*arguments, **named):
        tries.append(1)
        raise MemoryError

    monkeypatch.setattr(engine.session, "answer", runs_out_once)
    done = Talk(engine, "the moon").turn()
    assert tries == [1]
    assert done.remarks == [protocol.PromptsDropped()]
    assert engine.fitted.plan == plan
    assert not any(part.what == "prompt_cache" for part in done.memory.parts)
    engine.unload()


@pytest.mark.parametrize("fails", [1, 2])
def test_what_was_given_up_because_memory_ran_out_is_said_of_a_load_too(fails, monkeypatch):
    engine = engine_with()
    for subject in SUBJECTS:
        Talk(engine, subject).turn()
    tries, build = [], steps.build

    def build_where_memory_allows(*arguments):
        tries.append(1)
        if len(tries) <= fails:
            raise MemoryError
        return build(*arguments)

    monkeypatch.setattr(steps, "build", build_where_memory_allows)
    loaded = engine.load(Load(id=2, device="cpu", context=1024), lambda event: None, lambda: False)
    plans = [loaded.smaller_plan] if fails == 2 else []
    assert loaded.remarks == [*plans, protocol.PromptsDropped()]
    assert loaded.shortages == loaded.remarks
    answer = Talk(engine, "the moon").turn()
    assert answer.remarks == [], "the load has said it"
    engine.unload()


def test_an_engine_without_models_forgets_what_is_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.prompt_cache.files.default_folder", lambda: tmp_path / "cache" / "prompts")
    engine = engine_with(prompt_cache_disk=1.0)
    Talk(engine, "the sea").turn()
    engine.unload()
    assert EngineService().forget(Forget(id=7, conversation="the sea")) == protocol.Forgotten(7)
    assert not list((tmp_path / "cache" / "prompts").glob("*.rows"))
