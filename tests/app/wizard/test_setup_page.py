"""Setting the engine up, as a person does it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.preferences import PreferencesFile
from app.wizard import engine_setup, examination, setup_view
from app.wizard.engine_setup import EngineSetup
from app.wizard.wizard import Wizard
from engine import runtime
from engine.hub.errors import DiskFull
from engine.machine import Gpu
from engine.runtime import BadArchive, Sources, Unreachable
from tests.app.wizard.conftest import GIB, machine
from tests.app.wizard.packaged import FakeSetups, package, put_runtime

CARD = Gpu("nvidia", "GeForce RTX 4090", driver="581.20", compute_capability=(8, 9))
MB = 1_000_000


@pytest.fixture(autouse=True)
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    package(tmp_path, monkeypatch)
    monkeypatch.setattr(engine_setup, "POLL_MS", 5)
    yield
    runtime.backends.cache_clear()


@pytest.fixture
def setups(monkeypatch: pytest.MonkeyPatch) -> FakeSetups:
    made = FakeSetups()
    monkeypatch.setattr(engine_setup, "Setup", made)
    return made


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Another machine is looked at."""

    def see(*cards: Gpu, free_nbytes: int = 500 * GIB) -> None:
        found = machine(free_nbytes, cards)
        monkeypatch.setattr(examination.machine, "probe", lambda folder: found)

    return see


@pytest.fixture
def begun(setups: FakeSetups, make_wizard: Callable[[], Wizard], qtbot: QtBot) -> Wizard:
    """A wizard that proposes."""
    return begin(make_wizard(), qtbot)


def begin(wizard: Wizard, qtbot: QtBot) -> Wizard:
    wizard.begin()
    qtbot.waitUntil(lambda: wizard.engine.view.chosen is not None)
    qtbot.waitActive(wizard)
    return wizard


def press(wizard: Wizard, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: wizard.main.isEnabled() and wizard.main.hasFocus())
    qtbot.keyClick(wizard.main, Qt.Key.Key_Return)


def said(widget: QWidget) -> str:
    return " ".join(each.text() for each in widget.findChildren(QLabel) if each.isVisible())


def test_enter_alone_leads_from_no_engine_to_the_choice_of_a_model(
    begun: Wizard, setups: FakeSetups, setup: EngineSetup, qtbot: QtBot
) -> None:
    assert begun.page is begun.engine
    assert begun.main.text() == "Set it up (286.1 MB)"
    press(begun, qtbot)
    assert not begun.main.isEnabled()
    qtbot.keyClick(begun.focusWidget(), Qt.Key.Key_Return)  # a second Enter hits nothing
    assert [each.backend.name for each in setups.made] == ["cpu"]
    assert setup.is_running
    with qtbot.waitSignal(setup.ended) as ended:
        setups.last.finish()
    assert ended.args == [True]
    assert not setup.is_needed
    with qtbot.waitSignal(begun.survey.predicted):
        press(begun, qtbot)
    assert begun.page is begun.machine


def test_the_card_chooses_the_backend_and_what_cannot_run_says_why(
    setups: FakeSetups, make_wizard: Callable[[], Wizard], seen: Callable[..., None], qtbot: QtBot
) -> None:
    seen(CARD)
    wizard = begin(make_wizard(), qtbot)
    view = wizard.engine.view
    assert view.chosen == runtime.backends()["cuda"]
    assert "GeForce RTX 4090 driver 581.20" in said(wizard.engine)
    assert "500.0 GB free" in said(wizard.engine)
    first, second = (view.backends.item(row).text() for row in (0, 1))
    assert "For GeForce RTX 4090, the graphics card of this machine. 2.8 GB to download, 5.6 GB" in first
    assert "Runs on every machine" in second
    view.backends.setFocus()
    qtbot.keyClick(view.backends, Qt.Key.Key_Down)
    assert view.chosen == runtime.backends()["cpu"]
    assert wizard.main.text() == "Set it up (286.1 MB)"

    seen(replace(CARD, driver="550.1"))
    old = begin(make_wizard(), qtbot).engine.view
    assert old.chosen == runtime.backends()["cpu"]
    assert "550.1: update it" in old.backends.item(1).text()
    old.backends.setFocus()
    qtbot.keyClick(old.backends, Qt.Key.Key_Down)
    assert old.chosen == runtime.backends()["cpu"]


@pytest.mark.parametrize("width", [300, 1000])
def test_all_backends_are_seen_however_their_lines_break(
    setups: FakeSetups,
    make_wizard: Callable[[], Wizard],
    seen: Callable[..., None],
    qtbot: QtBot,
    width: int,
) -> None:
    seen(replace(CARD, driver="550.1"))
    view = begin(make_wizard(), qtbot).engine.view.backends
    view.setFixedWidth(width)
    last = view.item(view.count() - 1)
    qtbot.waitUntil(lambda: view.visualItemRect(last).bottom() == view.viewport().rect().bottom())


def test_too_little_room_is_said_before_anything_comes(
    setups: FakeSetups, make_wizard: Callable[[], Wizard], seen: Callable[..., None], qtbot: QtBot
) -> None:
    seen(CARD, free_nbytes=2 * GIB)
    view = begin(make_wizard(), qtbot).engine.view
    assert "5.6 GB are needed, and only 2.0 GB are free" in said(view)
    view.backends.choose("cpu")
    assert "are needed" not in said(view)


def test_it_is_told_how_far_it_is_and_a_wizard_that_was_closed_shows_it_again(
    begun: Wizard, setups: FakeSetups, setup: EngineSetup, qtbot: QtBot
) -> None:
    press(begun, qtbot)
    begun.close()
    setups.last.say(
        stage="torch", done_nbytes=500 * MB, nbytes=1000 * MB, bytes_per_s=10.0 * MB, seconds_left=50.0,
        doing="Downloading torch",
    )  # fmt: skip
    qtbot.waitUntil(lambda: setup.shown is not None and setup.shown.done > 0)
    begun.begin()
    assert begun.page is begun.engine
    text = said(begun.engine.view.progress)
    assert "Engine: Processor (CPU)" in text
    assert "50 % · 476.8 MB of 953.7 MB · 9.5 MB/s · 50 s left" in text
    assert "Downloading torch" in text
    assert not begun.engine.view.choosing.isVisible()
    setups.last.say(stage="testing", nbytes=0, done_nbytes=0, bytes_per_s=0.0, seconds_left=None)
    qtbot.waitUntil(lambda: "100 % · 953.7 MB" in said(begun.engine.view.progress))
    states = [stage.state for stage in setup.shown.stages]  # type: ignore[union-attr]
    assert states == ["done", "done", "done", "running", "waiting"]
    with qtbot.waitSignal(setup.ended):
        setups.last.finish()
    assert begun.main.text() == "Choose a model"


def test_a_failure_says_what_to_do_and_another_mirror_is_tried_and_remembered(
    begun: Wizard, setups: FakeSetups, setup: EngineSetup, qtbot: QtBot, tmp_path: Path
) -> None:
    press(begun, qtbot)
    with qtbot.waitSignal(setup.ended) as ended:
        setups.last.fail(Unreachable("The packages cannot be reached.", "Name a proxy."))
    assert ended.args == [False]
    view = begun.engine.view
    assert "The packages cannot be reached. Name a proxy." in said(view.progress)
    assert view.progress.resume.hasFocus()
    view.network.setFocus()
    qtbot.keyClick(view.network, Qt.Key.Key_Space)
    qtbot.keyClicks(view.sources.mirror, "https://mirror.example/simple")
    qtbot.keyClicks(view.sources.proxy, "proxy.example:3128")
    view.progress.resume.setFocus()
    qtbot.keyClick(view.progress.resume, Qt.Key.Key_Return)
    assert "“proxy.example:3128” is no address" in view.problem.message
    assert len(setups.made) == 1
    qtbot.keyClick(view.sources.proxy, Qt.Key.Key_Home)
    qtbot.keyClicks(view.sources.proxy, "http://")
    qtbot.keyClick(view.progress.resume, Qt.Key.Key_Return)
    wanted = Sources("https://mirror.example/simple", "", "http://proxy.example:3128")
    assert setups.last.sources == wanted
    assert begun.focusWidget() is begun, "a second Enter cancels nothing"
    assert not view.problem.isVisible()
    assert EngineSetup(PreferencesFile(tmp_path / "settings.toml")).sources == wanted


def test_cancelling_asks_first_and_leads_back_to_the_choice(
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


def test_a_runtime_file_needs_no_network_and_a_bad_one_is_named(
    begun: Wizard, setups: FakeSetups, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = begun.engine.view
    bad = tmp_path / "bad.zip"
    bad.write_bytes(b"no zip")
    view.use_file(bad)
    qtbot.waitUntil(view.problem.isVisible)
    assert "bad.zip is no runtime" in view.problem.message

    class Whole:
        backend = runtime.backends()["cuda"]

    monkeypatch.setattr(setup_view, "Archive", lambda path: Whole())
    view.use_file(tmp_path / "cuda.zip")
    qtbot.waitUntil(lambda: len(setups.made) == 1)
    assert (setups.last.backend.name, type(setups.last.archive)) == ("cuda", Whole)
    assert not view.problem.isVisible()
    setups.last.fail(BadArchive("It is damaged.", "Copy it again."))
    qtbot.waitUntil(view.progress.resume.isVisible)
    assert "Unpack the file" in said(view.progress)
    view.progress.resume.click()
    assert type(setups.last.archive) is Whole
    assert len(setups.made) == 2
    setups.last.cancel()
    qtbot.waitUntil(lambda: not view.progress.isVisible())


def test_with_a_runtime_the_wizard_begins_with_the_machine_and_knows_its_torch(
    make_wizard: Callable[[], Wizard], qtbot: QtBot
) -> None:
    assert examination.installed_torch() is None
    put_runtime("cuda")
    found = examination.installed_torch()
    assert found is not None
    assert (found.version, found.cuda) == ("2.13.0+cu130", "13.0")
    wizard = make_wizard()
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.begin()
    assert wizard.page is wizard.machine


def test_without_a_runtime_nothing_is_measured() -> None:
    with pytest.raises(runtime.RuntimeMissing):
        examination.measured(Path(), False, examination.Stop())
