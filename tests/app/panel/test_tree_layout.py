import math

from hypothesis import given
from hypothesis import strategies as st

from app.panel.tree_layout import BONUS, ROOT, TreeLayout, layout, neighbour
from engine.protocol.messages import TreeNodes
from tests.app.fake_engine import tree


@st.composite
def trees(draw: st.DrawFn, most: int = 60) -> TreeNodes:
    size = draw(st.integers(0, most))
    parents = [draw(st.integers(-1, i - 1)) for i in range(size)]
    log_probs = [draw(st.floats(-8, 0)) for _ in range(size)]
    return TreeNodes(
        root_text="r",
        tokens=list(range(size)),
        parents=parents,
        log_probs=log_probs,
        sources=[1] * size,
        texts=["t"] * size,
    )


@st.composite
def judged_trees(draw: st.DrawFn) -> tuple[TreeNodes, list[int]]:
    tree = draw(trees())
    node = draw(st.integers(-1, len(tree.tokens) - 1))
    path = []
    while node != ROOT:
        path.append(node)
        node = tree.parents[node]
    return tree, path[::-1]


def rows(placed: TreeLayout) -> dict[int, int]:
    return {place.node: place.row for place in placed.places}


@given(judged_trees(), st.integers(1, 80), st.integers(2, 40))
def test_no_two_nodes_share_a_place_and_parents_are_to_the_left(
    judged: tuple[TreeNodes, list[int]], most: int, height: int
) -> None:
    tree, accepted = judged
    placed = layout(tree, accepted, has_bonus=True, max_nodes=most, max_rows=height)
    cells = [(place.column, place.row) for place in placed.places]
    assert len(set(cells)) == len(cells)
    columns = {place.node: place.column for place in placed.places}
    assert all(columns[p.parent] == p.column - 1 for p in placed.places if p.node != ROOT)
    assert placed.columns == 1 + max(columns.values())
    assert placed.rows == 1 + max(rows(placed).values())


@given(judged_trees(), st.integers(1, 30), st.integers(2, 20))
def test_a_tree_too_large_shows_its_best_nodes_and_the_whole_path(
    judged: tuple[TreeNodes, list[int]], most: int, height: int
) -> None:
    tree, accepted = judged
    placed = layout(tree, accepted, has_bonus=True, max_nodes=most, max_rows=height)
    shown = set(rows(placed)) - {ROOT, BONUS}
    assert set(accepted) <= shown
    assert BONUS in rows(placed)
    assert len(shown) == placed.shown <= max(most, len(accepted))
    assert placed.total == len(tree.tokens)
    assert placed.rows <= height
    cumulative = [tree.log_probs[i] for i in range(len(tree.tokens))]
    for i, parent in enumerate(tree.parents):
        cumulative[i] += cumulative[parent] if parent != ROOT else 0
    chosen_freely = [cumulative[i] for i in shown - set(accepted)]
    left_out = [cumulative[i] for i in set(range(placed.total)) - shown]
    assert not chosen_freely or not left_out or min(chosen_freely) >= max(left_out) - 1e-9


@given(trees(), st.integers(0, 60))
def test_nodes_keep_their_order_while_the_tree_grows(tree: TreeNodes, size: int) -> None:
    size = min(size, len(tree.tokens))
    before = TreeNodes(
        root_text="r",
        tokens=tree.tokens[:size],
        parents=tree.parents[:size],
        log_probs=tree.log_probs[:size],
        sources=tree.sources[:size],
        texts=tree.texts[:size],
    )
    old, new = layout(before).places, layout(tree).places
    old_order = [place.node for place in old]
    assert [place.node for place in new if place.node in set(old_order)] == old_order


@given(trees())
def test_siblings_are_ordered_from_most_to_least_probable(tree: TreeNodes) -> None:
    row = rows(layout(tree))
    for parent in {*tree.parents}:
        siblings = [i for i, p in enumerate(tree.parents) if p == parent]
        by_row = sorted(siblings, key=row.__getitem__)
        assert by_row == sorted(siblings, key=lambda i: (-tree.log_probs[i], i))


def test_a_deep_chain_needs_no_recursion() -> None:
    size = 4096
    chain = TreeNodes(
        root_text="",
        tokens=[0] * size,
        parents=list(range(-1, size - 1)),
        log_probs=[math.log(0.9)] * size,
        sources=[1] * size,
        texts=["x"] * size,
    )
    placed = layout(chain, max_nodes=size)
    assert (placed.rows, placed.columns) == (1, size + 1)


def test_without_a_bonus_token_the_path_ends_with_its_last_node() -> None:
    tree = TreeNodes(root_text="", tokens=[1], parents=[-1], log_probs=[-1.0], sources=[1], texts=["end"])
    assert BONUS not in rows(layout(tree, [0]))


@given(judged_trees())
def test_rows_of_the_accepted_path_come_first(judged: tuple[TreeNodes, list[int]]) -> None:
    tree, accepted = judged
    placed = layout(tree, accepted, has_bonus=True)
    row = rows(placed)
    assert all(placed.row_scores[row[node]] == math.inf for node in (ROOT, BONUS, *accepted))
    lit = {row[node] for node in (ROOT, BONUS, *accepted)}
    assert all(placed.row_scores[i] <= 0 for i in range(placed.rows) if i not in lit)


def test_directions_lead_from_node_to_node() -> None:
    placed = layout(tree(), [0, 2], has_bonus=True)
    assert neighbour(placed, ROOT, "child") == 0
    assert neighbour(placed, 2, "child") == 4  # the most probable one
    assert neighbour(placed, 0, "parent") == ROOT
    assert neighbour(placed, 4, "below") == BONUS
    assert neighbour(placed, ROOT, "above") == ROOT
    assert neighbour(placed, 4, "child") == 4


@given(judged_trees(), st.data())
def test_every_node_is_reached_from_the_root(judged, data: st.DataObject) -> None:
    placed = layout(judged[0], judged[1], has_bonus=True)
    goal = data.draw(st.sampled_from([place.node for place in placed.places]))
    path = [goal]
    while path[-1] != ROOT:
        path.append(neighbour(placed, path[-1], "parent"))
    here = ROOT
    rows = {place.node: place.row for place in placed.places}
    for step in reversed(path[:-1]):
        here = neighbour(placed, here, "child")
        while rows[here] < rows[step]:
            here = neighbour(placed, here, "below")
    assert rows[here] == rows[goal]
