"""The legend names what has occurred."""

from pytestqt.qtbot import QtBot

from app.panel.tree_legend import TreeLegend
from engine.tree import GROWN_AHEAD, SOURCE_DRAFT, SOURCE_NGRAM
from tests.app.fake_engine import verdict


def test_sources_and_growth_ahead_are_named_once_they_have_occurred(qtbot: QtBot) -> None:
    legend = TreeLegend()
    qtbot.addWidget(legend)
    tree = verdict(1).tree
    tree.sources = [SOURCE_DRAFT] * len(tree.tokens)
    legend.show_sources(tree)
    assert legend.accessibleDescription() == "drafted, accepted, bonus token, rejected, draft model"
    before = legend.grab().toImage()
    tree.sources[0] = SOURCE_NGRAM | GROWN_AHEAD
    legend.show_sources(tree)
    assert legend.accessibleDescription() == (
        "drafted, accepted, bonus token, rejected, drafted during the pass before, draft model, n-gram"
    )
    assert legend.grab().toImage() != before
