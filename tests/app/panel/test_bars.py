import pytest
from PySide6.QtCore import QRectF
from pytestqt.qtbot import QtBot

from app.panel.bars import IterationBars, SplitBar, shares
from app.panel.run_figures import drafted_of
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


def test_the_highest_bar_leaves_the_label_above_it_free(qtbot: QtBot) -> None:
    bars = IterationBars()
    qtbot.addWidget(bars)
    bars.resize(300, 110)
    assert one_bar(bars, 7).top() > bars.fontMetrics().height() + 1


def test_what_survived_the_verdict_is_filled_in_the_chart(qtbot: QtBot) -> None:
    bars = IterationBars()
    qtbot.addWidget(bars)
    bars.resize(300, 140)
    plain_height = one_bar(bars, 7).height()
    first, second, third = (verdict(1, number) for number in (1, 2, 3))
    for done in (first, second, third):
        done.seconds = Seconds(draft=0.2, target=0.3, stream_wait=0.5)
    nodes = drafted_of(second)
    for done, grown, survivors in ((first, 200, 0), (second, 100, 1), (third, 0, nodes)):
        done.ahead_s, done.grown_ahead, done.survivors = 0.6 if grown else 0.0, grown, survivors
    bars.clear()
    bars.add(first)
    assert bars.survived(0).height() == 0, "the next tree is not known yet"
    assert "survived" not in bars.accessibleDescription()
    bars.add(second)
    bars.add(third)
    assert bars.survived(0).height() == pytest.approx(bars.beside(0).height() / nodes)
    assert bars.survived(0).bottom() == pytest.approx(bars.beside(0).bottom())
    assert bars.survived(1) == bars.beside(1), "the next tree consists of them"
    assert bars.survived(2).height() == 0
    assert bars.accessibleDescription().endswith(f"; {1 + nodes} of 300 nodes drafted during passes survived")
    assert bars.bar(0).height() < plain_height, "there is a legend above the bars"
    image = bars.grab().toImage()

    def colours(part: QRectF) -> set[str]:
        x = range(int(part.left()) + 3, int(part.right()) - 3)
        y = range(int(part.top()) + 3, int(part.bottom()) - 3)
        return {image.pixelColor(column, row).name() for column in x for row in y}

    lost = bars.beside(0).adjusted(0, 0, 0, -bars.survived(0).height())
    assert len(colours(bars.survived(0))) == len(colours(lost)) == 1
    assert colours(bars.survived(0)) != colours(lost)


def test_after_a_lost_event_nothing_is_said_of_what_survived(qtbot: QtBot) -> None:
    bars = IterationBars()
    qtbot.addWidget(bars)
    one_bar(bars, 1).height()
    later = verdict(1, 3)
    later.survivors = 5
    bars.add(later)
    assert bars.survived(0).height() == 0


def one_bar(bars: IterationBars, number: int) -> QRectF:
    """Add an iteration; return its bar."""
    done = verdict(1, number)
    done.seconds, done.grown_ahead = Seconds(target=1.0), 10
    bars.add(done)
    return bars.bar(0)
