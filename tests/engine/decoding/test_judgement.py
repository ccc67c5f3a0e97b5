import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.decoding.judgement import judge
from engine.decoding.node_logits import PassLogits
from engine.tree import TokenTree

VOCABULARY = 40


def random_tree(seed: int, nodes: int) -> tuple[TokenTree, torch.Tensor]:
    numbers = np.random.default_rng(seed)
    parents = np.array([numbers.integers(-1, i) for i in range(nodes)], np.int64)
    scores = numbers.normal(size=nodes).astype(np.float32)
    tokens = numbers.integers(0, VOCABULARY, nodes)
    tree = TokenTree(tokens, parents, np.ones(nodes, np.int64), scores, scores, np.ones(nodes, np.uint8))
    return tree, torch.from_numpy(numbers.normal(size=(1 + nodes, VOCABULARY))).float()


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(0, 30), st.integers(0, 40))
def test_a_node_is_judged_by_the_targets_logits_at_its_parent(seed: int, nodes: int, most: int) -> None:
    tree, logits = random_tree(seed, nodes)
    accepted = tree.path(nodes - 1) if nodes else []
    found = judge(PassLogits(logits), tree, accepted, most)
    best = np.argsort(-tree.scores, kind="stable")[:most].tolist()
    assert sorted(found.nodes) == sorted({*best, *accepted})
    for node, log_prob, rank in zip(found.nodes, found.log_probs, found.ranks, strict=True):
        row = logits[tree.parents[node] + 1]
        expected = row.log_softmax(-1)[tree.tokens[node]]
        torch.testing.assert_close(torch.tensor(log_prob).float(), expected, rtol=1e-5, atol=1e-5)
        assert rank == 1 + (row > row[tree.tokens[node]]).sum()


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(1, 30))
def test_without_time_only_the_accepted_path_and_its_siblings_are_judged(seed: int, nodes: int) -> None:
    tree, logits = random_tree(seed, nodes)
    accepted = tree.path(nodes - 1)
    found = judge(PassLogits(logits), tree, accepted, nodes, seconds=-1.0)
    path = [-1, *accepted]
    assert sorted(found.nodes) == [node for node in range(nodes) if tree.parents[node] in path]
