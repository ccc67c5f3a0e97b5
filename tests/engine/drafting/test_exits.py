"""Exits of a tree that was sent: every node that was not sent lies below one, the likeliest come first."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.drafting.best_first import BestFirst
from engine.drafting.exits import EAGERNESS, Exits
from engine.drafting.protocol import TreeLimits
from engine.tree import ROOT, SOURCE_DRAFT, TokenTree, follow

BRANCH = 5
MANY = 10**6


def expand(grower, nodes, rng):
    tokens = np.stack([rng.permutation(9)[:BRANCH] for _ in nodes])
    grower.expand(nodes, tokens, np.log(rng.dirichlet(np.ones(BRANCH), len(nodes))).astype(np.float32))


def grown(rng, budget, depth=9):
    grower = BestFirst(budget, depth, 0.95, SOURCE_DRAFT, lasting=True)
    while nodes := grower.frontier(4):
        expand(grower, nodes, rng)
    return grower


def exit_of(grower, sent, node):
    """Return the first node on the path from the root to `node` that was not sent."""
    found = None
    while node != ROOT and node not in sent:
        found, node = node, grower.parents[node]
    return found


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 12), st.integers(1, 8), st.integers(1, 4), st.integers(1, 9))
def test_the_nodes_to_expand_are_those_that_the_next_tree_most_likely_needs(
    seed, budget, beams, depth, deepest
):
    rng = np.random.default_rng(seed)
    grower = grown(rng, budget)
    sent = grower.graft(grower.snapshot(budget))
    exits = Exits(grower, sent, TreeLimits(budget, beams, depth, ahead=MANY), deepest)
    for _ in range(6):
        nodes = exits.frontier(beams)
        if nodes != [ROOT]:  # a budget of 0 has not begun a tree
            below: dict[int, list[int]] = {}
            for node in range(len(grower.tokens)):
                below.setdefault(exit_of(grower, sent, node), []).append(node)
            wanted = {}
            for node in range(len(grower.tokens)):
                at = exit_of(grower, sent, node)
                given_exit = 0.0 if at is None else grower.scores[node] - grower.scores[at]
                here = 0 if at is None else grower.depths[node] - grower.depths[at]
                better = sum(grower.scores[other] > grower.scores[node] for other in below[at])
                parent = grower.parents[node]
                if (
                    not grower.is_expanded(node)
                    and (parent == ROOT or grower.is_expanded(parent))
                    and grower.depths[node] < deepest
                    and here < depth
                    and (at is None or better < budget)
                ):
                    wanted[node] = grower.scores[node if at is None else at] + EAGERNESS * given_exit
            assert [wanted[node] for node in nodes] == sorted(wanted.values(), reverse=True)[:beams]
        if not nodes:
            break
        expand(grower, nodes, rng)


def test_growth_ends_once_a_round_expands_too_few_nodes_that_will_be_wanted():
    """A node is wanted with the chance of its exit, times the root of its own chance behind that exit."""
    rng = np.random.default_rng(4)
    grower = grown(rng, 8)
    sent = grower.graft(grower.snapshot(8))
    limits = TreeLimits(8, 4, 9, ahead=MANY)
    every = Exits(grower, sent, limits, 9)
    for _ in range(8):
        nodes, expected = every.frontier(4), 0.0
        for node in nodes:
            at = exit_of(grower, sent, node)
            exit_score = grower.scores[node if at is None else at]
            expected += np.exp(exit_score) * np.exp(grower.scores[node] - exit_score) ** EAGERNESS
        for share, is_worth_it in ((0.99, True), (1.01, False)):
            some = Exits(grower, sent, replace(limits, worth_ahead=share * expected), 9)
            assert some.frontier(4) == (nodes if is_worth_it else [])
        expand(grower, nodes, rng)


def test_a_tree_that_was_not_begun_is_begun_at_its_root():
    grower = BestFirst(8, 4, 0.95, SOURCE_DRAFT, lasting=True)
    exits = Exits(grower, grower.graft(TokenTree.empty()), TreeLimits(8, 4, 4, ahead=MANY), 4)
    assert exits.frontier(16) == [ROOT]
    expand(grower, [ROOT], np.random.default_rng(0))
    assert sorted(exits.frontier(16)) == list(range(BRANCH))


def test_nodes_of_other_drafters_are_grafted_and_expanded_from_the_top():
    rng = np.random.default_rng(1)
    grower = grown(rng, 4)
    before = len(grower.tokens)
    own = grower.tokens[next(node for node in range(before) if grower.is_expanded(node))]
    sent = TokenTree(
        np.array([own, 77, 78]),
        np.array([ROOT, 0, 1]),
        np.array([1, 2, 3]),
        np.zeros(3, np.float32),
        np.array([-0.1, -0.2, -0.3], np.float32),
        np.ones(3, np.uint8),
    )
    ids = grower.graft(sent)
    assert ids == follow(grower.children(), [own, 77, 78])
    assert len(grower.tokens) == before + 2
    assert grower.depths[-2:] == [2, 3]
    exits = Exits(grower, ids, TreeLimits(4, 4, 9, ahead=MANY), 9)
    assert ids[1] in exits.frontier(100)
    assert ids[2] not in exits.frontier(100), "its parent's row is not there yet"
    expand(grower, [ids[1]], rng)
    assert ids[2] in exits.frontier(100)


@pytest.mark.parametrize("deepest", [0, 1])
def test_nothing_grows_beyond_the_end_of_the_answer(deepest):
    rng = np.random.default_rng(2)
    grower = grown(rng, 4)
    exits = Exits(grower, grower.graft(grower.snapshot(4)), TreeLimits(4, 4, 9, ahead=MANY), deepest)
    assert all(grower.depths[node] < deepest for node in exits.frontier(100))


def test_no_more_nodes_are_expanded_than_may_be():
    rng = np.random.default_rng(3)
    grower = grown(rng, 4)
    before = grower.expanded.sum()
    exits = Exits(grower, grower.graft(grower.snapshot(4)), TreeLimits(4, 4, 9, ahead=20), 20)
    while nodes := exits.frontier(8):
        expand(grower, nodes, rng)
    assert grower.expanded.sum() - before == 20
