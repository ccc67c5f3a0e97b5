import math

from hypothesis import given
from hypothesis import strategies as st

from app.panel.tree_geometry import (
    MAX_ZOOM,
    NAMED_ROW,
    THIN_ROW,
    Arranged,
    Viewport,
    arrange,
    extent,
    row_heights,
)
from app.panel.tree_layout import BONUS, ROOT, layout
from engine.protocol.messages import TreeNodes
from tests.app.panel.test_tree_layout import judged_trees


def arranged(
    tree: TreeNodes, accepted: list[int], width: float, height: float, is_overview: bool = False
) -> Arranged:
    return arrange(
        layout(tree, accepted, has_bonus=True),
        [ROOT, *accepted, BONUS],
        lambda node: f"token {node}",
        lambda node: math.exp(tree.log_probs[node]),
        lambda text: 7.0 * len(text),
        width,
        height,
        is_overview,
    )


@given(judged_trees(), st.floats(100, 900), st.floats(100, 900), st.booleans())
def test_nodes_do_not_overlap_and_parents_are_to_the_left(
    judged: tuple[TreeNodes, list[int]], width: float, height: float, is_overview: bool
) -> None:
    boxes = list(arranged(*judged, width, height, is_overview).boxes.values())
    placed = {box.node: box for box in boxes}
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            apart_x = one.x + one.width <= other.x or other.x + other.width <= one.x
            apart_y = one.y + one.height <= other.y or other.y + other.height <= one.y
            assert apart_x or apart_y, (one, other)
        if one.node != ROOT:
            parent = placed[one.parent]
            assert parent.x + parent.width <= parent.rail <= one.x


@given(st.lists(st.floats(-50, 0), min_size=1, max_size=60), st.floats(50, 900))
def test_better_rows_are_never_less_high_and_labels_use_the_available_height(
    scores: list[float], height: float
) -> None:
    heights = row_heights(scores, height)
    order = sorted(range(len(scores)), key=lambda row: -scores[row])
    assert [heights[row] for row in order] == sorted(heights, reverse=True)
    assert all(each == THIN_ROW or each >= NAMED_ROW for each in heights)
    assert sum(heights) <= max(height, THIN_ROW * (len(scores) - 1) + NAMED_ROW) + 1e-6
    if THIN_ROW in heights:
        assert height - sum(heights) < NAMED_ROW - THIN_ROW


def chain(size: int) -> TreeNodes:
    return TreeNodes(
        root_text="",
        tokens=[0] * size,
        parents=list(range(-1, size - 1)),
        log_probs=[-0.1] * size,
        sources=[1] * size,
        texts=["x"] * size,
    )


def test_the_overview_of_a_tree_too_deep_for_labels_has_heads_along_the_path() -> None:
    size = 30
    deep = arranged(chain(size), list(range(size)), 500, 300, is_overview=True)
    assert [head.node for head in deep.heads] == [ROOT, *range(size), BONUS]
    assert all(not box.text for box in deep.boxes.values())
    wide = arranged(chain(size), list(range(size)), 3000, 300, is_overview=True)
    assert not wide.heads
    assert all(box.text for box in wide.boxes.values())


def test_a_deep_tree_keeps_its_words_and_is_wider_than_its_area() -> None:
    deep = arranged(chain(30), list(range(30)), 500, 300)
    assert not deep.heads
    assert all(box.text and box.width >= 7.0 * len(box.text) for box in deep.boxes.values())
    assert extent(deep).width() > 500
    assert extent(deep).height() <= 300


def test_zooming_out_ends_with_the_overview_and_zooming_in_leaves_it() -> None:
    view = Viewport()
    seen = []
    for factor in (2.0, 0.5, 0.5, 0.5, 2.0, 100.0):
        view.zoom_by(factor)
        seen.append((view.zoom, view.is_overview))
    assert seen == [(2, False), (1, False), (1, True), (1, True), (1, False), (MAX_ZOOM, False)]
