"""`specexec chat --thinking`: what the model's chat template is told, and what is refused."""

import json

import pytest
from msgspec import structs

from engine import cli
from engine.protocol import Chat
from tests.app.fake_engine import answer, loaded
from tests.engine import chat_templates as templates


class Engine:
    """Loads a model with a chat template, and keeps what it is asked."""

    template = ""

    def __init__(self) -> None:
        self.asked: list[Chat] = []

    def load(self, request, emit, cancelled):
        return structs.replace(loaded(request.id), chat_template=self.template)

    def answer(self, chat, emit, cancelled):
        self.asked.append(chat)
        return answer(chat.id, "Yes.")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    made = Engine()
    monkeypatch.setattr("engine.cli.chat.EngineService", lambda: made)
    return made


@pytest.mark.parametrize(
    ("template", "options", "variables", "budget"),
    [
        (templates.QWEN_35, ["--thinking", "off"], {"enable_thinking": False}, 0),
        (
            templates.QWEN_38,
            ["--thinking", "low"],
            {"enable_thinking": True, "reasoning_effort": "low"},
            None,
        ),
        (templates.MISTRAL_MEDIUM, ["--thinking", "on"], {"reasoning_effort": "high"}, None),
        (templates.MISTRAL_MEDIUM, ["--thinking", "high"], {"reasoning_effort": "high"}, None),
        (templates.SEED, ["--thinking-budget", "512"], {"thinking_budget": 512}, 512),
        (templates.SEED, ["--thinking", "off"], {"thinking_budget": 0}, 0),
        (templates.GPT_OSS, ["--thinking", "high"], {"reasoning_effort": "high"}, None),
        (templates.DEEPSEEK_R1, ["--thinking", "off"], {}, 0),
        (templates.QWEN_35, [], {}, None),
    ],
)
def test_what_is_chosen_reaches_the_template(engine, template, options, variables, budget):
    engine.template = template
    assert cli.run(["chat", "hi", "--json", *options]) == 0
    (chat,) = engine.asked
    assert chat.template.options == variables
    assert chat.options.thinking_budget == budget


@pytest.mark.parametrize(
    ("template", "choice", "hint"),
    [
        (templates.QWEN_35, "high", "Choose on or off, or leave it out."),
        (templates.GPT_OSS, "max", "Choose low or medium or high, or leave it out."),
        (templates.GPT_OSS, "on", "Choose low or medium or high, or leave it out."),
        (templates.GRANITE_4, "on", "Leave it out."),
    ],
)
def test_what_the_template_does_not_know_is_refused(engine, capsys, template, choice, hint):
    engine.template = template
    assert cli.run(["chat", "hi", "--json", "--thinking", choice]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["kind"], error["hint"]) == ("bad_option", hint)
    assert f"--thinking {choice}" in error["message"]
    assert not engine.asked


def test_an_engine_elsewhere_is_not_told(capsys):
    assert cli.run(["chat", "hi", "--json", "--engine", "away", "--thinking", "on"]) == 1
    assert "--thinking" in json.loads(capsys.readouterr().out)["error"]["message"]
