"""The plot of the speed: round numbers at the axes, and no label over another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.panel.run_figures import Moment
from app.panel.speed_plot import SpeedPlot, ticks
from app.widgets import theme


@given(st.floats(1e-4, 1e6), st.integers(1, 12))
def test_ticks_are_round_in_equal_steps_and_not_too_many(highest: float, most: int) -> None:
    found = ticks(highest, most)
    assert found[0] == 0
    assert len(found) - 1 <= most
    assert found[-1] <= highest * (1 + 1e-6)
    if len(found) > 1:
        step = f"{found[1]:e}".split("e")[0].rstrip("0").rstrip(".")
        assert step in ("1", "2", "5")
        assert found == pytest.approx([found[1] * i for i in range(len(found))])


@pytest.mark.parametrize("size", [(130, 110), (200, 110), (300, 160), (900, 400)])
@pytest.mark.parametrize("highest", [0.003, 0.7, 8.0, 99.0, 123_456.0])
@pytest.mark.parametrize("longest", [0.05, 7.0, 65.0, 4000.0])
def test_no_label_lies_over_another_or_out_of_the_widget(
    size: tuple[int, int], highest: float, longest: float, qtbot: QtBot
) -> None:
    plot = SpeedPlot()
    qtbot.addWidget(plot)
    plot.resize(*size)
    plot.show_moments([Moment(longest * i / 9, highest * (i + 1) / 10, highest / 2) for i in range(10)])
    places = [place for place, _ in plot.labels()]
    assert len(places) >= 3, "two speeds and a time"
    for i, place in enumerate(places):
        assert plot.rect().toRectF().adjusted(-0.5, -0.5, 0.5, 0.5).contains(place), plot.labels()[i]
        assert not any(place.intersects(other) for other in places[i + 1 :]), plot.labels()
    plot.grab()


def test_the_lines_are_drawn_in_both_colours(qtbot: QtBot) -> None:
    plot = SpeedPlot()
    qtbot.addWidget(plot)
    plot.resize(300, 160)
    plot.show_moments([Moment(float(i), 9.0, 3.0) for i in range(10)])
    image = plot.grab().toImage()
    seen = [image.pixelColor(x, y) for x in range(40, 290) for y in range(20, 140)]
    assert all(
        any(is_close(one, colour) for one in seen) for colour in (theme.LIGHT.accent, theme.LIGHT.time_draft)
    )


def is_close(one: QColor, other: str) -> bool:
    """Return whether two colours differ by no more than a line's soft edge."""
    pairs = zip(one.getRgb(), QColor(other).getRgb(), strict=True)
    return all(abs(a - b) < 60 for a, b in pairs)


def test_an_empty_plot_and_a_tiny_one_are_painted(qtbot: QtBot) -> None:
    plot = SpeedPlot()
    qtbot.addWidget(plot)
    plot.resize(300, 160)
    plot.grab()
    assert plot.labels() == []
    plot.setMinimumHeight(0)
    plot.resize(20, 20)
    plot.show_moments([Moment(0.0, 0.0, 0.0)])
    plot.grab()


def test_its_text_follows_the_size_of_all_text(qtbot: QtBot, qapp: QApplication) -> None:
    plot = SpeedPlot()
    qtbot.addWidget(plot)
    plot.resize(300, 300)
    plot.show_moments([Moment(float(i), 9.0, 3.0) for i in range(10)])
    plot.show()
    usual = plot.labels()[0][0].height()
    theme.enlarge(qapp, 200)
    try:
        assert plot.labels()[0][0].height() > 1.7 * usual
    finally:
        theme.enlarge(qapp, 100)
