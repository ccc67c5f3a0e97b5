import math

import pytest
from PySide6.QtCore import QPoint, QPointF, QSizeF, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.panel import tree_painter
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


def test_the_overview_shows_a_deep_tree_whole_as_bars(view: TreeView) -> None:
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
    view.fit()
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
    view.fit()
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
    view.fit()
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


def wide(depth: int = 30, rows: int = 1, words: int = 1) -> messages.IterationDone:
    """A chain of `depth` nodes, all accepted, and `rows` rejected children of the root."""
    event = verdict(1)
    size = depth + rows
    event.tree = messages.TreeNodes(
        root_text="root",
        tokens=[0] * size,
        parents=[*range(-1, depth - 1), *[-1] * rows],
        log_probs=[math.log(0.9)] * depth + [math.log(0.01)] * rows,
        sources=[4] * size,
        texts=[" word" * words] * size,
    )
    event.accepted = list(range(depth))
    return event


def words_seen(view: TreeView) -> set[int]:
    """Return the nodes whose whole text is shown in the view."""
    seen = view.rect().adjusted(0, 0, 1, 1)
    return {
        node
        for node, text in view.labels.items()
        if text and "…" not in text and seen.contains(view.box(node).toAlignedRect())
    }


def test_a_wide_tree_keeps_its_words_and_scrolls_from_root_to_bonus_token(view: TreeView) -> None:
    view.show_tree(wide())
    assert view.font().pointSizeF() >= theme.smaller(QApplication.font()).pointSizeF()
    assert BONUS in words_seen(view), "a verdict shows the end of the accepted path"
    read = words_seen(view)
    for _ in range(60):
        wheel(view, -100, 0)
        read |= words_seen(view)
    assert view.box(ROOT).left() >= 0
    assert read >= {ROOT, *range(30), BONUS}


def test_the_wheel_moves_a_tree_sideways_if_it_is_only_too_wide(view: TreeView) -> None:
    view.show_tree(wide())
    left = view.box(ROOT).left()
    wheel(view, 0, -120)
    assert view.box(ROOT).left() == left + 120


def test_the_tree_of_the_next_iteration_begins_at_its_root(view: TreeView) -> None:
    view.show_tree(wide())
    assert view.box(ROOT).left() < 0
    event = wide()
    view.show_tree(messages.TreeGrown(request=1, iteration=2, tree=event.tree))
    assert view.box(ROOT).left() >= 0


def test_only_a_tree_larger_than_the_view_has_a_map(view: TreeView) -> None:
    view.show_tree(verdict(1))
    assert view.placed
    assert view.map is None
    view.show_tree(wide())
    assert view.placed
    assert view.map is not None
    assert all(view.box(node).bottom() < view.map.rect.top() for node in (ROOT, BONUS, 30))
    view.fit()
    assert view.placed
    assert view.map is None


def test_pressing_and_dragging_in_the_map_moves_the_view(view: TreeView, qtbot: QtBot) -> None:
    view.show_tree(wide())
    assert view.placed
    assert view.map is not None
    y = int(view.map.rect.center().y())
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=QPoint(2, y))
    assert view.box(ROOT).left() > 0
    qtbot.mouseMove(view, QPoint(view.width() - 2, y))
    assert BONUS in words_seen(view)
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=QPoint(view.width() - 2, y))
    left = view.box(ROOT).left()
    qtbot.mouseMove(view, QPoint(5, y))
    assert view.box(ROOT).left() == left


def test_a_smaller_tree_may_come_while_the_map_is_dragged(view: TreeView, qtbot: QtBot) -> None:
    view.show_tree(wide())
    assert view.placed
    assert view.map is not None
    at = view.map.rect.center().toPoint()
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=at)
    view.show_tree(verdict(1, 2))
    assert view.placed
    qtbot.mouseMove(view, at + QPoint(9, 0))
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=at)
    assert view.map is None


def test_the_map_shows_the_path_and_the_part_in_view(view: TreeView) -> None:
    view.show_tree(wide())
    image = view.grab().toImage()
    assert view.map is not None
    accepted = sum(
        image.pixelColor(x, y) == QColor(theme.LIGHT.accent)
        for x in range(2, view.width() // 2)
        for y in range(int(view.map.rect.top()) + 1, view.height() - 1)
    )
    assert accepted > 100
    frame = view.map.window(QPointF(0, 0), QSizeF(view.size()))
    assert 0 < frame.width() < view.width() / 2


def test_keys_move_by_pages_and_to_both_ends(view: TreeView, qtbot: QtBot) -> None:
    view.show_tree(wide())
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert view.focus == ROOT
    start = view.box(ROOT).left()
    assert start >= 0
    qtbot.keyClick(view, Qt.Key.Key_PageDown)
    assert -view.width() < view.box(ROOT).left() < start - view.width() / 2
    qtbot.keyClick(view, Qt.Key.Key_PageUp)
    assert view.box(ROOT).left() >= start
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert view.focus == BONUS
    assert BONUS in words_seen(view)


def test_one_step_of_zoom_gives_all_nodes_their_words(view: TreeView) -> None:
    view.show_tree(wide(3, 100))
    assert not all(view.labels.values())
    view.zoom(1.25)
    assert len(view.labels) == 3 + 100 + 2
    assert all(view.labels.values())


def test_zooming_in_keeps_the_nearest_node_in_place(view: TreeView) -> None:
    view.show_tree(wide(3, 60))
    middle = QPointF(view.width() / 2, view.height() / 2)
    for _ in range(10):
        nearest = min(view.labels, key=lambda n: (view.box(n).center() - middle).manhattanLength())
        before = view.box(nearest).center()
        view.zoom(1.25)
        assert abs(view.box(nearest).center().y() - before.y()) <= view.height() / 2


def test_nodes_out_of_view_are_not_painted(view: TreeView, monkeypatch: pytest.MonkeyPatch) -> None:
    view.show_tree(wide())
    drawn: list[str] = []
    real = tree_painter.draw_node
    monkeypatch.setattr(tree_painter, "draw_node", lambda *args: (drawn.append(args[2]), real(*args))[1])
    view.grab()
    assert 3 < len(drawn) < 15


def test_its_text_follows_the_size_of_all_text(qtbot: QtBot, qapp: QApplication) -> None:
    view = TreeView()
    qtbot.addWidget(view)
    view.resize(400, 300)
    view.show_tree(verdict(3))
    view.show()
    usual = view.font().pointSizeF()
    theme.enlarge(qapp, 150)
    try:
        assert view.font().pointSizeF() == pytest.approx(1.5 * usual)
    finally:
        theme.enlarge(qapp, 100)
    assert view.font().pointSizeF() == pytest.approx(usual)
