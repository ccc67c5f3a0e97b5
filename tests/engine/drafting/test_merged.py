import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.decoding.iteration import PhaseClock, draft
from engine.drafting import Feedback, TreeLimits
from engine.drafting.merged import MergedDrafter, merge
from engine.drafting.pld import PromptLookupDrafter
from engine.drafting.protocol import Drafter, Needs
from engine.drafting.recycling import RecyclingDrafter
from engine.model.interface import no_progress
from engine.sampling import Sampler
from engine.tree import TokenTree
from tests.engine.trees import token_trees


def paths(tree):
    """Return (score, sources) of every node by the tokens of its path."""
    return {
        tuple(tree.tokens[tree.path(node)].tolist()): (float(tree.scores[node]), int(tree.sources[node]))
        for node in range(len(tree))
    }


def feedback(tokens):
    nothing = np.empty((len(tokens), 0), np.float32)
    return Feedback(np.array(tokens), nothing.astype(np.int64), nothing, {}, np.empty(0, np.int64))


@settings(max_examples=150, deadline=None)
@given(trees=st.lists(token_trees(20), min_size=1, max_size=4), budget=st.integers(0, 30))
def test_the_best_paths_of_all_trees_make_one_tree(trees, budget):
    trees = [
        TokenTree(t.tokens, t.parents, t.depths, t.log_probs, t.scores, t.sources * 0 + (1 << i))
        for i, t in enumerate(trees)
    ]
    trusts = [0.3 * i for i in range(len(trees))]
    expected = {}
    for tree, trust in zip(trees, trusts, strict=True):
        for path, (score, source) in paths(tree).items():
            best, sources = expected.get(path, (-np.inf, 0))
            expected[path] = (max(best, score + trust), sources | source)
    merged = merge(trees, trusts, budget)
    found = paths(merged)
    assert len(found) == len(merged) == min(budget, len(expected)), "no path twice, and the budget used"
    for path, (score, sources) in found.items():
        assert np.isclose(score, expected[path][0], atol=1e-5)
        assert sources == expected[path][1]
        assert path[:-1] in found or len(path) == 1
    left_out = [score for path, (score, _) in expected.items() if path not in found]
    if left_out and found:
        assert max(left_out) <= min(score for score, _ in found.values()) + 1e-5


class Fixed(Drafter):
    """Proposes one chain, with the same chance for each of its tokens."""

    needs = Needs()
    defaults = TreeLimits(4, 1, 4)

    def __init__(self, name, tokens, chance, source):
        self.name = name
        self.tokens, self.chance, self.source = tokens, chance, source

    def grow(self, rounds, progress):
        return False

    def snapshot(self, budget):
        count = min(budget, len(self.tokens))
        ids = np.arange(count)
        log_probs = np.full(count, np.log(self.chance), np.float32)
        return TokenTree(
            np.asarray(self.tokens[:count], np.int64), ids - 1, ids + 1, log_probs, log_probs.cumsum(),
            np.full(count, self.source, np.uint8),
        )  # fmt: skip


def test_a_drafter_that_promises_too_much_loses_nodes():
    boastful, modest = Fixed("a", [1, 2, 3, 4], 0.9, 1), Fixed("b", [5, 6, 7, 8], 0.5, 2)
    merged = MergedDrafter("a+b", [boastful, modest])
    merged.begin([0], Sampler(), no_progress)
    firsts = []
    for _ in range(12):
        merged.plant(TreeLimits(4, 1, 4))
        tree = merged.snapshot(4)
        firsts.append(tree.sources.tolist().count(2))
        merged.advance([5, 6, 9], feedback([0, *tree.tokens.tolist()]))
    assert firsts[0] <= 1
    assert firsts[-1] >= 2


class Remembers(Fixed):
    def plant(self, limits):
        self.planted = limits


def test_a_model_drafter_grows_no_deeper_than_alone():
    model, text = Remembers("a", [1], 0.5, 1), Remembers("b", [2], 0.5, 2)
    text.runs_a_model = False
    merged = MergedDrafter("a+b", [model, text])
    for asked in (2, 9, merged.defaults.depth):
        merged.plant(TreeLimits(64, 1, asked))
        assert (model.planted.depth, text.planted.depth) == (min(asked, 4), asked)
    assert merged.defaults.depth > 4


def test_an_iteration_without_a_tree_teaches_nothing():
    """A tree of an earlier root must not count as promised."""
    drafter = MergedDrafter("recycling+pld", [RecyclingDrafter(64), PromptLookupDrafter()])

    def told(token):
        best = np.full((1, 8), token % 4 + 1)
        return Feedback(np.array([token]), best, np.full((1, 8), -2.0, np.float32), {}, np.empty(0, np.int64))

    context = [1, 2, 3, 4, 1, 2, 3, 4, 1]
    drafter.begin(context, Sampler(), no_progress)
    drafter.plant(TreeLimits(15, 8, 8))
    while drafter.grow(1, no_progress):
        pass
    assert len(drafter.snapshot(15))
    drafter.advance([2], told(1))
    before = [trust.log for trust in drafter._trust]
    for token in (3, 4, 1, 2, 3, 4, 1, 2):
        assert not list(draft(drafter, TreeLimits(0, 8, 8), no_progress, PhaseClock()))
        drafter.advance([token], told(token))
    after = [trust.log for trust in drafter._trust]
    assert np.abs(np.subtract(after, before)).max() < 0.2
