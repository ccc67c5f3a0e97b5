"""The user's actions in a chat, with a real store and a scripted engine."""

import pytest
from msgspec import structs
from pytestqt.qtbot import QtBot

from app.connection.answer_queue import AnswerQueue
from app.connection.conversation import Conversation
from app.connection.engine import Engine, State
from app.connection.engine_link import EngineLink
from app.connection.idle_timer import MS_PER_MINUTE, IdleTimer
from app.preferences import PreferencesFile
from app.store import ChatSettings, SavedOptions, Store, StoredMessage, StoreError, StoreLocked
from app.tools.toolbox import Toolbox
from engine.protocol import messages
from tests.app.connection.person import SETTINGS, Person, is_answer
from tests.app.fake_engine import RECORDING, FakeEngines, answer, load_at_once


def test_a_chat_is_stored_with_its_first_question(chat: Conversation, store: Store, person: Person) -> None:
    assert store.chats.recent() == []
    person.ask("Why is the sky blue?", "Because.")
    (line,) = store.chats.recent()
    assert line.id == chat.id
    assert line.title
    assert person.sent == [("system", "Be brief."), ("user", "Why is the sky blue?")]
    person.ask("And grass?", "Chlorophyll.")
    assert person.sent[1:] == [
        ("user", "Why is the sky blue?"),
        ("assistant", "Because."),
        ("user", "And grass?"),
    ]
    assert chat.shown[-1].message.reports[0].tokens_per_pass == 2.0


def test_a_question_reads_the_messages_once(
    chat: Conversation, store: Store, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    person.ask("first", "1")
    reads: list[int] = []
    read = store.messages.all
    monkeypatch.setattr(store.messages, "all", lambda id: (reads.append(id), read(id))[1])  # `shown` calls it
    chat.send("second")
    assert reads == [chat.id]
    assert person.shown == ["first", "1", "second", ""]
    assert person.sent[-1] == ("user", "second")
    person.finish("2")
    reads.clear()
    chat.regenerate(chat.shown[-1].message.id)
    assert reads == [chat.id]
    person.finish("3")


def test_an_answer_whose_chat_cannot_be_read_is_interrupted(
    chat: Conversation,
    store: Store,
    person: Person,
    errors: list[StoreError],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def locked(chat: int) -> list[StoredMessage]:
        raise StoreLocked("Another program is using the file.", "Close it.")

    person.ask("first", "1")
    with monkeypatch.context() as patch:
        patch.setattr(store.messages, "all", locked)
        chat.send("second")
    assert [error.kind for error in errors] == ["store_locked"]
    assert chat.answering is None
    assert not store.messages.under_way()
    assert len(person.asked) == 1
    chat.open(chat.id)
    assert chat.shown[-1].message.state == "interrupted"


def test_regenerating_keeps_the_first_answer_and_uses_another_seed(
    chat: Conversation, person: Person
) -> None:
    person.ask("Say a number.", "One.")
    first = chat.shown[-1].message
    chat.regenerate(first.id)
    person.finish("Two.")
    assert person.shown == ["Say a number.", "Two."]
    assert (chat.shown[-1].version, len(chat.shown[-1].versions)) == (2, 2)
    seeds = [asked.options.seed for asked in person.asked]
    assert None not in seeds
    assert seeds[0] != seeds[1]
    chat.show_version(first.id)
    assert person.shown == ["Say a number.", "One."]
    person.ask("And then?", "Three.")
    assert ("assistant", "One.") in person.sent


def test_repeating_an_answer_uses_the_recorded_seed_and_settings(chat: Conversation, person: Person) -> None:
    person.ask("Say a number.", "One.")
    chat.set_settings(ChatSettings(system="Another.", options=SavedOptions(temperature=0)))
    first = chat.shown[-1].message
    chat.regenerate(first.id, same_seed=True)
    options = person.asked[-1].options
    assert (options.seed, options.drafter, options.budgets) == (7, "recycling", [64])
    assert options.recording == RECORDING
    assert options.temperature == 0.6
    assert person.sent[0] == ("system", "Be brief.")
    person.finish("One.")


def test_an_edited_question_is_answered_and_the_old_version_is_kept(
    chat: Conversation, person: Person
) -> None:
    person.ask("first", "1")
    person.ask("second", "2")
    question = chat.shown[0].message
    chat.edit(question.id, "first, but better")
    assert person.sent[1:] == [("user", "first, but better")]
    person.finish("1b")
    assert person.shown == ["first, but better", "1b"]
    chat.show_version(question.id)
    assert person.shown == ["first", "1", "second", "2"]


def test_the_next_question_follows_the_edited_answer(chat: Conversation, person: Person) -> None:
    person.ask("first", "wrong")
    chat.edit(chat.shown[1].message.id, "right")
    assert chat.answering is None
    person.ask("second", "2")
    assert ("assistant", "right") in person.sent
    assert ("assistant", "wrong") not in person.sent


def test_a_stopped_answer_is_continued_at_its_end(chat: Conversation, person: Person, qtbot: QtBot) -> None:
    chat.send("Tell a story.")
    person.say(messages.TextDelta(request=person.request, text="Once upon", tokens=2))
    qtbot.waitUntil(lambda: chat.answering is not None and chat.answering.under_way.text == "Once upon")
    person.engines.last.script = lambda *_: None  # the test answers Cancel itself
    chat.stop()
    person.finish("Once upon", "cancelled")
    chat.continue_answer(chat.shown[-1].message.id)
    assert person.sent[-1] == ("assistant", "Once upon")
    person.finish(" a time.")
    assert person.shown == ["Tell a story.", "Once upon a time."]
    assert len(chat.shown[-1].message.reports) == 2
    assert len(chat.shown[-1].versions) == 1


def test_a_branch_is_a_separate_chat(chat: Conversation, store: Store, person: Person) -> None:
    person.ask("first", "1")
    person.ask("second", "2")
    old = chat.id
    chat.branch(chat.shown[1].message.id)
    assert chat.id != old
    assert person.shown == ["first", "1"]
    person.ask("other", "3")
    assert [each.message.text for each in store.messages.shown(old)] == ["first", "1", "second", "2"]


def test_questions_are_queued_and_stop_returns_them(chat: Conversation, person: Person, qtbot: QtBot) -> None:
    for text in ("one", "two", "three"):
        assert chat.send(text)
    assert [waiting.text for waiting in chat.waiting] == ["two", "three"]
    chat.remove_waiting(0)
    person.finish("1")
    qtbot.waitUntil(lambda: len(person.asked) == 2)
    assert person.sent[-1] == ("user", "three")
    chat.send("four")
    with qtbot.waitSignal(chat.returned) as returned:
        chat.stop()
    assert [waiting.text for waiting in returned.args[0]] == ["four"]
    assert not chat.waiting
    person.finish("3", "cancelled")
    assert len(person.asked) == 2


def test_no_answer_that_is_due_in_a_deleted_chat_is_asked_for(
    store: Store, engine: Engine, engines: FakeEngines, preferences: PreferencesFile, qtbot: QtBot
) -> None:
    queue = AnswerQueue(store, engine, Toolbox(store, preferences), engine)
    chat = Conversation(store, engine, queue, SETTINGS)
    person = Person(chat, engines, qtbot)
    person.ask("one", "1")
    gone, question = chat.id, chat.shown[0].message.id
    assert gone is not None
    chat.open(None)
    chat.send("two")
    queue.go_on(gone, question)  # behind the answer in progress
    store.chats.delete(gone)
    queue.drop(gone)
    queue.go_on(gone, question)  # by a tool whose call ends now
    person.finish("2")
    engine.rest()
    qtbot.waitUntil(lambda: engine.state is State.IDLE)
    queue.answer(gone, question)  # once the models are loaded
    queue.drop(gone)
    qtbot.waitUntil(lambda: engine.state is State.READY)
    chat.send("three")
    assert person.sent[-1] == ("user", "three")
    assert len(person.asked) == 3


def test_the_answer_in_progress_in_a_deleted_chat_is_stopped_and_its_calls_are_left(
    store: Store, engine: Engine, engines: FakeEngines, preferences: PreferencesFile, qtbot: QtBot
) -> None:
    queue = AnswerQueue(store, engine, Toolbox(store, preferences), engine)
    chat = Conversation(store, engine, queue, SETTINGS)
    called: list[tuple[int, int]] = []
    queue.called.connect(lambda *ids: called.append(ids))
    chat.send("one")
    assert chat.id is not None
    assert queue.answering is not None
    gone, answered = chat.id, queue.answering.message
    store.chats.delete(gone)
    queue.drop(gone)
    assert engine.state is State.STOPPING
    queue._tell_calls(gone, answered)
    assert not called
    store.chats.restore(gone)
    queue._tell_calls(gone, answered)
    assert called == [(gone, answered)]


def test_an_answer_that_was_to_end_its_thought_does_not_go_on_in_a_deleted_chat(
    store: Store, engine: Engine, engines: FakeEngines, preferences: PreferencesFile, qtbot: QtBot
) -> None:
    queue = AnswerQueue(store, engine, Toolbox(store, preferences), engine)
    chat = Conversation(store, engine, queue, SETTINGS)
    person = Person(chat, engines, qtbot)
    chat.send("one")
    assert chat.id is not None
    queue.end_thought()
    store.chats.delete(chat.id)
    queue.drop(chat.id)
    person.finish("<think>", "cancelled")
    assert queue.answering is None
    assert len(person.asked) == 1


def test_a_question_sent_before_the_model_is_loaded_is_asked_later(
    store: Store, engines: FakeEngines, qtbot: QtBot, preferences: PreferencesFile
) -> None:
    engine = Engine(EngineLink(engines), messages.Load(id=0))
    chat = Conversation(
        store, engine, AnswerQueue(store, engine, Toolbox(store, preferences), engine), SETTINGS
    )
    engine.start()
    assert chat.send("early")
    qtbot.waitUntil(lambda: bool(engines.made and engines.last.asked(messages.Chat)))
    assert chat.answering is not None
    with qtbot.waitSignal(engine.ended):
        engine.close()
    assert chat.answering is None


def test_a_lost_engine_keeps_the_text_and_takes_no_question(
    chat: Conversation, engine: Engine, person: Person, engines: FakeEngines, qtbot: QtBot
) -> None:
    chat.send("Tell a story.")
    person.say(messages.TextDelta(request=person.request, text="Once", tokens=1))
    engines.last.die()
    qtbot.waitUntil(lambda: engine.state is State.LOST)
    assert chat.shown[-1].message.state == "interrupted"
    assert person.shown == ["Tell a story.", "Once"]
    assert not chat.send("more")
    assert not chat.send("  ")


def test_an_engine_that_the_system_killed_is_restarted_with_a_smaller_plan(
    engine: Engine, engines: FakeEngines, qtbot: QtBot
) -> None:
    for exit_code, smaller in ((-9, 1), (1, 1), (-9, 2)):
        engines.last.die(exit_code)
        qtbot.waitUntil(lambda: engine.state is State.LOST)
        engine.start()
        qtbot.waitUntil(lambda: engine.state is State.READY)
        (load,) = engines.last.asked(messages.Load)
        assert load.smaller == smaller
    engine.load(messages.Load(id=0, target="another"))
    qtbot.waitUntil(lambda: len(engines.last.asked(messages.Load)) == 2)
    assert engines.last.asked(messages.Load)[-1].smaller == 0, "another model may fit"


def test_a_failed_answer_can_be_tried_again(chat: Conversation, person: Person, qtbot: QtBot) -> None:
    chat.send("hello")
    with qtbot.waitSignal(chat.failed):
        person.say(messages.Failed(request=person.request, kind="x", message="No.", hint="Again."))
    assert chat.shown[-1].message.state == "interrupted"
    chat.try_again()
    person.finish("Hello.")
    assert person.shown == ["hello", "Hello."]


def test_another_model_is_loaded_during_an_answer(
    chat: Conversation, engine: Engine, person: Person, engines: FakeEngines, qtbot: QtBot
) -> None:
    chat.send("hello")
    engine.load(messages.Load(id=0, target="other"))
    assert engine.state is State.LOADING
    qtbot.waitUntil(lambda: chat.answering is None and engine.state is State.READY)
    assert chat.shown[-1].message.reports[0].stop_reason == "cancelled"
    assert [load.target for load in engines.last.asked(messages.Load)] == [None, "other"]
    engine.unload()
    assert engine.state is State.UNLOADED
    assert engine.pair is None
    assert not chat.send("hello?")
    engine.load()
    qtbot.waitUntil(lambda: engine.state is State.READY)


# -- oldest turns, loops, idle time --------------------------------------------------------------------------


def fill(person: Person, turns: int, tokens: int) -> None:
    """Ask questions; the engine counts this many tokens for all of them together."""
    for number in range(turns):
        assert person.chat.send(f"question {number}")
        given = structs.replace(
            answer(person.request, f"answer {number}"), prompt_tokens=tokens * (number + 1) // turns - 3
        )
        with person.qtbot.waitSignal(person.chat.reported, check_params_cb=is_answer):
            person.say(given)


def test_the_oldest_turns_are_left_out_and_come_back(
    chat: Conversation, person: Person, store: Store
) -> None:
    fill(person, 4, 1900)
    chat.leave_out_oldest(20)
    assert chat.settings.left_out == 2
    person.ask("go on", "yes")
    system = ("system", "Be brief.")
    newest = [
        ("user", "question 2"),
        ("assistant", "answer 2"),
        ("user", "question 3"),
        ("assistant", "answer 3"),
    ]
    assert person.sent == [system, *newest, ("user", "go on")]
    assert chat.id is not None
    assert store.chats.settings(chat.id).left_out == 2, "it survives a restart"
    assert chat.shown[-1].message.reports[0].settings.left_out == 2
    chat.try_again()
    assert person.sent == [system, *newest, ("user", "go on")]
    person.finish("no")
    chat.edit(chat.shown[-2].message.id, "stop")
    assert person.sent == [system, *newest, ("user", "stop")]
    person.finish("ok")
    chat.send_whole_chat()
    chat.try_again()
    assert len(person.sent) == 1 + 8 + 1
    person.finish("ok")


def test_more_turns_are_left_out_when_the_context_is_full_again(chat: Conversation, person: Person) -> None:
    fill(person, 4, 1900)
    chat.leave_out_oldest(0)
    fill(person, 1, 1900)
    before = chat.settings.left_out
    person.ask("go on", "yes")
    assert chat.settings.left_out > before
    assert person.sent[-1] == ("user", "go on")
    assert person.sent[1][0] == "user", "turns are never split"


def test_a_chat_with_room_sends_all_turns_of_an_early_branch(chat: Conversation, person: Person) -> None:
    fill(person, 4, 1900)
    chat.leave_out_oldest(0)
    chat.edit(chat.shown[2].message.id, "another second question")
    assert person.sent[1:] == [
        ("user", "question 0"),
        ("assistant", "answer 0"),
        ("user", "another second question"),
    ]
    person.finish("ok")
    assert chat.settings.left_out == 2, "the other branch keeps its memory"


def test_an_answer_that_repeats_itself_continues_without_being_stopped_again(
    chat: Conversation, person: Person
) -> None:
    chat.send("hello")
    assert person.asked[-1].options.stop_loops
    person.finish("ha ha ha", "repetition")
    answered = chat.shown[-1].message.id
    chat.continue_answer(answered)
    assert not person.asked[-1].options.stop_loops
    person.finish(" ha", "cancelled")
    chat.continue_answer(answered)
    assert not person.asked[-1].options.stop_loops, "it was stopped by hand meanwhile"
    person.finish("")
    person.ask("next", "fine")
    assert person.asked[-1].options.stop_loops


def test_idle_models_are_unloaded_and_the_next_question_loads_them(
    chat: Conversation, engine: Engine, person: Person, engines: FakeEngines, qtbot: QtBot
) -> None:
    idle = IdleTimer(engine)
    idle.wait(5)
    assert idle._timer.remainingTime() > 4 * MS_PER_MINUTE
    chat.send("hello")
    assert not idle._timer.isActive(), "an answer is being written"
    person.finish("hi")
    assert idle._timer.isActive()
    idle._timer.start(0)
    qtbot.waitUntil(lambda: engine.state is State.IDLE)
    assert engines.last.asked(messages.Unload)
    assert engine.pair is None
    assert chat.send("again")
    assert len(engines.last.asked(messages.Load)) == 2
    qtbot.waitUntil(lambda: engine.state is State.ANSWERING)
    assert person.sent[-1] == ("user", "again")
    person.finish("yes")
    idle.wait(None)
    assert not idle._timer.isActive()


def test_an_edited_question_and_a_regenerated_answer_load_idle_models(
    chat: Conversation, engine: Engine, person: Person, qtbot: QtBot
) -> None:
    person.ask("hello", "hi")
    engine.rest()
    chat.edit(chat.shown[0].message.id, "good evening")
    qtbot.waitUntil(lambda: engine.state is State.ANSWERING)
    assert person.sent[-1] == ("user", "good evening")
    person.finish("good evening to you")
    engine.rest()
    chat.try_again()
    assert engine.state is State.LOADING
    qtbot.waitUntil(lambda: engine.state is State.ANSWERING)
    person.finish("and to you")
    assert person.shown == ["good evening", "and to you"]
    assert len(person.asked) == 3


def test_a_regenerated_answer_is_given_up_with_the_load(
    chat: Conversation, engine: Engine, engines: FakeEngines, person: Person, qtbot: QtBot
) -> None:
    person.ask("hello", "hi")
    engine.rest()
    engines.last.script = lambda *_: None
    chat.try_again()
    load = engines.last.asked(messages.Load)[-1]
    person.say(messages.Failed(request=load.id, kind="out_of_memory", message="No.", hint="Less."))
    qtbot.waitUntil(lambda: engine.state is State.LOAD_FAILED)
    engines.last.script = load_at_once
    engine.load()
    qtbot.waitUntil(lambda: engine.state is State.READY)
    assert len(person.asked) == 1
