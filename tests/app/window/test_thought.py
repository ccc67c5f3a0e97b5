"""Thoughts in the window: the chip that limits them, what is shown of them, and the button that ends one."""

from collections.abc import Callable

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.window.window import Window
from engine.protocol import messages
from engine.protocol.thought_control import ThoughtChoice
from tests.app.fake_engine import FakeConnection, FakeEngines, answer, load_at_once, loaded
from tests.app.window.test_window import ask, delta, last_answer, last_request, reach
from tests.engine.chat_templates import GPT_OSS, MISTRAL_MEDIUM

TEMPLATE = "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>{% endif %}"


def thinks(connection: FakeConnection, request: messages.Request) -> None:
    """Load a model whose template knows the switch; the test cancels."""
    if isinstance(request, messages.Load):
        connection.say(structs.replace(loaded(request.id), chat_template=TEMPLATE))


@pytest.fixture
def thinker(make_window: Callable[..., Window], engines: FakeEngines, qtbot: QtBot) -> Window:
    engines.script = thinks
    made = make_window(engines)
    reach(made, qtbot, State.READY)
    return made


def asked(engines: FakeEngines) -> messages.Chat:
    return engines.last.asked(messages.Chat)[-1]


def test_a_model_that_does_not_think_has_no_chip(window: Window) -> None:
    assert not window._panes.thought.isVisible()


def test_the_switch_and_the_budget_apply_to_the_next_answer(
    thinker: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    chip = thinker._panes.thought
    assert chip.isVisible()
    assert chip.button.text() == "Thinking"
    engines.last.say(answer(ask(thinker, engines, qtbot)))
    reach(thinker, qtbot, State.READY)
    assert asked(engines).template == messages.TemplateInput(), "what the template does by itself"
    assert asked(engines).options.thinking_budget is None

    chip.popup.way.setCurrentIndex(chip.popup.choices.index(True))
    chip.popup.budget.setValue(512)
    assert chip.button.text() == "Thinking: on, at most 512 tokens"
    engines.last.say(answer(ask(thinker, engines, qtbot)))
    reach(thinker, qtbot, State.READY)
    assert asked(engines).template.options["enable_thinking"] is True
    assert asked(engines).options.thinking_budget == 512
    assert "</think>" in asked(engines).options.shown

    chip.popup.way.setCurrentIndex(chip.popup.choices.index(False))
    assert chip.button.text() == "Thinking: off"
    assert not chip.popup.budget.isEnabled()
    engines.last.say(answer(ask(thinker, engines, qtbot)))
    reach(thinker, qtbot, State.READY)
    assert asked(engines).template.options["enable_thinking"] is False


@pytest.mark.parametrize(
    ("template", "offered", "choice", "shown", "effort"),
    [
        (GPT_OSS, ["As the model does by itself", "Low", "Medium", "High"], "high", "Thinking: high", "high"),
        (MISTRAL_MEDIUM, ["As the model does by itself", "On", "Off"], True, "Thinking: on", "high"),
    ],
)
def test_the_efforts_that_the_template_knows_can_be_chosen(
    make_window: Callable[..., Window],
    engines: FakeEngines,
    qtbot: QtBot,
    template: str,
    offered: list[str],
    choice: ThoughtChoice,
    shown: str,
    effort: str,
) -> None:
    def load(connection: FakeConnection, request: messages.Request) -> None:
        if isinstance(request, messages.Load):
            connection.say(structs.replace(loaded(request.id), chat_template=template))

    engines.script = load
    window = make_window(engines)
    reach(window, qtbot, State.READY)
    chip = window._panes.thought
    assert [chip.popup.way.itemText(index) for index in range(chip.popup.way.count())] == offered
    chip.popup.way.setCurrentIndex(chip.popup.choices.index(choice))
    assert chip.button.text() == shown
    engines.last.say(answer(ask(window, engines, qtbot)))
    reach(window, qtbot, State.READY)
    assert asked(engines).template.options == {"reasoning_effort": effort}


def test_another_budget_leaves_a_choice_that_was_made_for_another_model(thinker: Window) -> None:
    popup = thinker._panes.thought.popup
    thinker.chat.set_settings(structs.replace(thinker.chat.settings, thinks="low"))
    assert popup.choices[popup.way.currentIndex()] is True, "the nearest one that this model knows"
    popup.budget.setValue(512)
    assert thinker.chat.settings.thinks == "low"
    assert thinker.chat.settings.options.thinking_budget == 512
    popup.way.setCurrentIndex(popup.choices.index(False))
    assert thinker.chat.settings.thinks is False


@pytest.mark.parametrize("opened", ["", "<think>"])
def test_answer_now_ends_the_thought_and_goes_on_behind_it(
    thinker: Window, engines: FakeEngines, qtbot: QtBot, opened: str
) -> None:
    request = ask(thinker, engines, qtbot, "Why?")
    begun = messages.AnswerBegun(request=request, prompt_tokens=3, reused_tokens=0, thought=opened)
    thought = ("" if opened else "<think>") + "It is because"
    engines.last.say(begun, delta(request, thought))
    view = last_answer(thinker)
    qtbot.waitUntil(lambda: view.thought.answer_now.isVisible())
    assert view.thought.switch.accessibleName() == "Thinking… · 1 tokens"
    qtbot.keyClick(view.thought.answer_now, Qt.Key.Key_Space)
    assert len(engines.last.asked(messages.Cancel)) == 1

    stopped = structs.replace(answer(request, thought, "cancelled"), thought=opened, thought_tokens=40)
    engines.last.say(structs.replace(stopped, thought_s=12.0))
    qtbot.waitUntil(lambda: last_request(engines) != request)
    last = asked(engines).messages[-1]
    assert (last.role, last.content) == ("assistant", f"{thought}\n</think>")
    second = structs.replace(answer(asked(engines).id, "\n\nSo it is."), thought=opened)
    engines.last.say(delta(asked(engines).id, "\n\nSo it is."), second)
    reach(thinker, qtbot, State.READY)
    view = last_answer(thinker)
    qtbot.waitUntil(lambda: view.is_up_to_date and view.body.toPlainText() == "So it is.")
    assert view.thought.switch.accessibleName() == "Thought · 40 tokens · 12 s"
    assert not view.thought.answer_now.isVisible()
    assert len(thinker.chat.shown) == 2, "it is one answer"

    engines.last.script = load_at_once
    ask(thinker, engines, qtbot, "And then?")
    earlier = asked(engines).messages[1]
    assert (earlier.content, earlier.thought) == ("So it is.", "It is because")


def test_an_answer_that_ends_before_it_is_stopped_is_not_continued(
    thinker: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    request = ask(thinker, engines, qtbot)
    engines.last.say(delta(request, "<think>Hm"))
    qtbot.waitUntil(lambda: last_answer(thinker).thought.answer_now.isVisible())
    last_answer(thinker).thought.answer_now.click()
    engines.last.say(answer(request, "<think>Hm</think>Yes."))
    reach(thinker, qtbot, State.READY)
    assert last_request(engines) == request
    assert thinker.chat.shown[-1].message.text == "<think>Hm</think>Yes."
