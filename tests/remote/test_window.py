"""A window on llama.cpp's own server: a question, its answer, and what is shown of its speculation."""

import os
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.preferences import PreferencesFile, RecentPair
from app.store import Store
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
    preferences.change(recent_pairs=[pair])
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
    assert answers[0].speculation is not None
    assert "Tokyo" in store.messages.shown(window.chat.id)[-1].message.text
    window.header.panel_switch.setChecked(True)
    if folder := os.environ.get("SPECEXEC_PICTURES"):
        qtbot.wait(500)
        window.grab().save(f"{folder}/elsewhere.png")

    with qtbot.waitSignal(window.closed, timeout=WAIT_MS):
        window.close()
    window.core.deleteLater()
    store.close()
