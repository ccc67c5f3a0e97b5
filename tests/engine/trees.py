"""Random token trees for property tests."""

import numpy as np
from hypothesis import strategies as st

from engine.tree import ROOT, SOURCE_DRAFT, TokenTree


@st.composite
def token_trees(draw, most_nodes: int = 40) -> TokenTree:
    """Draw a tree of any shape; siblings have different tokens."""
    count = draw(st.integers(0, most_nodes))
    parents = [draw(st.integers(ROOT, node - 1)) for node in range(count)]
    depths: list[int] = []
    siblings: dict[int, int] = {}
    tokens = []
    for parent in parents:
        depths.append(1 if parent == ROOT else depths[parent] + 1)
        tokens.append(siblings.get(parent, 0))
        siblings[parent] = siblings.get(parent, 0) + 1
    return TokenTree(
        tokens=np.asarray(tokens, dtype=np.int64),
        parents=np.asarray(parents, dtype=np.int64),
        depths=np.asarray(depths, dtype=np.int64),
        log_probs=np.zeros(count, np.float32),
        scores=-np.asarray(depths, dtype=np.float32),
        sources=np.full(count, SOURCE_DRAFT, np.uint8),
    )
