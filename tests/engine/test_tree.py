import numpy as np
from hypothesis import given

from engine.tree import ROOT, TokenTree, follow
from tests.engine.trees import token_trees


@given(token_trees())
def test_mask_equals_ancestors(tree: TokenTree):
    mask = tree.rows_mask()
    for node in range(len(tree)):
        seen = {0, *(ancestor + 1 for ancestor in tree.path(node))}
        assert set(np.flatnonzero(mask[node + 1]).tolist()) == seen
    assert mask[0].tolist() == [True] + [False] * len(tree)


@given(token_trees())
def test_path_is_as_long_as_the_depth_and_starts_at_the_root(tree: TokenTree):
    for node in range(len(tree)):
        path = tree.path(node)
        assert len(path) == tree.depths[node]
        assert tree.parents[path[0]] == ROOT
        assert [tree.parents[child] for child in path[1:]] == path[:-1]


@given(token_trees())
def test_every_node_is_its_parents_child_by_its_token(tree: TokenTree):
    children = tree.children()
    for node in range(len(tree)):
        assert children[int(tree.parents[node]), int(tree.tokens[node])] == node
        path = tree.path(node)
        assert follow(children, [*tree.tokens[path], -9]) == path
    assert len(children) == len(tree)
