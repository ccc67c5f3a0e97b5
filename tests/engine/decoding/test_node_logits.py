"""Logits that are computed behind a pass are those that the pass would have computed, and no more than the
walk asks for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.decoding.judgement import judge
from engine.decoding.node_logits import BATCH, LateLogits, PassLogits
from engine.decoding.verification import TargetVerifier
from engine.drafting import Lanes, Needs, TreeProposal
from engine.errors import BadNumbers
from engine.model.compiled import CompiledModel
from engine.model.interface import OutputHead, no_progress
from engine.model.sequence import Sequence
from engine.sampling import Sampler
from engine.tree import ROOT, TokenTree
from tests.engine.model.compiled_models import saved, tiny
from tests.engine.trees import token_trees

VOCABULARY, WIDTH = 9, 5


class CountedHead(OutputHead):
    """Its results are valid until the next call, like those of a model's head."""

    nbytes = 0

    def __init__(self):
        self.weights = np.random.default_rng(0).normal(size=(WIDTH, VOCABULARY)).astype(np.float32)
        self.calls, self.room = [], np.empty((0, VOCABULARY), np.float32)

    def __call__(self, states):
        self.calls.append(len(states))
        self.room[:] = np.nan
        self.room = states @ self.weights
        return self.room


def states_of(tree):
    return np.random.default_rng(1).normal(size=(1 + len(tree), WIDTH)).astype(np.float32)


@settings(max_examples=60, deadline=None)
@given(token_trees(), st.lists(st.integers(0, 10**6), max_size=12))
def test_each_node_has_the_logits_of_its_own_state(tree, asked):
    head, states = CountedHead(), states_of(tree)
    late, whole = LateLogits(tree, states, head), PassLogits(states @ head.weights)
    nodes = [number % (1 + len(tree)) - 1 for number in asked]
    for node in nodes:
        np.testing.assert_allclose(late.at([node]), whole.at([node]), rtol=1e-5)
    if nodes:
        np.testing.assert_allclose(late.at(nodes), whole.at(nodes), rtol=1e-5)
    assert sum(head.calls) <= 1 + len(tree), "no row is computed twice"
    assert all(calls <= BATCH for calls in head.calls)


def likely_path(length, others):
    """A path from the root, and unlikely children of the root."""
    parents = [ROOT, *range(length - 1), *[ROOT] * others]
    scores = [-0.1 * depth for depth in range(length)] + [-9.0] * others
    depths = [*range(1, length + 1), *[1] * others]
    tokens = [*[0] * length, *range(1, others + 1)]
    numbers = np.array(scores, np.float32)
    return TokenTree(
        np.array(tokens),
        np.array(parents),
        np.array(depths),
        numbers,
        numbers,
        np.zeros(len(tokens), np.uint8),
    )


def test_a_likely_path_takes_one_product_of_the_head():
    tree = likely_path(BATCH - 1, 48)
    head = CountedHead()
    late = LateLogits(tree, states_of(tree), head)
    for node in [ROOT, *range(BATCH - 1)]:
        late.at([node])
    assert head.calls == [BATCH]
    assert not late.has(BATCH - 1)
    late.at([BATCH - 1])
    assert head.calls == [BATCH, 1], "nothing is below this node"


def test_only_nodes_whose_parents_have_logits_are_judged():
    tree = likely_path(40, 8)
    late = LateLogits(tree, states_of(tree), CountedHead())
    late.at([ROOT])
    judged = judge(late, tree, [], len(tree)).nodes
    assert sorted(judged) == [*range(BATCH), *range(40, 48)]


def verdict(target, context, tree):
    verifier = TargetVerifier(target, Sampler(), log_probs=3)
    proposal = TreeProposal(tree, Lanes.none(), Needs())
    return verifier.launch(context, proposal, no_progress).verdict()


@pytest.mark.parametrize("kind", ["qwen2", "gemma2", "granite"])
def test_a_compiled_target_chooses_the_same_either_way_bit_for_bit(kind, monkeypatch):
    """Also where logits are capped (gemma2) or divided (granite)."""
    target = Sequence(saved(tiny(kind)), 64)
    text, tree = [1, 5, 3, 8], likely_path(24, 8)
    target.extend(text[:-1])
    logits = target.extend(text[-1:])
    for node in range(6):
        tree.tokens[node] = int(logits.argmax())
        logits = target.extend([int(tree.tokens[node])])
    tree.tokens[24:] = (tree.tokens[0] + np.arange(1, 9)) % target.model.vocabulary
    target.rewind(len(text) - 1)
    late = verdict(target, text, tree)
    target.rewind(len(text) - 1)
    monkeypatch.setattr(CompiledModel, "late_head", None)
    in_pass = verdict(target, text, tree)
    assert late.accepted == in_pass.accepted == list(range(6))
    assert (late.bonus, late.log_probs) == (in_pass.bonus, in_pass.log_probs)


def test_a_visited_node_without_finite_logits_is_an_error():
    target = Sequence(saved(tiny("qwen2")), 64)
    target.extend([1, 5, 3])
    target.model.weights.vectors["model.norm.weight"][:] = np.nan
    with pytest.raises(BadNumbers):
        verdict(target, [1, 5, 3, 8], likely_path(24, 8))
