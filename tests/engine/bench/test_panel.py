import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.bench.panel import Cost, FrameTimes, IterationCost, Painter, as_json, lines, random_tree
from engine.protocol import Options, TreeGrown, trace
from tests.app.fake_engine import loaded

FRAMES = FrameTimes(frames=3, median_ms=5.0, worst_ms=9.0, processor_s=1.0)


@given(st.integers(1, 60), st.integers(0, 9))
def test_random_trees_are_trees(nodes: int, seed: int) -> None:
    tree = random_tree(nodes, seed)
    assert len(tree.parents) == len(tree.texts) == len(tree.sources) == nodes
    assert all(-1 <= parent < i for i, parent in enumerate(tree.parents))
    assert all(log_prob < 0 for log_prob in tree.log_probs)


def test_the_cost_is_the_median_of_the_pairs() -> None:
    plain = [IterationCost(1.0, 2.0), IterationCost(2.0, 2.0), IterationCost(1.0, 2.0)]
    watched = [IterationCost(1.01, 2.2), IterationCost(2.0, 2.02), IterationCost(3.0, 2.02)]
    cost = Cost(1000, plain, watched, FRAMES)
    assert cost.slowdown == pytest.approx(0.01)
    assert cost.processor == pytest.approx(0.01)
    text = lines(cost, FRAMES, 2048)
    assert "+1.0% (median of 3 pairs, +0.0% to +200.0%)" in text[0]
    assert text[-1] == "frames of 2048 nodes: 3, median 5.0 ms, slowest 9.0 ms"
    assert '"slowdown": 0.01' in as_json(cost, FRAMES, 2048)


def test_the_painter_paints_the_trees_it_receives() -> None:
    with Painter(trace.header(loaded(1), Options(), "")) as painter:
        for iteration in range(5):
            painter.add(TreeGrown(request=0, iteration=iteration, tree=random_tree(200, iteration)))
    assert painter.frames is not None
    assert painter.frames.frames >= 1
    assert painter.frames.median_ms > 0
