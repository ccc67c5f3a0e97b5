import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.drafting import TreeLimits
from engine.drafting.pld import LONGEST, MAX_MATCHES, PromptLookupDrafter, matches_of
from engine.model.interface import no_progress
from engine.sampling import Sampler
from engine.tree import SOURCE_NGRAM

PLENTY = 10_000  # nodes; more than any tree of these short texts has
NO_FEEDBACK = None

texts = st.lists(st.integers(0, 3), min_size=1, max_size=40)


def begun(context):
    drafter = PromptLookupDrafter()
    drafter.begin(context, Sampler(), no_progress)
    return drafter


def tree_of(drafter, budget=PLENTY, beams=8, depth=5):
    drafter.plant(TreeLimits(budget, beams, depth))
    while drafter.grow(1, no_progress):
        pass
    return drafter.snapshot(budget)


def paths_of(tree):
    """Return the path of each node, from the root down."""
    return [tuple(tree.tokens[tree.path(node)].tolist()) for node in range(len(tree))]


def naive_matches(text):
    """Return the length of each match by the position of the token after it."""
    found = {}
    for end in range(1, len(text)):
        lengths = [n for n in range(1, end + 1) if text[end - n : end] == text[-n:]]
        if lengths:
            found[end] = min(max(lengths), LONGEST)
    return found


@settings(deadline=None)
@given(texts)
def test_matches_equal_a_naive_search(text):
    matches = matches_of(np.asarray(text))
    assert dict(zip(matches.ends.tolist(), matches.lengths.tolist(), strict=True)) == naive_matches(text)


@settings(deadline=None)
@given(texts)
def test_the_tree_is_the_trie_of_everything_that_followed(text):
    paths = paths_of(tree_of(begun(text), depth=5))
    expected = {
        tuple(text[end : end + length])
        for end in naive_matches(text)
        for length in range(1, min(5, len(text) - end) + 1)
    }
    assert set(paths) == expected
    assert len(paths) == len(expected), "no node has two children with the same token"


@settings(deadline=None)
@given(texts, st.integers(0, 30), st.integers(1, 8), st.integers(0, 6))
def test_budget_and_depth_bound_the_tree_and_its_best_nodes_are_kept(text, budget, beams, depth):
    drafter = begun(text)
    everything = tree_of(drafter, depth=depth)
    tree = tree_of(drafter, budget, beams, depth)
    assert len(tree) == min(budget, len(everything))
    assert all(tree.depths <= depth)
    assert set(tree.sources.tolist()) <= {SOURCE_NGRAM}
    best = np.sort(everything.scores)[::-1][: len(tree)]
    assert np.sort(tree.scores)[::-1] == pytest.approx(best)


@settings(deadline=None)
@given(texts)
def test_the_longest_match_ranks_first(text):
    levels = {}
    for end, length in naive_matches(text).items():
        levels[text[end]] = max(length, levels.get(text[end], 0))
    longest = [token for token, level in levels.items() if level == max(levels.values())]
    assume(len(longest) == 1)
    assert tree_of(begun(text), budget=1).tokens.tolist() == longest


def test_scores_are_the_log_chance_of_the_whole_path():
    tree = tree_of(begun([1, 2, 3, 4, 1, 2, 3, 5, 9, 1, 2]))
    assert len(tree) > 8
    for node in range(len(tree)):
        assert tree.scores[node] == pytest.approx(tree.log_probs[tree.path(node)].sum(), abs=0.01)


def test_committed_tokens_set_the_chances():
    text = [1, 2, 7, 1]
    before = tree_of(begun(text)).log_probs[0]
    drafter = begun([1, 9, 1])
    for token in range(10, 50):  # the token after 1 never followed it before
        tree_of(drafter)
        drafter.advance([token, 1], NO_FEEDBACK)
    drafter.begin(text, Sampler(), no_progress)
    distrusted = tree_of(drafter).log_probs[0]
    assert distrusted < before - 1
    for _ in range(40):
        drafter.begin(text, Sampler(), no_progress)
        tree_of(drafter)
        drafter.advance([2], NO_FEEDBACK)
    drafter.begin(text, Sampler(), no_progress)
    assert tree_of(drafter).log_probs[0] > distrusted + 1


@settings(deadline=None)
@given(
    texts,
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), max_size=5),
    texts,
    st.integers(0, 40),
)
def test_growth_edits_and_rewinding_leave_the_state_of_a_fresh_start(text, steps, other, length):
    drafter = begun(text)
    for tokens in steps:
        tree_of(drafter)
        drafter.advance(tokens, NO_FEEDBACK)
        text = text + tokens
    assert set(paths_of(tree_of(drafter))) == set(paths_of(tree_of(begun(text))))
    edited = text[: max(1, length)]
    drafter.rewind(len(edited))
    assert set(paths_of(tree_of(drafter))) == set(paths_of(tree_of(begun(edited))))
    drafter.begin(edited + other, Sampler(), no_progress)
    assert set(paths_of(tree_of(drafter))) == set(paths_of(tree_of(begun(edited + other))))


def test_an_endlessly_repeating_text_keeps_the_longest_matches():
    matches = matches_of(np.zeros(5 * MAX_MATCHES, np.int64))
    assert len(matches.ends) == MAX_MATCHES
    assert set(matches.lengths.tolist()) == {LONGEST}


@pytest.mark.parametrize("repeating", [False, True])
def test_an_iteration_over_a_long_context_takes_milliseconds(repeating):
    """An iteration compares every position of the context once; longer matches need no second scan."""
    rng = np.random.default_rng(0)
    text = np.zeros(32_768, np.int64) if repeating else rng.zipf(1.3, 32_768) % 4096
    drafter = begun([*text.tolist(), int(text[0])])
    started = time.process_time()
    for _ in range(5):
        assert len(tree_of(drafter, 32, 8, 16)) == (16 if repeating else 32)
        drafter.advance([int(text[0])], NO_FEEDBACK)
    assert (time.process_time() - started) / 5 < 0.1


def test_a_root_that_occurs_nowhere_else_gives_an_empty_tree():
    assert len(tree_of(begun([1, 2, 3]))) == 0
    assert len(tree_of(begun([1]))) == 0
