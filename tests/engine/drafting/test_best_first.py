"""Growth compared with a brute-force reference, which enumerates every path of a small language and takes
the best `budget` by score."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.drafting.best_first import BestFirst
from engine.tree import GROWN_AHEAD, ROOT, SOURCE_DRAFT, follow

VOCABULARY, DEPTH = 3, 4


def language(seed: int):
    """path -> log-probabilities [VOCABULARY] of the next token, always the same for the same path."""

    def log_probs(path: tuple[int, ...]) -> np.ndarray:
        logits = np.random.default_rng([seed, *path, len(path)]).normal(scale=2.0, size=VOCABULARY)
        return (logits - np.log(np.exp(logits).sum())).astype(np.float32)

    return log_probs


def grown(seed: int, budget: int, beams: int, depth: int, decay: float, worth: float = 0.0) -> BestFirst:
    return grown_in(language(seed), BestFirst(budget, depth, decay, SOURCE_DRAFT, worth), beams)


def grown_in(log_probs, grower: BestFirst, beams: int) -> BestFirst:
    tokens = np.arange(VOCABULARY)
    while nodes := grower.frontier(beams):
        assert len(nodes) <= beams
        rows = np.stack([log_probs(tuple(grower.path(node))) for node in nodes])
        grower.expand(nodes, np.tile(tokens, (len(nodes), 1)), rows)
    return grower


def brute_force(
    seed: int, budget: int, depth: int, decay: float, root: tuple[int, ...] = ()
) -> dict[tuple[int, ...], float]:
    log_probs, scores = below(language(seed), root), {(): 0.0}
    for length in range(depth):
        for path in [path for path in scores if len(path) == length]:
            for token, log_prob in enumerate(log_probs(path).astype(float)):
                scores[*path, token] = scores[path] + math.log(decay) + log_prob
    del scores[()]
    return dict(sorted(scores.items(), key=lambda item: -item[1])[:budget])


parameters = given(
    seed=st.integers(0, 10_000),
    budget=st.integers(1, 40),
    beams=st.integers(1, 12),
    depth=st.integers(1, DEPTH),
    decay=st.sampled_from([0.5, 0.8, 0.95, 0.999]),
)


def paths_of(tree):
    return [tuple(tree.tokens[tree.path(node)].tolist()) for node in range(len(tree))]


@settings(max_examples=150, deadline=None)
@parameters
def test_kept_set_is_the_best_budget_by_score(seed, budget, beams, depth, decay):
    tree = grown(seed, budget, beams, depth, decay).snapshot(budget)
    assert set(paths_of(tree)) == set(brute_force(seed, budget, depth, decay))


@settings(max_examples=80, deadline=None)
@parameters
def test_every_smaller_snapshot_is_the_best_of_its_size_and_connected(seed, budget, beams, depth, decay):
    grower = grown(seed, budget, beams, depth, decay)
    for size in {1, budget // 2, budget - 1} - {0}:
        tree = grower.snapshot(size)
        assert set(paths_of(tree)) == set(brute_force(seed, size, depth, decay))
        assert all(parent < node for node, parent in enumerate(tree.parents))
        assert all(
            depth == (1 if parent == ROOT else tree.depths[parent] + 1)
            for depth, parent in zip(tree.depths, tree.parents, strict=True)
        )


@settings(max_examples=80, deadline=None)
@parameters
def test_only_worthwhile_rounds_are_run(seed, budget, beams, depth, decay):
    worth = 0.2
    thrifty = grown(seed, budget, beams, depth, decay, worth)
    free = grown(seed, budget, beams, depth, decay)
    assert not thrifty.frontier(beams)
    # Missing nodes are below nodes that are rarely reached; the others are as in unlimited growth.
    paths = set(paths_of(thrifty.snapshot(budget)))
    scores = brute_force(seed, 10_000, depth, decay)
    lost = {path[:-1] for path in set(paths_of(free.snapshot(budget))) - paths} & {*paths, ()}
    assert () not in lost
    best = sorted((math.exp(scores[path]) for path in lost), reverse=True)[:beams]
    displaced = min(math.exp(scores[path]) for path in paths) if len(paths) == budget else 0.0
    assert sum(chance - displaced for chance in best) < worth
    assert all(paths >= {path[:-1]} for path in paths if len(path) > 1)


def test_missing_children_are_never_added():
    grower = BestFirst(10, 3, 0.9, SOURCE_DRAFT)
    grower.expand([ROOT], np.asarray([[4, 5, 6]]), np.asarray([[-0.5, -np.inf, -1.0]], np.float32))
    assert sorted(grower.tokens) == [4, 6]


def below(log_probs, root):
    """Return the language behind the path `root`."""
    return lambda path: log_probs((*root, *path))


@settings(max_examples=80, deadline=None)
@parameters
def test_a_tree_that_grows_on_below_a_node_is_the_best_one_there(seed, budget, beams, depth, decay):
    """Scores and depths are counted from the new root, and no node that was seen is lost."""
    whole = language(seed)
    grower = grown_in(whole, BestFirst(budget, depth, decay, SOURCE_DRAFT, lasting=True), beams)
    expanded = [node for node in range(len(grower.tokens)) if grower.is_expanded(node)]
    if not expanded:
        return
    root = expanded[seed % len(expanded)]
    at = tuple(grower.path(root))
    seen = {tuple(grower.path(node)): node for node in range(len(grower.tokens))}
    before = {
        path[len(at) :]: (node, grower.scores[node] - grower.scores[root], grower.is_expanded(node))
        for path, node in seen.items()
        if path[: len(at)] == at and path != at
    }
    numbers = grower.reroot(root)
    after = {
        tuple(grower.path(node)): (grower.scores[node], grower.is_expanded(node))
        for node in range(len(grower.tokens))
    }
    assert after.keys() == before.keys()
    assert len(numbers) == len(before)
    for path, (old, score, is_expanded) in before.items():
        new = numbers[old]
        assert tuple(grower.path(new)) == path
        assert grower.depths[new] == len(path)
        assert after[path] == (score, is_expanded)
    survivors = grower.snapshot(budget)
    assert (survivors.sources & GROWN_AHEAD).all()
    assert set(paths_of(survivors)) == set(sorted(after, key=lambda path: -after[path][0])[:budget])
    grown_in(below(whole, at), grower, beams)
    tree = grower.snapshot(budget)
    expected = brute_force(seed, budget, depth, decay, at)
    assert set(paths_of(tree)) == set(expected)
    assert np.allclose(tree.scores, [expected[path] for path in paths_of(tree)], atol=1e-4)
    marked = {path for path, source in zip(paths_of(tree), tree.sources, strict=True) if source & GROWN_AHEAD}
    assert marked == set(paths_of(tree)) & before.keys()


@settings(max_examples=60, deadline=None)
@parameters
def test_new_limits_choose_anew_from_all_nodes_that_were_seen(seed, budget, beams, depth, decay):
    log_probs, rng = language(seed), np.random.default_rng(seed)
    other_budget, other_depth = int(rng.integers(1, 41)), int(rng.integers(1, DEPTH + 1))
    grower = grown_in(log_probs, BestFirst(budget, depth, decay, SOURCE_DRAFT, lasting=True), beams)
    scores = {tuple(grower.path(node)): grower.scores[node] for node in range(len(grower.tokens))}
    grower.limit(other_budget, other_depth)
    wanted = [path for path in scores if len(path) <= other_depth]
    best = sorted(wanted, key=lambda path: -scores[path])[:other_budget]
    assert len(grower) == len(best)
    assert set(paths_of(grower.snapshot(other_budget))) == set(best)
    grown_in(log_probs, grower, beams)
    tree = grower.snapshot(other_budget)
    assert set(paths_of(tree)) == set(brute_force(seed, other_budget, other_depth, decay))


def test_follow_goes_as_far_as_the_tree_does():
    grower = BestFirst(10, 3, 0.9, SOURCE_DRAFT)
    grower.expand([ROOT], np.asarray([[4, 5]]), np.asarray([[-0.5, -1.0]], np.float32))
    grower.expand([1], np.asarray([[7, 8]]), np.asarray([[-0.5, -1.0]], np.float32))
    assert [grower.tokens[node] for node in follow(grower.children(), [5, 7, 9])] == [5, 7]
    assert follow(grower.children(), [9]) == []
