"""A window on another program's server: a question, its answer, and what is shown of its speculation."""

import os
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.preferences import NEW_CHATS, PreferencesFile, RecentPair
from app.store import SavedOptions, Store
from app.widgets import theme
from app.window.arguments import Arguments
from app.window.core import Core
from app.window.window import Window
from engine.protocol import Answer
from engine.remote.engines import AddedEngine
from engine.remote.models import models

WAIT_MS = 60_000


@pytest.mark.qt_log_level_fail("CRITICAL")  # the offscreen platform warns
def test_a_window_talks_to_it(engine: AddedEngine, tmp_path: Path, qtbot: QtBot) -> None:
    store = Store(tmp_path / "chats.sqlite")
    preferences = PreferencesFile(tmp_path / "settings.toml")
    pair = RecentPair(models(engine, None)[0].id, engine=engine.name)
    brief = structs.replace(NEW_CHATS, options=SavedOptions(max_new_tokens=100, temperature=0.0))
    preferences.change(recent_pairs=[pair], new_chats=brief)
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    theme.choose(app, "light")
    window = Window(Core(Arguments(), store, preferences))
    qtbot.addWidget(window)
    window.resize(1280, 800)
    window.start()
    qtbot.waitUntil(lambda: window.engine.state is State.READY, timeout=WAIT_MS)
    assert window.header.place_sign.text() == f"Goes to {engine.place}"

    answers: list[Answer] = []
    window.chat.answered.connect(answers.append)
    window.chat.send("What is the capital of Japan?")
    qtbot.waitUntil(lambda: bool(answers), timeout=WAIT_MS)
    assert "Tokyo" in answers[0].text
    assert "Tokyo" in store.messages.shown(window.chat.id)[-1].message.text
    window.sidebar.header.new_chat.click()
    window.chat.send("Write the numbers from 1 to 40, separated by commas.")
    qtbot.waitUntil(lambda: len(answers) == 2, timeout=WAIT_MS)
    assert answers[1].speculation is not None
    assert answers[1].speculation.accepted > 0
    window.header.panel_switch.setChecked(True)
    if folder := os.environ.get("SPECEXEC_PICTURES"):
        qtbot.wait(500)
        window.grab().save(f"{folder}/elsewhere.png")

    with qtbot.waitSignal(window.closed, timeout=WAIT_MS):
        window.close()
    window.core.deleteLater()
    store.close()
