import pytest
from pytestqt.qtbot import QtBot

from app.panel.bars import IterationBars, SplitBar, shares
from engine.protocol.messages import Seconds
from tests.app.fake_engine import verdict


def test_shares_add_up_to_one() -> None:
    assert shares(Seconds(draft=1, target=2, stream_wait=1, other=0)) == (0.25, 0.5, 0.25, 0.0)
    assert shares(Seconds()) == (0.0, 0.0, 0.0, 0.0)


def test_the_accessible_description_names_the_shares(qtbot: QtBot) -> None:
    bar = SplitBar()
    qtbot.addWidget(bar)
    bar.show_seconds(Seconds(draft=1, target=2, stream_wait=1))
    assert bar.accessibleDescription() == "draft 25%, target 50%, waiting 25%, other 0%"
    bar.grab()


def test_drafting_during_a_pass_stands_beside_the_pass(qtbot: QtBot) -> None:
    bars = IterationBars()
    qtbot.addWidget(bars)
    bars.resize(300, 110)
    taking_turns, ahead = verdict(1), verdict(2)
    for done in (taking_turns, ahead):
        done.seconds = Seconds(draft=0.2, target=0.3, stream_wait=0.5)
    ahead.ahead_s = 0.4
    bars.add(taking_turns)
    bars.add(ahead)
    assert bars.beside(0).height() == 0
    bar, beside = bars.bar(1), bars.beside(1)
    assert beside.height() == pytest.approx(0.4 * bar.height())
    assert beside.bottom() == pytest.approx(bar.bottom() - 0.2 * bar.height())  # where the pass begins
    assert (beside.left(), beside.right()) == (bar.center().x(), bar.right())
    image = bars.grab().toImage()
    middle = beside.center().toPoint()
    assert image.pixelColor(middle) != image.pixelColor(middle.x() - int(bar.width() / 2), middle.y())
