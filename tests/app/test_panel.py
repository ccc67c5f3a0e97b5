import pytest
from PySide6.QtCore import QElapsedTimer
from pytestqt.qtbot import QtBot

from app.panel import Panel
from app.tree_shapes import Kind
from tests.app.fake_engine import answer, grown, verdict


@pytest.fixture
def panel(qtbot: QtBot) -> Panel:
    panel = Panel()
    qtbot.addWidget(panel)
    panel.resize(520, 600)
    panel.show()
    qtbot.waitExposed(panel)
    yield panel
    panel.begin()


def test_a_verdict_stays_a_moment_then_the_newest_growing_tree_follows(panel: Panel, qtbot: QtBot) -> None:
    panel.show_tree(verdict(1, 1))
    panel.show_tree(grown(1, 2))
    assert panel.tree.kind(0) is Kind.ACCEPTED
    qtbot.waitUntil(lambda: panel.tree.kind(0) is Kind.GROWING)


def test_the_tree_is_described_in_words(panel: Panel) -> None:
    panel.show_tree(verdict(1, 41))
    assert panel.tree.accessibleDescription() == "Iteration 41: 2 of 6 accepted"


def test_nothing_waits_after_the_answer(panel: Panel, qtbot: QtBot) -> None:
    panel.show_tree(verdict(1, 1))
    panel.show_tree(grown(1, 2))
    panel.show_answer(answer(1))
    qtbot.waitUntil(lambda: not panel._verdict_timer.isActive())
    assert panel.tree.kind(0) is Kind.ACCEPTED


def test_hidden_it_paints_nothing(panel: Panel, qtbot: QtBot) -> None:
    panel.hide()
    paints = panel.tree.paints
    for i in range(100):
        panel.show_tree(verdict(1, i))
    assert panel.tree.placed is None
    panel.show()
    qtbot.waitUntil(lambda: panel.tree.paints > paints)
    assert panel.tree.accessibleDescription().startswith("Iteration 99")


def test_a_large_tree_costs_less_than_a_frame(panel: Panel) -> None:
    event = grown(1)
    size = 2048
    event.tree.tokens = [0] * size
    event.tree.parents = [(i - 1) // 3 if i else -1 for i in range(size)]
    event.tree.log_probs = [-1.0 - i % 7 / 10 for i in range(size)]
    event.tree.sources = [1] * size
    event.tree.texts = [" token"] * size
    clock = QElapsedTimer()
    clock.start()
    for _ in range(10):
        panel.show_tree(event)
        panel.tree.grab()
    assert clock.elapsed() / 10 < 60  # measured 12 ms on an idle machine; a frame is 34
