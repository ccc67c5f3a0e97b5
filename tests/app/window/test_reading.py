"""What a screen reader finds in the window."""

import pytest
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.window.window import Window
from engine.errors import SpecExecError
from tests.app.fake_engine import FakeEngines, answer, verdict
from tests.app.window.test_window import ask, delta, reach


def read(widget: QWidget) -> list[str]:
    """Return the names in a widget, in the order in which a screen reader comes to them."""
    names = []

    def go(at: object) -> None:
        names.append(at.text(QAccessible.Text.Name))  # type: ignore[attr-defined]
        for index in range(at.childCount()):  # type: ignore[attr-defined]
            child = at.child(index)  # type: ignore[attr-defined]
            if child is not None and not child.state().invisible:
                go(child)

    go(QAccessible.queryAccessibleInterface(widget))
    return [name for name in names if name]


def test_the_panes_are_read_from_left_to_right(window: Window, qtbot: QtBot) -> None:
    window.resize(1400, 800)
    window.header.panel_switch.setChecked(True)
    for width in (1400, 1000, 1400):  # the panel lies above the chat, and beside it again
        window.resize(width, 800)
        qtbot.waitUntil(lambda width=width: window.width() == width)
    qtbot.waitUntil(window.panel.isVisible)
    names = read(window)
    wanted = ["Settings", "New chat", "Chat", "Message", "Send", "Token tree and statistics"]
    assert sorted(wanted, key=names.index) == wanted


def test_the_figures_are_read_with_their_values(window: Window, qtbot: QtBot) -> None:
    window.resize(1400, 800)
    window.header.panel_switch.setChecked(True)
    qtbot.waitUntil(window.panel.isVisible)
    window.panel.show_tree(verdict(1))
    assert {"tokens/s: 12.5", "tokens per pass: 3.00", "s to first token: —"} <= set(read(window.panel))


def test_what_happens_without_the_focus_is_announced(
    window: Window, engines: FakeEngines, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def hear(event: object) -> None:
        assert isinstance(event, QAccessibleAnnouncementEvent)
        said.append(event.message())

    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "updateAccessibility", hear)
    request, text = ask(window, engines, qtbot), "<think>Hm.</think>It is so."
    engines.last.say(delta(request, text), answer(request, text))
    reach(window, qtbot, State.READY)
    assert said == ["Answer complete: It is so."]
    request = ask(window, engines, qtbot)
    engines.last.say(delta(request, "It"), answer(request, "It", stop_reason="cancelled"))
    reach(window, qtbot, State.READY)
    assert said[-1] == "Answer not complete. Stopped by you: It"
    window.chat.delete(window.chat.shown[-1].message.id)
    assert said[-1] == "Deleted 1 message Undo"
    window._reports.show_error(SpecExecError("It failed.", "Try again."))
    assert said[-1] == "Problem: It failed. Try again."
