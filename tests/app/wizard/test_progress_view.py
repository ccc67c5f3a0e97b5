from dataclasses import replace

import pytest
from PySide6.QtWidgets import QMessageBox, QProgressBar
from pytestqt.qtbot import QtBot

from app.wizard.progress_view import ProgressView, figures
from app.wizard.stages import Shown, Stage

MIB = 1 << 20
RUNNING = Shown(
    "Setting up", "running", 30 * MIB, 120 * MIB, bytes_per_s=3 * MIB, seconds_left=30, deletes=True
)


@pytest.fixture
def view(qtbot: QtBot) -> ProgressView:
    made = ProgressView()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.mark.parametrize(
    ("state", "buttons"),
    [
        ("waiting", ["Go on", "Cancel"]),
        ("running", ["Pause", "Cancel"]),
        ("paused", ["Go on", "Cancel"]),
        ("failed", ["Try again", "Cancel"]),
        ("done", []),
    ],
)
def test_each_state_offers_what_can_be_done_in_it(view: ProgressView, state: str, buttons: list[str]) -> None:
    view.show_progress(replace(RUNNING, state=state))  # type: ignore[arg-type]
    shown = [each.text() for each in (view.pause, view.resume, view.cancel) if each.isVisible()]
    assert shown == buttons


def test_what_cannot_be_paused_has_no_button_for_it(view: ProgressView) -> None:
    view.show_progress(replace(RUNNING, can_pause=False))
    assert not view.pause.isVisible()


def test_figures_say_how_much_how_fast_and_how_long() -> None:
    assert figures(RUNNING) == "25 % · 30.0 MB of 120.0 MB · 3.0 MB/s · 30 s left"
    assert figures(replace(RUNNING, state="paused")) == "25 % · 30.0 MB of 120.0 MB · Paused"
    assert figures(Shown("x", "running", 0, 0)) == "Working…"
    assert figures(replace(RUNNING, state="done")) == "Complete: 120.0 MB"


def test_stages_are_shown_where_there_are_a_few_and_told_with_their_trouble(view: ProgressView) -> None:
    stages = (
        Stage("uv", "done", 9 * MIB, 9 * MIB),
        Stage("torch", "trouble", MIB, 100 * MIB, "The connection broke off; trying again in 2 s."),
    )
    view.show_progress(replace(RUNNING, stages=stages))
    assert view.details.isChecked()
    assert view._rows[1]._note.text().startswith("The connection broke off")
    bars = {bar.accessibleName(): bar.value() for bar in view.findChildren(QProgressBar)}
    assert bars == {"Progress of Setting up": 250, "uv": 1000, "torch": 10}
    view.details.click()
    assert not view._stages.isVisible()
    view.show_progress(replace(RUNNING, stages=stages))
    assert not view._stages.isVisible(), "what was folded stays folded"


def test_trouble_stands_with_its_next_step(view: ProgressView) -> None:
    view.show_progress(replace(RUNNING, state="paused", trouble="The disk is full.", hint="Make room."))
    assert view._trouble.isVisible()
    assert view._hint.text() == "Make room."
    view.show_progress(RUNNING)
    assert not view._trouble.isVisible()
    assert not view._hint.isVisible()


def test_the_keyboard_stays_on_the_button_that_turned_into_another(view: ProgressView, qtbot: QtBot) -> None:
    qtbot.waitActive(view)
    view.show_progress(RUNNING)
    view.pause.setFocus()
    view.show_progress(replace(RUNNING, state="paused"))
    assert view.resume.hasFocus()


def test_the_keyboard_never_slips_to_the_button_that_cancels(view: ProgressView, qtbot: QtBot) -> None:
    qtbot.waitActive(view)
    running = replace(RUNNING, can_pause=False, stages=(Stage("uv", "done"), Stage("torch", "running")))
    view.show_progress(replace(running, state="failed"))
    view.resume.setFocus()
    view.show_progress(running)
    assert view.details.hasFocus()


def test_a_stage_that_nobody_counts_is_full_when_it_is_done_and_moves_while_it_runs(
    view: ProgressView,
) -> None:
    stages = (Stage("a", "done"), Stage("b", "running", note="so far"), Stage("c", "waiting"))
    view.show_progress(replace(RUNNING, stages=stages))
    bars = {bar.accessibleName(): (bar.value(), bar.maximum()) for bar in view.findChildren(QProgressBar)}
    assert (bars["a"], bars["c"]) == ((1000, 1000), (0, 1000))
    assert bars["b"][1] == 0
    assert [row._note.text() for row in view._rows] == ["", "so far", ""]


def test_cancelling_asks_before_it_deletes(view: ProgressView, qtbot: QtBot) -> None:
    view.show_progress(RUNNING)
    with qtbot.assertNotEmitted(view.cancelled):
        view.cancel.click()
        box = view.findChild(QMessageBox)
        assert box is not None
        assert "30.0 MB" in box.informativeText()
        box.defaultButton().click()
    view.cancel.click()
    box = view.findChildren(QMessageBox)[-1]
    [delete] = [each for each in box.buttons() if each is not box.defaultButton()]
    with qtbot.waitSignal(view.cancelled):
        delete.click()


@pytest.mark.parametrize("shown", [replace(RUNNING, done=0), replace(RUNNING, deletes=False)])
def test_what_deletes_nothing_is_cancelled_at_once(view: ProgressView, qtbot: QtBot, shown: Shown) -> None:
    view.show_progress(shown)
    with qtbot.waitSignal(view.cancelled):
        view.cancel.click()
