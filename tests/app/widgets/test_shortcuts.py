from itertools import combinations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.widgets.shortcuts import Scope, listen, shortcuts, shown
from app.window.keyboard_page import KeyboardPage


def test_no_key_has_two_meanings() -> None:
    keys = [QKeySequence(keys) for shortcut in shortcuts() for keys in shortcut.keys]
    assert all(not key.isEmpty() for key in keys)
    assert not [pair for pair in combinations(keys, 2) if pair[0] == pair[1]]
    ids = [shortcut.id for shortcut in shortcuts()]
    assert len(set(ids)) == len(ids)


def test_a_key_triggers_its_action(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    pressed: list[str] = []
    listen(window, {id: lambda id=id: pressed.append(id) for id in ("keyboard", "previous_version")})
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window, Qt.Key.Key_F1)
    qtbot.keyClick(window, Qt.Key.Key_Slash, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(window, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert pressed == ["keyboard", "keyboard", "previous_version"]


def test_an_action_without_a_shortcut_is_an_error(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    with pytest.raises(KeyError):
        listen(window, {"dance": lambda: None})


def test_the_keyboard_page_lists_every_shortcut(qtbot: QtBot) -> None:
    page = KeyboardPage()
    qtbot.addWidget(page)
    texts = [label.text() for label in page.findChildren(QLabel)]
    for shortcut in shortcuts():
        assert shortcut.text in texts
        assert all(shown(keys) in texts for keys in shortcut.keys), shortcut
    titles = [label for label in page.findChildren(QLabel) if label.property("role") == "section"]
    assert len(titles) == len(Scope)


def test_the_keyboard_page_says_which_key_sends() -> None:
    keys = {shortcut.id: shortcut.keys for shortcut in shortcuts("ctrl_enter")}
    assert (keys["send"], keys["new_line"]) == (("Ctrl+Return",), ("Return",))
    assert keys.keys() == {shortcut.id for shortcut in shortcuts()}
