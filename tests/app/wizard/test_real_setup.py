"""The real set-up by keyboard alone, with uv and an index of small packages."""

import os
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.runtime_setup import setup_job
from app.runtime_setup.setup_job import EngineSetup
from app.wizard.wizard import Wizard
from engine import runtime
from tests.engine.runtime.conftest import App, app, forget_backends, index
from tests.engine.runtime.made_up import Index

__all__ = ["app", "forget_backends", "index"]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the miniature app has Linux's layout")
LIMIT_MS = 60_000


def go_to(widget: QWidget, wizard: Wizard, qtbot: QtBot) -> None:
    """Move the focus to a widget with Tab."""
    for _ in range(20):
        if widget.hasFocus():
            return
        focused = QApplication.focusWidget()
        assert focused is not None
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    raise AssertionError(f"Tab does not lead to {widget}")


def test_the_engine_is_set_up_from_a_mirror_once_it_has_all_packages(
    app: App,
    index: Index,
    setup: EngineSetup,
    make_wizard: Callable[[], Wizard],
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(setup_job, "POLL_MS", 20)
    wizard = make_wizard()
    wizard.begin_setup()
    view = wizard.engine.view
    qtbot.waitUntil(lambda: wizard.main.isEnabled() and wizard.main.hasFocus())
    go_to(view.network, wizard, qtbot)
    qtbot.keyClick(view.network, Qt.Key.Key_Space)
    go_to(view.sources.mirror, wizard, qtbot)
    qtbot.keyClicks(view.sources.mirror, index.url)
    [torch] = app.wheels.glob("torch-*.whl")
    elsewhere = torch.rename(app.root / torch.name)
    go_to(wizard.main, wizard, qtbot)
    with qtbot.waitSignal(setup.ended, timeout=LIMIT_MS) as ended:
        qtbot.keyClick(wizard.main, Qt.Key.Key_Return)
    assert ended.args == [False]
    assert setup.progress is not None
    assert "not available" in setup.progress.error
    assert "another mirror" in setup.progress.hint
    elsewhere.rename(torch)
    go_to(view.progress.resume, wizard, qtbot)
    with qtbot.waitSignal(setup.ended, timeout=LIMIT_MS) as ended:
        qtbot.keyClick(view.progress.resume, Qt.Key.Key_Return)
    assert ended.args == [True], setup.progress
    found = runtime.current()
    assert found is not None
    assert found.backend == "cpu"
    qtbot.waitUntil(wizard.main.hasFocus)
    assert wizard.main.text() == "Choose a model"
