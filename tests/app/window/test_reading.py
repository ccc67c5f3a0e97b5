"""What a screen reader finds in the window."""

from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.window.window import Window
from tests.app.fake_engine import verdict


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
