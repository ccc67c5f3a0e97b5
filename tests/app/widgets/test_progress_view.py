from dataclasses import replace

import pytest
from PySide6.QtWidgets import QMessageBox, QProgressBar
from pytestqt.qtbot import QtBot

from app.widgets.progress_view import ProgressState, ProgressView, Stage, figures
from tests.app.seen import labels, says

MIB = 1 << 20
RUNNING = ProgressState(
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
        ("waiting", ["Resume", "Cancel"]),
        ("running", ["Pause", "Cancel"]),
        ("paused", ["Resume", "Cancel"]),
        ("failed", ["Try again", "Cancel"]),
        ("done", []),
    ],
)
def test_each_state_offers_its_buttons(view: ProgressView, state: str, buttons: list[str]) -> None:
    view.show_progress(replace(RUNNING, state=state))  # type: ignore[arg-type]
    shown = [each.text() for each in (view.pause, view.resume, view.cancel) if each.isVisible()]
    assert shown == buttons


def test_a_task_that_cannot_be_paused_has_no_pause_button(view: ProgressView) -> None:
    view.show_progress(replace(RUNNING, can_pause=False))
    assert not view.pause.isVisible()


def test_figures_show_amount_speed_and_time_left() -> None:
    assert figures(RUNNING) == "25 % · 30.0 MB of 120.0 MB · 3.0 MB/s · 30 s left"
    assert figures(replace(RUNNING, state="paused")) == "25 % · 30.0 MB of 120.0 MB · Paused"
    assert figures(ProgressState("x", "running", 0, 0)) == "Working…"
    assert figures(replace(RUNNING, state="done")) == "Complete: 120.0 MB"


def test_stages_are_expanded_while_few_and_show_their_errors(view: ProgressView) -> None:
    stages = (
        Stage("uv", "done", 9 * MIB, 9 * MIB),
        Stage("torch", "error", MIB, 100 * MIB, "The connection broke off; trying again in 2 s."),
    )
    view.show_progress(replace(RUNNING, stages=stages))
    assert view.details.isChecked()
    assert says(view, "The connection broke off")
    bars = {bar.accessibleName(): bar.value() for bar in view.findChildren(QProgressBar)}
    assert bars == {"Progress of Setting up": 250, "uv": 1000, "torch": 10}
    view.details.click()
    assert len(shown_bars(view)) == 1
    view.show_progress(replace(RUNNING, stages=stages))
    assert len(shown_bars(view)) == 1, "what was folded stays folded"


def shown_bars(view: ProgressView) -> list[QProgressBar]:
    return [bar for bar in view.findChildren(QProgressBar) if bar.isVisible()]


def test_an_error_is_shown_with_its_hint(view: ProgressView) -> None:
    view.show_progress(replace(RUNNING, state="paused", error="The disk is full.", hint="Make room."))
    assert "The disk is full." in labels(view)
    assert "Make room." in labels(view)
    view.show_progress(RUNNING)
    assert "The disk is full." not in labels(view)
    assert "Make room." not in labels(view)


def test_the_focus_moves_to_the_button_that_replaces_the_focused_one(
    view: ProgressView, qtbot: QtBot
) -> None:
    qtbot.waitActive(view)
    view.show_progress(RUNNING)
    view.pause.setFocus()
    view.show_progress(replace(RUNNING, state="paused"))
    assert view.resume.hasFocus()


def test_the_focus_never_moves_to_the_cancel_button(view: ProgressView, qtbot: QtBot) -> None:
    qtbot.waitActive(view)
    running = replace(RUNNING, can_pause=False, stages=(Stage("uv", "done"), Stage("torch", "running")))
    view.show_progress(replace(running, state="failed"))
    view.resume.setFocus()
    view.show_progress(running)
    assert view.details.hasFocus()


def test_a_stage_without_a_byte_count_is_full_when_done_and_busy_while_running(
    view: ProgressView,
) -> None:
    stages = (Stage("a", "done"), Stage("b", "running", note="so far"), Stage("c", "waiting"))
    view.show_progress(replace(RUNNING, stages=stages))
    bars = {bar.accessibleName(): (bar.value(), bar.maximum()) for bar in view.findChildren(QProgressBar)}
    assert (bars["a"], bars["c"]) == ((1000, 1000), (0, 1000))
    assert bars["b"][1] == 0
    assert "so far" in labels(view)


def test_cancelling_asks_before_deleting(view: ProgressView, qtbot: QtBot) -> None:
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
def test_a_task_that_deletes_nothing_is_cancelled_at_once(
    view: ProgressView, qtbot: QtBot, shown: ProgressState
) -> None:
    view.show_progress(shown)
    with qtbot.waitSignal(view.cancelled):
        view.cancel.click()
