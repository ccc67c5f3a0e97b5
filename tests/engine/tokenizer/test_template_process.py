"""The process that renders templates: what is said if it cannot run is not blamed on the model."""

import sys

import pytest

from engine.errors import SystemLimit, UnsupportedModel
from engine.tokenizer import chat
from engine.tokenizer.chat import Templates

REQUEST = ["{{ messages[0].content }}", [{"content": "hello"}], True, {}]


@pytest.fixture
def templates():
    made = Templates()
    yield made
    made.close()


def runs(monkeypatch, code: str) -> None:
    monkeypatch.setattr(chat.interpreter, "command", lambda module: [sys.executable, "-c", code])


@pytest.mark.parametrize("code", ["raise ImportError", "print('odd')", "print('ready', flush=True); input()"])
def test_a_process_that_the_system_does_not_let_run_is_named_as_such(monkeypatch, templates, code):
    with monkeypatch.context() as changed:
        runs(changed, code)
        with pytest.raises(SystemLimit, match="cannot start"):
            templates.ask(REQUEST)
    assert templates.ask(REQUEST) == {"text": "hello"}, "the next one is started anew"


def test_a_process_that_is_killed_at_work_is_a_fault_of_the_template(monkeypatch, templates):
    runs(monkeypatch, "import os; print('ready', flush=True); input(); os._exit(1)")
    with pytest.raises(UnsupportedModel, match="too much time or memory"):
        templates.ask(REQUEST)


def test_a_process_that_cannot_be_created_is_named(monkeypatch, templates):
    def refuse(*_, **__):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(chat.subprocess, "Popen", refuse)
    with pytest.raises(SystemLimit, match="no more threads or processes"):
        templates.ask(REQUEST)
