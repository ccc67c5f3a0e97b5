import math

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.panel.tree_layout import BONUS, ROOT
from app.panel.tree_painter import Kind
from app.panel.tree_view import PAN_STEP, TreeView
from app.widgets import theme
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
    """Return the colour just inside the left edge of a node, at half height, where there is no text."""
    box = view.box(node)
    return image.pixelColor(QPoint(int(box.left() + inset), int(box.center().y())))


def corner_is_filled(view: TreeView, node: int, image: QImage, colour: str) -> bool:
    box = view.box(node)
    return image.pixelColor(QPoint(int(box.left() + 1), int(box.top() + 1))) == QColor(colour)


def test_verdicts_differ_in_colour_and_shape(view: TreeView) -> None:
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


def test_rejected_nodes_fade_from_their_growing_look(view: TreeView) -> None:
    view.show_tree(verdict(1))
    rejected = ground(view, 1, view.grab().toImage())
    seen = []
    for share in (0.0, 0.5, 1.0):
        view.fade(share)
        seen.append(ground(view, 1, view.grab().toImage()))
    assert seen[0] == QColor(theme.LIGHT.raised)
    assert seen[2] == rejected
    assert seen[0].lightness() < seen[1].lightness() < seen[2].lightness()


def test_the_line_to_an_accepted_node_is_thick_and_coloured(view: TreeView) -> None:
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


def test_a_deep_tree_is_shown_whole_as_bars(view: TreeView) -> None:
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
    assert view.box(ROOT).left() >= 0
    image = view.grab().toImage()
    middle = view.box(30).center().toPoint()
    assert image.pixelColor(middle) == QColor(theme.LIGHT.accent)


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


def test_a_hidden_view_neither_arranges_nor_paints(view: TreeView) -> None:
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


def test_the_width_of_a_bar_is_its_nodes_probability(view: TreeView) -> None:
    event = grown(1)
    size = 40
    event.tree = messages.TreeNodes(
        root_text="r",
        tokens=[0] * size,
        parents=[*range(-1, size - 2), -1],
        log_probs=[math.log(0.9)] * (size - 1) + [math.log(0.3)],
        sources=[1] * size,
        texts=[" token"] * size,
    )
    view.show_tree(event)
    likely, unlikely = view.box(0).width(), view.box(size - 1).width()
    assert unlikely == pytest.approx(likely * 0.3)  # nodes on the most probable path have full width


def test_zooming_in_gives_bars_their_labels(view: TreeView) -> None:
    size = 20
    event = grown(1)
    event.tree = messages.TreeNodes(
        root_text="r",
        tokens=[0] * size,
        parents=list(range(-1, size - 1)),
        log_probs=[-0.1] * size,
        sources=[1] * size,
        texts=[" token"] * size,
    )
    view.show_tree(event)
    narrow = view.box(5).width()
    assert narrow < 30
    view.zoom(3.0)
    assert view.box(5).width() > 40
    view.fit()
    assert view.box(5).width() == narrow


@pytest.mark.parametrize(
    ("bits", "role"),
    [
        (1, "source_draft"),
        (2, "source_recycling"),
        (4, "source_ngram"),
        (8, "source_lookahead"),
        (16, "source_heads"),
        (1 | 16, "source_draft"),
    ],
)
def test_glyph_and_gauge_have_the_colour_of_the_source(view: TreeView, bits: int, role: str) -> None:
    event = grown(1)
    event.tree.sources = [bits] * 6
    view.show_tree(event)
    image = view.grab().toImage()
    box = view.box(0)
    colour = QColor(getattr(theme.LIGHT, role))
    assert image.pixelColor(int(box.left() + 9), int(box.center().y())) == colour
    row = int(box.bottom() - 2)
    wide = sum(image.pixelColor(x, row) == colour for x in range(int(box.left()), int(box.right())))
    assert wide == pytest.approx(math.exp(-0.3) * (box.width() - 6), abs=2)


def test_sources_differ_in_shape_too(view: TreeView) -> None:
    outlines = set()
    for bits in (1, 2, 4, 8, 16):
        event = grown(1)
        event.tree.sources = [bits] * 6
        view.show_tree(event)
        image = view.grab().toImage()
        box = view.box(0)
        x, y = int(box.left() + 9), int(box.center().y())
        raised = QColor(theme.LIGHT.raised)
        outlines.add(
            tuple(image.pixelColor(x + dx, y + dy) == raised for dx in range(-4, 5) for dy in range(-4, 5))
        )
    assert len(outlines) == 5


def test_arrow_keys_move_the_focus_and_describe_the_node(view: TreeView, qtbot: QtBot) -> None:
    texts: list[str] = []
    view.described.connect(texts.append)
    view.show_tree(verdict(1))
    view.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right):
        qtbot.keyClick(view, key)
    assert view.focus == 2
    assert texts[-1].startswith("“␣brown”, token 12")
    image = view.grab().toImage()
    box = view.box(2)
    assert image.pixelColor(int(box.center().x()), int(box.top() - 2)) == QColor(theme.LIGHT.text)


def test_pointing_at_a_node_describes_it(view: TreeView, qtbot: QtBot) -> None:
    texts: list[str] = []
    view.described.connect(texts.append)
    view.show_tree(verdict(1))
    qtbot.mouseMove(view, view.box(1).center().toPoint())
    qtbot.waitUntil(lambda: bool(texts) and "␣slow" in texts[-1])


def wheel(view: TreeView, right: float, down: float) -> None:
    """Move the view by this many pixels with the wheel."""
    at = QPointF(10, 10)
    turned = QPoint(-round(right / PAN_STEP * 120), -round(down / PAN_STEP * 120))
    none, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    held = Qt.KeyboardModifier.NoModifier
    event = QWheelEvent(at, view.mapToGlobal(at), QPoint(), turned, none, held, phase, False)
    QApplication.sendEvent(view, event)


def test_a_tree_larger_than_the_view_is_moved_within_bounds(view: TreeView, qtbot: QtBot) -> None:
    view.show_tree(verdict(1))
    before = view.box(ROOT)
    wheel(view, 500, 500)
    assert view.box(ROOT) == before, "the whole tree is in view"
    view.zoom(4.0)
    for _ in range(50):
        wheel(view, 500, 500)
    edge = max(view.box(node).right() for node in (*range(6), BONUS))
    assert edge > view.width() / 2, "it cannot be moved out of sight"
