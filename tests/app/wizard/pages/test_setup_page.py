"""The set-up of the engine in the wizard, operated like a user does."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from app.preferences import PreferencesFile
from app.runtime_setup.setup_job import EngineSetup
from app.wizard.selection.survey import installed_torch
from app.wizard.wizard import Wizard
from engine import runtime
from engine.hub.errors import DiskFull
from engine.runtime import Sources, Unreachable
from tests.app.runtime_setup.conftest import packaged, seen, setups
from tests.app.runtime_setup.packaged import CARD, FakeSetups, put_runtime, said

__all__ = ["packaged", "seen", "setups"]

MB = 1_000_000


@pytest.fixture
def begun(setups: FakeSetups, make_wizard: Callable[[], Wizard], qtbot: QtBot) -> Wizard:
    """An open wizard that has proposed a backend."""
    return begin(make_wizard(), qtbot)


def begin(wizard: Wizard, qtbot: QtBot) -> Wizard:
    wizard.begin_setup()
    qtbot.waitUntil(lambda: wizard.engine.view.chosen is not None)
    qtbot.waitActive(wizard)
    return wizard


def press(wizard: Wizard, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: wizard.main.isEnabled() and wizard.main.hasFocus())
    qtbot.keyClick(wizard.main, Qt.Key.Key_Return)


def test_enter_alone_leads_from_no_engine_to_the_choice_of_a_model(
    begun: Wizard, setups: FakeSetups, setup: EngineSetup, qtbot: QtBot
) -> None:
    assert begun.page is begun.engine
    assert begun.main.text() == "Set up (286.1 MB)"
    press(begun, qtbot)
    assert not begun.main.isEnabled()
    qtbot.keyClick(begun.focusWidget(), Qt.Key.Key_Return)  # a second Enter presses nothing
    assert [each.backend.name for each in setups.made] == ["cpu"]
    assert setup.is_running
    with qtbot.waitSignal(setup.ended) as ended:
        setups.last.finish()
    assert ended.args == [True]
    assert not setup.is_needed
    with qtbot.waitSignal(begun.survey.predicted):
        press(begun, qtbot)
    assert begun.page is begun.choose


def test_the_graphics_card_decides_the_backend_and_unusable_ones_say_why(
    setups: FakeSetups, make_wizard: Callable[[], Wizard], seen: Callable[..., None], qtbot: QtBot
) -> None:
    seen(CARD)
    wizard = begin(make_wizard(), qtbot)
    view = wizard.engine.view
    assert view.chosen == runtime.backends()["cuda"]
    assert "GeForce RTX 4090 driver 581.20" in said(wizard.engine)
    assert "500.0 GB free" in said(wizard.engine)
    first, second = (view.backends.item(row).text() for row in (0, 1))
    assert "Uses this machine's graphics card, GeForce RTX 4090. 2.8 GB to download, 5.6 GB" in first
    assert "Runs on every machine" in second
    view.backends.setFocus()
    qtbot.keyClick(view.backends, Qt.Key.Key_Down)
    assert view.chosen == runtime.backends()["cpu"]
    assert wizard.main.text() == "Set up (286.1 MB)"

    seen(replace(CARD, driver="550.1"))
    old = begin(make_wizard(), qtbot).engine.view
    assert old.chosen == runtime.backends()["cpu"]
    assert "from 550.1 to 580.65" in old.backends.item(1).text()
    old.backends.setFocus()
    qtbot.keyClick(old.backends, Qt.Key.Key_Down)
    assert old.chosen == runtime.backends()["cpu"]


def test_progress_is_shown_also_after_the_wizard_was_closed(
    begun: Wizard, setups: FakeSetups, setup: EngineSetup, qtbot: QtBot
) -> None:
    press(begun, qtbot)
    begun.close()
    setups.last.say(
        stage="torch", done_nbytes=500 * MB, nbytes=1000 * MB, bytes_per_s=10.0 * MB, seconds_left=50.0,
        doing="Downloading torch",
    )  # fmt: skip
    qtbot.waitUntil(lambda: setup.progress is not None and setup.progress.done > 0)
    begun.begin_setup()
    assert begun.page is begun.engine
    text = said(begun.engine.view.progress)
    assert "Engine: Processor (CPU)" in text
    assert "50 % · 476.8 MB of 953.7 MB · 9.5 MB/s · 50 s left" in text
    assert "Downloading torch" in text
    assert not begun.engine.view.choosing.isVisible()
    setups.last.say(stage="testing", nbytes=0, done_nbytes=0, bytes_per_s=0.0, seconds_left=None)
    qtbot.waitUntil(lambda: "100 % · 953.7 MB" in said(begun.engine.view.progress))
    states = [stage.state for stage in setup.progress.stages]  # type: ignore[union-attr]
    assert states == ["done", "done", "done", "running", "waiting"]
    with qtbot.waitSignal(setup.ended):
        setups.last.finish()
    assert begun.main.text() == "Choose a model"


def test_a_failure_shows_a_hint_and_another_mirror_is_tried_and_saved(
    begun: Wizard, setups: FakeSetups, setup: EngineSetup, qtbot: QtBot, tmp_path: Path
) -> None:
    press(begun, qtbot)
    with qtbot.waitSignal(setup.ended) as ended:
        setups.last.fail(Unreachable("The package server cannot be reached.", "Enter a proxy."))
    assert ended.args == [False]
    view = begun.engine.view
    assert "The package server cannot be reached. Enter a proxy." in said(view.progress)
    assert view.progress.resume.hasFocus()
    view.network.setFocus()
    qtbot.keyClick(view.network, Qt.Key.Key_Space)
    qtbot.keyClicks(view.sources.mirror, "https://mirror.example/simple")
    qtbot.keyClicks(view.sources.proxy, "proxy.example:3128")
    view.progress.resume.setFocus()
    qtbot.keyClick(view.progress.resume, Qt.Key.Key_Return)
    assert "“proxy.example:3128” is not a valid address" in view.problem.message
    assert len(setups.made) == 1
    qtbot.keyClick(view.sources.proxy, Qt.Key.Key_Home)
    qtbot.keyClicks(view.sources.proxy, "http://")
    qtbot.keyClick(view.progress.resume, Qt.Key.Key_Return)
    wanted = Sources("https://mirror.example/simple", "", "http://proxy.example:3128")
    assert setups.last.sources == wanted
    assert begun.focusWidget() is begun, "a second Enter cancels nothing"
    assert not view.problem.isVisible()
    assert EngineSetup(PreferencesFile(tmp_path / "settings.toml")).sources == wanted


def test_cancelling_asks_for_confirmation_and_returns_to_the_choice(
    begun: Wizard, setups: FakeSetups, setup: EngineSetup, qtbot: QtBot
) -> None:
    press(begun, qtbot)
    setups.last.say(stage="packages", done_nbytes=5 * MB, nbytes=1000 * MB)
    view = begun.engine.view
    qtbot.waitUntil(lambda: "4.8 MB" in said(view.progress))
    view.progress.cancel.click()
    box = view.findChild(QMessageBox)
    assert box is not None
    [delete] = [each for each in box.buttons() if each is not box.defaultButton()]
    with qtbot.waitSignal(setup.ended) as ended:
        delete.click()
    assert ended.args == [False]
    assert not view.progress.isVisible()
    assert view.choosing.isVisible()
    assert begun.focusWidget() is begun.main
    begun.main.click()
    setups.last.fail(DiskFull("The disk is full.", "Make room."))
    qtbot.waitUntil(view.progress.resume.isVisible)
    view.progress.cancel.click()
    assert not view.progress.isVisible()


def test_with_a_runtime_the_wizard_starts_at_the_choice_and_knows_its_torch(
    make_wizard: Callable[[], Wizard], qtbot: QtBot
) -> None:
    assert installed_torch() is None
    put_runtime("cuda")
    found = installed_torch()
    assert found is not None
    assert (found.version, found.cuda) == ("2.13.0+cu130", "13.0")
    wizard = make_wizard()
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.begin()
    assert wizard.page is wizard.choose
