import math

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from app import theme
from app.tree_layout import BONUS, ROOT
from app.tree_shapes import Kind
from app.tree_view import TreeView
from engine.protocol import messages
from tests.app.fake_engine import grown, verdict


@pytest.fixture
def view(qtbot: QtBot) -> TreeView:
    view = TreeView()
    qtbot.addWidget(view)
    view.resize(520, 300)
    view.show()
    qtbot.waitExposed(view)
    return view


def ground(view: TreeView, node: int, image: QImage, inset: float = 3) -> QColor:
    """The colour just inside the left edge of a node, half way down, where no letter is."""
    box = view.box(node)
    return image.pixelColor(QPoint(int(box.left() + inset), int(box.center().y())))


def corner_is_filled(view: TreeView, node: int, image: QImage, colour: str) -> bool:
    box = view.box(node)
    return image.pixelColor(QPoint(int(box.left() + 1), int(box.top() + 1))) == QColor(colour)


def test_verdict_is_told_by_colour_and_by_shape(view: TreeView) -> None:
    view.show_tree(verdict(1))
    image = view.grab().toImage()
    c = theme.LIGHT
    for node in (0, 2):
        assert view.kind(node) is Kind.ACCEPTED
        assert ground(view, node, image) == QColor(c.accent)
        assert not corner_is_filled(view, node, image, c.accent)  # round
    assert ground(view, BONUS, image) == QColor(c.bonus)
    assert not corner_is_filled(view, BONUS, image, c.bonus)  # pointed
    for node in (1, 3, 4, 5):
        assert view.kind(node) is Kind.REJECTED
        assert ground(view, node, image) not in (
            QColor(c.accent),
            QColor(c.bonus),
            QColor(c.raised),
        )  # hollow


def test_the_accepted_edge_is_thick_and_lit(view: TreeView) -> None:
    view.show_tree(verdict(1))
    image = view.grab().toImage()
    one, two = view.box(0), view.box(2)
    x, y = int((one.right() + two.left()) / 2), int(one.center().y())
    lit = [image.pixelColor(x, y + dy) == QColor(theme.LIGHT.accent) for dy in (-1, 0, 1)]
    assert sum(lit) >= 2


def test_a_growing_tree_is_neutral(view: TreeView) -> None:
    view.show_tree(grown(1))
    image = view.grab().toImage()
    assert all(ground(view, node, image) == QColor(theme.LIGHT.raised) for node in range(6))
    assert view.kind(ROOT) is Kind.ROOT


def test_a_deep_accepted_path_keeps_its_end_in_view(view: TreeView) -> None:
    size = 60
    event = verdict(1)
    deep = messages.TreeNodes(
        root_text="r",
        tokens=[0] * size,
        parents=list(range(-1, size - 1)),
        log_probs=[math.log(0.9)] * size,
        sources=[1] * size,
        texts=[" token"] * size,
    )
    event.tree, event.accepted = deep, list(range(size))
    view.show_tree(event)
    assert view.box(BONUS).right() <= view.width()
    assert view.box(ROOT).left() < 0


@pytest.mark.parametrize("size", [0, 1, 4096])
def test_trees_of_any_size_are_painted(view: TreeView, size: int) -> None:
    event = grown(1)
    event.tree = messages.TreeNodes(
        root_text="",
        tokens=[0] * size,
        parents=[(i - 1) // 3 if i else -1 for i in range(size)],
        log_probs=[-1.0] * size,
        sources=[1] * size,
        texts=["\n"] * size,
    )
    view.show_tree(event)
    view.grab()
    judged = verdict(1)
    judged.tree, judged.accepted = event.tree, []
    view.show_tree(judged)
    view.grab()


def test_hidden_it_neither_arranges_nor_paints(view: TreeView) -> None:
    view.hide()
    paints = view.paints
    view.show_tree(verdict(1))
    assert view.paints == paints
    assert view.placed is None
    view.show()
    assert view.placed is not None


def test_an_answer_that_ends_on_the_path_has_no_bonus_token(view: TreeView) -> None:
    last = verdict(1)
    last.bonus_token, last.bonus_text = None, ""
    view.show_tree(last)
    view.grab()
    assert view.kind(2) is Kind.ACCEPTED
    with pytest.raises(KeyError):
        view.box(BONUS)
