"""The button that clears what is kept of chats."""

import threading

import pytest
from pytestqt.qtbot import QtBot

from app.settings.kept_chats import KeptChats
from engine.errors import DiskProblem
from engine.remote import kept_prompts
from engine.remote.kept_prompts import ClearedPrompts


@pytest.fixture
def shown(qtbot: QtBot) -> KeptChats:
    made = KeptChats()
    qtbot.addWidget(made)
    made.show()
    return made


def test_it_says_how_much_was_freed(shown: KeptChats, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()

    def clear() -> ClearedPrompts:
        assert gate.wait(30)
        return ClearedPrompts(3_000_000, 2_000_000_000)

    monkeypatch.setattr(kept_prompts, "clear", clear)
    shown.clear.click()
    assert not shown.clear.isEnabled()
    assert "Clearing" in shown.state.text(), "the window goes on meanwhile"
    gate.set()
    qtbot.waitUntil(lambda: "Freed" in shown.state.text())
    assert "MB of RAM" in shown.state.text()
    assert "GB on the disk" in shown.state.text()
    assert shown.clear.isEnabled()


def test_a_failure_is_shown_and_can_be_tried_again(
    shown: KeptChats, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> ClearedPrompts:
        raise DiskProblem("The folder is in use.", "Close other programs.")

    monkeypatch.setattr(kept_prompts, "clear", fail)
    shown.clear.click()
    qtbot.waitUntil(shown.problem.isVisible)
    assert shown.state.text() == ""
    assert shown.clear.isEnabled()
    monkeypatch.setattr(kept_prompts, "clear", lambda: ClearedPrompts(0, 0))
    shown.clear.click()
    qtbot.waitUntil(lambda: "Freed" in shown.state.text())
    assert not shown.problem.isVisible()
