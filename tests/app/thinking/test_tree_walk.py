from hypothesis import given
from hypothesis import strategies as st

from app.thinking.tree_layout import BONUS, ROOT, layout
from app.thinking.tree_walk import neighbour
from tests.app.fake_engine import tree
from tests.app.thinking.test_tree_layout import judged_trees


def test_arrows_lead_from_node_to_node() -> None:
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
