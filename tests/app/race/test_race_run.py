"""Races with a scripted engine: what is asked, in which order, and what happens when it goes wrong."""

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.race.race_record import RaceRecording
from app.race.race_run import RacePlan, RaceRun
from app.window.window import Window
from engine.protocol import messages
from engine.protocol.messages import Load, Message, Options
from tests.app.fake_engine import FakeEngines, answer
from tests.app.race.made import WORDS, loads_by_name, say_answer
from tests.app.window.test_window import ask, reach

QUESTION = [Message("system", "Be brief."), Message("user", "What is the sea?")]
OPTIONS = Options(temperature=0.7, seed=5, max_new_tokens=50, budget=24, telemetry=True)
RIVAL = Load(id=0, target="Large")


class Heard:
    """What a run said."""

    def __init__(self, run: RaceRun) -> None:
        self.races: list[RaceRecording] = []
        self.failures: list[tuple[str, str]] = []
        run.finished.connect(self.races.append)
        run.failed.connect(lambda words: self.failures.append(words[:2]))


@pytest.fixture
def engines() -> FakeEngines:
    return FakeEngines(loads_by_name)


@pytest.fixture
def heard(window: Window) -> Heard:
    return Heard(window.core.race)


def asked(engines: FakeEngines, qtbot: QtBot, count: int) -> messages.Chat:
    """Wait for a number of requests for an answer; return the last one."""
    qtbot.waitUntil(lambda: len(engines.last.asked(messages.Chat)) == count)
    return engines.last.asked(messages.Chat)[-1]  # type: ignore[return-value]


def targets(engines: FakeEngines) -> list[str | None]:
    return [load.target for load in engines.last.asked(messages.Load)]  # type: ignore[attr-defined]


def test_one_question_is_answered_plainly_and_by_the_chats_drafter(
    window: Window, engines: FakeEngines, heard: Heard, qtbot: QtBot
) -> None:
    assert window.core.race.start(RacePlan(QUESTION, OPTIONS))
    first = asked(engines, qtbot, 1)
    say_answer(engines.last, first.id, 1, seconds=3.0)
    second = asked(engines, qtbot, 2)
    say_answer(engines.last, second.id, 3, seconds=1.0)
    qtbot.waitUntil(lambda: bool(heard.races))
    assert [first.options.drafter, second.options.drafter] == ["none", "auto"]
    for request in (first, second):
        assert request.messages == QUESTION
        assert request.fresh
        assert (request.options.seed, request.options.max_new_tokens) == (5, 50)
        assert not request.options.telemetry
    race = heard.races[0]
    assert (race.question, race.is_same) == ("What is the sea?", True)
    assert [one.seconds for one in race.lanes] == pytest.approx([3.0, 1.0])
    assert [one.text for one in race.lanes] == [" ".join(WORDS)] * 2
    assert (window.chat.id, window.chat.shown) == (None, []), "a race is no chat"
    assert targets(engines) == [None], "nothing is loaded again"
    assert not window.core.race.is_running


def test_a_chat_without_a_drafter_races_the_default_one() -> None:
    plan = RacePlan(QUESTION, Options(drafter="none"))
    assert [plan.options_of(lane).drafter for lane in range(2)] == ["none", "auto"]
    two = RacePlan(QUESTION, Options(drafter="specexec"), RIVAL)
    assert [two.options_of(lane).drafter for lane in range(2)] == ["specexec", "auto"]


def test_two_models_answer_one_after_the_other_and_the_first_comes_back(
    window: Window, engines: FakeEngines, heard: Heard, qtbot: QtBot
) -> None:
    assert window.core.race.start(RacePlan(QUESTION, OPTIONS, RIVAL))
    say_answer(engines.last, asked(engines, qtbot, 1).id, 3)
    say_answer(engines.last, asked(engines, qtbot, 2).id, 3, WORDS[:5])
    with qtbot.waitSignal(window.core.race.returned):
        pass
    assert [one.target for one in heard.races[0].lanes] == ["Tiny", "Large"]
    assert targets(engines) == [None, "Large", None]
    reach(window, qtbot, State.READY)
    assert window.header.model.text() == "Tiny"


def test_a_second_model_that_cannot_be_loaded_ends_the_race_with_the_first(
    window: Window, engines: FakeEngines, heard: Heard, qtbot: QtBot
) -> None:
    def refuse(connection, request) -> None:
        if isinstance(request, messages.Load) and request.target == "Large":
            failed = messages.Failed(
                request=request.id, kind="out_of_memory", message="Too large.", hint="Buy."
            )
            connection.say(failed)
        else:
            loads_by_name(connection, request)

    engines.last.script = refuse
    window.core.race.start(RacePlan(QUESTION, OPTIONS, RIVAL))
    say_answer(engines.last, asked(engines, qtbot, 1).id, 3)
    with qtbot.waitSignal(window.core.race.returned):
        pass
    assert heard.failures == [("Too large.", "Buy.")]
    assert targets(engines) == [None, "Large", None]
    assert not heard.races


@pytest.mark.parametrize("lane", [0, 1])
def test_a_cancelled_race_stops_the_answer_and_leaves_the_engine_ready(
    window: Window, engines: FakeEngines, heard: Heard, qtbot: QtBot, lane: int
) -> None:
    window.core.race.start(RacePlan(QUESTION, OPTIONS))
    if lane:
        say_answer(engines.last, asked(engines, qtbot, 1).id, 1)
    request = asked(engines, qtbot, lane + 1).id
    window.core.race.cancel()
    assert len(engines.last.asked(messages.Cancel)) == 1
    engines.last.say(answer(request, "", "cancelled"))
    reach(window, qtbot, State.READY)
    assert (heard.races, heard.failures, window.core.race.is_running) == ([], [], False)
    assert window.core.race.start(RacePlan(QUESTION, OPTIONS)), "another race can begin"


@pytest.mark.parametrize("is_loaded", [False, True])
def test_a_race_cancelled_at_the_second_model_brings_the_first_back(
    window: Window, engines: FakeEngines, heard: Heard, qtbot: QtBot, is_loaded: bool
) -> None:
    engines.last.script = loads_by_name if is_loaded else lambda connection, request: None
    window.core.race.start(RacePlan(QUESTION, OPTIONS, RIVAL))
    say_answer(engines.last, asked(engines, qtbot, 1).id, 3)
    qtbot.waitUntil(lambda: targets(engines) == [None, "Large"])
    if is_loaded:
        asked(engines, qtbot, 2)
    engines.last.script = loads_by_name
    with qtbot.waitSignal(window.core.race.returned):
        window.core.race.cancel()
    assert targets(engines) == [None, "Large", None]
    assert heard.races == []


def test_a_lost_engine_ends_the_race_and_restarts_with_the_first_model(
    window: Window, engines: FakeEngines, heard: Heard, qtbot: QtBot
) -> None:
    window.core.race.start(RacePlan(QUESTION, OPTIONS, RIVAL))
    say_answer(engines.last, asked(engines, qtbot, 1).id, 3)
    asked(engines, qtbot, 2)
    engines.last.die()
    qtbot.waitUntil(lambda: bool(heard.failures))
    assert heard.failures == [("The engine process ended unexpectedly.", "Restart the engine.")]
    window.engine.start()
    reach(window, qtbot, State.READY)
    assert targets(engines) == [None]


def test_a_question_too_long_for_the_context_ends_the_race(
    window: Window, engines: FakeEngines, heard: Heard, qtbot: QtBot
) -> None:
    window.core.race.start(RacePlan(QUESTION, OPTIONS))
    request = asked(engines, qtbot, 1).id
    engines.last.say(
        messages.Failed(request=request, kind="prompt_too_long", message="Too long.", hint="Shorten it.")
    )
    qtbot.waitUntil(lambda: bool(heard.failures))
    assert heard.failures == [("Too long.", "Shorten it.")]
    reach(window, qtbot, State.READY)


def test_no_race_begins_while_an_answer_is_written(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    request = ask(window, engines, qtbot)
    assert not window.core.race.start(RacePlan(QUESTION, OPTIONS))
    engines.last.say(answer(request))
    reach(window, qtbot, State.READY)


def test_answers_of_the_chat_do_not_disturb_a_finished_race(
    window: Window, engines: FakeEngines, heard: Heard, qtbot: QtBot
) -> None:
    window.core.race.start(RacePlan(QUESTION, OPTIONS))
    for number, step in ((1, 1), (2, 3)):
        say_answer(engines.last, asked(engines, qtbot, number).id, step)
    qtbot.waitUntil(lambda: bool(heard.races))
    request = ask(window, engines, qtbot)
    engines.last.say(answer(request, "Hello."))
    qtbot.waitUntil(lambda: len(window.chat.shown) == 2 and window.chat.answering is None)
    assert len(heard.races) == 1


def test_a_window_closed_in_the_middle_closes(
    make_window: Callable[..., Window], engines: FakeEngines, qtbot: QtBot
) -> None:
    window = make_window(engines)
    reach(window, qtbot, State.READY)
    window.core.race.start(RacePlan(QUESTION, OPTIONS))
    asked(engines, qtbot, 1)
    with qtbot.waitSignal(window.closed):
        window.close()
    assert not window.core.race.is_running
