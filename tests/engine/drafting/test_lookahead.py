import random

import numpy as np
import pytest

from engine.decoding.budget import FixedLimits
from engine.decoding.iteration import Iterated, decode
from engine.decoding.verdict import EndedPass, Verdict
from engine.decoding.verification import accept
from engine.drafting import Feedback, Lanes, TreeLimits
from engine.drafting.lookahead import (
    FIRST_TOKENS,
    MAX_LANES,
    MAX_PER_TOKEN,
    NGRAM,
    LookaheadDrafter,
    LookaheadWindow,
    Pool,
)
from engine.drafting.none import NoDrafter
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.sampling import Sampler
from engine.tree import SOURCE_LOOKAHEAD, TokenTree, follow
from tests.engine.decoding.test_iteration import CAPACITY, PROMPT, assert_same, pair, run

CONTEXT = [3, 1, 4, 1, 5, 9, 2, 6]


def window(count: int) -> LookaheadWindow:
    made = LookaheadWindow()
    made.fit(count, CONTEXT)
    return made


def feedback(lanes: list[int]) -> Feedback:
    nothing = np.empty(0, np.int64)
    return Feedback(nothing, nothing, nothing, {}, np.array(lanes, np.int64))


def test_the_mask_of_three_lanes():
    """Lane 0 is the root and a1 a2 a3; b0 b1 b2 b3 and c0 c1 c2 c3 follow."""
    rows = window(3).rows()
    assert rows.depths.tolist() == [1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5]
    expected = [
        "a..........",
        "aa.........",
        "aaa........",
        "...b.......",
        "...bb......",
        "...bbb.....",
        "...bbbb....",
        "...b...c...",
        "...b...cc..",
        "...b...ccc.",
        "...b...cccc",
    ]
    assert rows.visible.tolist() == [[cell != "." for cell in row] for row in expected]


@pytest.mark.parametrize("count", [0, 1, 2, 5, MAX_LANES])
def test_every_row_sees_one_token_for_each_position_after_the_root(count):
    rows = window(count).rows()
    assert len(rows) == max(0, count * (NGRAM - 1) - 1)
    assert rows.visible.shape == (len(rows), len(rows))
    for row, depth in enumerate(rows.depths.tolist()):
        assert sorted(rows.depths[rows.visible[row]].tolist()) == list(range(1, depth + 1))


def test_new_lanes_are_runs_of_the_context_and_begin_with_the_root():
    tokens = [CONTEXT[-1], *window(6).rows().tokens.tolist()]
    lanes = [tokens[start : start + NGRAM - 1] for start in range(0, len(tokens), NGRAM - 1)]
    twice = CONTEXT + CONTEXT
    runs = [twice[start : start + NGRAM - 1] for start in range(len(CONTEXT))]
    assert lanes[0][1:] in [run[1:] for run in runs]
    assert all(lane in runs for lane in lanes[1:])


@pytest.mark.parametrize("committed", [1, 2, 3, 5])
def test_lanes_keep_their_positions_when_the_root_moves(committed):
    before = window(3)
    lanes = np.asarray([CONTEXT[-1], *before.rows().tokens.tolist()]).reshape(3, NGRAM - 1)
    next_tokens = list(range(100, 111))
    ngrams = before.slide(next_tokens, committed)
    assert ngrams == [(*lanes[0], 102), (*lanes[1], 106), (*lanes[2], 110)]
    before.fit(3, [*CONTEXT, *range(50, 50 + committed)])
    after = [49 + committed, *before.rows().tokens.tolist()]
    after = np.asarray(after).reshape(3, NGRAM - 1)
    for lane, ngram in enumerate(ngrams[committed - 1 :]):  # one pass later each lane begins a token later
        assert after[lane, lane == 0 :].tolist() == list(ngram[1 + (lane == 0) :])


@pytest.mark.parametrize("budget", [0, 3, 4, 17, 32, 64, 1000])
def test_about_as_many_rows_beside_the_tree_as_nodes_in_it(budget):
    drafter = LookaheadDrafter()
    drafter.begin(CONTEXT, Sampler(), no_progress)
    drafter.plant(TreeLimits(budget, 8, 12))
    rows = len(drafter.lanes())
    assert rows <= budget
    assert rows >= min(budget, MAX_LANES * (NGRAM - 1)) - NGRAM


def test_the_pool_keeps_the_latest():
    pool = Pool()
    for last in range(MAX_PER_TOKEN):
        pool.add((7, 0, 0, 0, last))
    pool.add((7, 0, 0, 0, 0))
    pool.add((7, 0, 0, 0, 99))
    assert [ngram[-1] for ngram in pool.beginning((7,))] == [99, 0, *range(MAX_PER_TOKEN - 1, 1, -1)]
    assert list(pool.beginning((7, 1))) == list(pool.beginning((8,))) == []
    for first in range(100, 100 + FIRST_TOKENS - 1):
        pool.add((first, 0, 0, 0, 0))
    assert len(list(pool.beginning((7,)))) == MAX_PER_TOKEN
    pool.add((99, 0, 0, 0, 0))
    assert list(pool.beginning((7,))) == []


def test_the_tree_merges_ngrams_of_pool_and_text_and_chains_them():
    drafter = LookaheadDrafter()
    drafter.begin([1, 2, 3, 4, 5, 1], Sampler(), no_progress)
    drafter.plant(TreeLimits(NGRAM - 1, 8, 12))
    next_tokens = [0] * len(drafter.lanes())
    next_tokens[-1] = 9
    lane = (1, *drafter.lanes().tokens.tolist())
    drafter.advance([1], feedback(next_tokens))
    drafter.plant(TreeLimits(1000, 8, 6))
    while drafter.grow(1, no_progress):
        pass
    tree = drafter.snapshot(1000)
    assert len(follow(tree.children(), [2, 3, 4, 5, 1, 2])) == 6, "from the prompt, continued after its 5"
    assert len(follow(tree.children(), [*lane[1:], 9])) == len(lane)
    assert set(tree.sources.tolist()) == {SOURCE_LOOKAHEAD}
    paths = [tuple(tree.tokens[tree.path(node)].tolist()) for node in range(len(tree))]
    assert len(set(paths)) == len(paths)


class Language:
    """A target that is a function of the preceding tokens: the next token depends on the position, and partly
    on the previous token, so that no n-gram occurs twice."""

    capacity = 10_000

    def next(self, tokens):
        return random.Random(f"{len(tokens)} {tokens[-1] % 2}").randrange(5000)

    def read(self, prompt, drafter, progress):
        return EndedPass(lambda: Verdict([], self.next(prompt), feedback([]), []))

    def launch(self, context, proposal, progress):
        return EndedPass(lambda: self.verdict(context, proposal.tree, proposal.lanes))

    def verdict(self, context, tree: TokenTree, lanes: Lanes):
        accepted, bonus = accept(
            lambda node: self.next([*context, *tree.tokens[tree.path(node)].tolist()]), tree
        )
        next_tokens = [self.next([*context, *lanes.tokens[seen].tolist()]) for seen in self.in_order(lanes)]
        return Verdict(accepted, bonus, feedback(next_tokens), [])

    def in_order(self, lanes):
        """Return the rows each row sees, by position."""
        return [
            sorted(np.flatnonzero(row).tolist(), key=lanes.depths.tolist().__getitem__)
            for row in lanes.visible
        ]

    def commit(self, nodes, tokens):
        pass


def test_lanes_find_ngrams_that_no_text_contains():
    def decoded(drafter):
        rule = FixedLimits(TreeLimits(32, 8, 12))
        events = list(decode(Language(), drafter, Sampler(), [1, 2, 3], rule, (), 150, no_progress))
        iterations = [event for event in events if isinstance(event, Iterated)]
        return [token for each in iterations for token in each.tokens], 149 / len(iterations)

    class Deaf(LookaheadDrafter):
        def lanes(self):
            return Lanes.none()

    plain, _ = decoded(NoDrafter())
    from_text, text_alone = decoded(Deaf())
    from_lanes, with_lanes = decoded(LookaheadDrafter())
    assert from_text == from_lanes == plain
    assert text_alone < 1.05
    assert with_lanes > 2


def test_a_cache_too_small_for_lanes_only_costs_speed():
    _, model, _ = pair("llama")
    plain = run(model, NoDrafter(), PROMPT, Sampler(), max_new_tokens=10_000)
    target = Sequence(model, CAPACITY)
    found = run(
        model, LookaheadDrafter(), PROMPT, Sampler(), budget=100, max_new_tokens=10_000, target=target
    )
    assert len(PROMPT) + len(found.tokens) == CAPACITY
    assert_same(found.tokens, plain.tokens, model, Sampler(), PROMPT)
