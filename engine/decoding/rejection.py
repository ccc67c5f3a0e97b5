"""Verification by rejection sampling, for drafters whose nodes are draws from a draft's distribution.

The method is multi-round speculative sampling (SpecInfer, arXiv 2305.09781, Algorithm 2); with one draw it
is the speculative sampling of arXiv 2211.17192. At a node with draws from q, round j keeps the j-th draw x
with probability min(1, p_j(x) / q(x)), where p_1 is the target's distribution and p_{j+1} the residual after
a rejection, max(p_j - q, 0) normalised; after the last round the next token is drawn from the residual.

The token has the target's distribution. Given that round j is reached, x is kept there with probability
min(p_j(x), q(x)), and the probability that the draw is rejected is the mass of max(p_j - q, 0); so p_j =
min(p_j, q) + P(rejected) p_{j+1}. From the last round back to the first, it follows that the token is
distributed as p_j. This requires draws and tests to be independent of each other and of everything earlier:
each test, and the last draw, uses a random number of its own, tied to a position that the walk visits only
once. In greedy decoding p is 1 at one token, so a child is kept if and only if it is that token, whether or
not it was drawn at random.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from engine.arrays import Array, as_float, is_on_card, like, namespace, on_host
from engine.decoding.node_logits import NodeLogits
from engine.drafting import Drawn
from engine.errors import BadNumbers
from engine.sampling import TARGET_STREAM, TEST_STREAM, Sampler, TokenHistory, draw, uniforms
from engine.tree import ROOT, TokenTree


def reject(
    logits: NodeLogits,
    context: Sequence[int],
    tree: TokenTree,
    drawn_at: Mapping[int, Drawn],
    sampler: Sampler,
) -> tuple[list[int], int]:
    """Walk the tree; return the accepted nodes from the root down, and the token after them.

    context: every token id up to the root; drawn_at: how the children of nodes were drawn. Raises BadNumbers
    if the logits at a visited node are not finite.
    """
    accepted: list[int] = []
    node = ROOT
    while True:
        position = len(context) + len(accepted)
        row = logits.at([node])
        if not bool(namespace(row).all(namespace(row).isfinite(row))):
            raise BadNumbers
        residual = sampler.probabilities(row, TokenHistory(context, [tree.tokens[accepted].tolist()]))
        drawn = drawn_at.get(node)
        if drawn is not None:
            tokens = like(row, tree.tokens[drawn.children])
            tests = like(row, uniforms(sampler.seed, position, np.arange(len(tokens)), TEST_STREAM))
            probs = drawn.probs if is_on_card(drawn.probs) else like(row, on_host(drawn.probs))
            kept, residual = rounds(residual, probs[None], tokens[None], tests[None])
            if (number := int(kept[0])) < len(tokens):
                node = drawn.children[number]
                accepted.append(node)
                continue
        last = uniforms(sampler.seed, position, np.zeros(1, np.int64), TARGET_STREAM)
        return accepted, int(draw(residual, like(residual, last))[0, 0])


def rounds(p: Array, q: Array, tokens: Array, tests: Array) -> tuple[Array, Array]:
    """Return, for each row, the number of the round that keeps its draw, and the row of p that this round
    began with.

    Rounds are numbered from 0. If no round keeps its draw, the number is the number of draws, and the row of
    p is the residual after the last round. The numbers are int64 [rows], the rows of p float64 [rows,
    vocabulary].

    p: [rows, vocabulary], the target's distribution; q: the draft's, one per row or one for all rows; tokens:
    int64 [rows, draws], drawn from q; tests: float64 [rows, draws], the random numbers in (0, 1) that decide.
    """
    xp, draws = namespace(p), tokens.shape[1]
    q = as_float(q, double=True)
    q = xp.broadcast_to(q / xp.sum(q, axis=-1, keepdims=True), p.shape)
    kept = xp.full_like(tokens[:, 0], draws)
    for j in range(draws):
        token = tokens[:, j : j + 1]
        there = [xp.take_along_axis(probs, token, axis=-1)[:, 0] for probs in (q, p)]
        passes = tests[:, j] * there[0] < there[1]
        undecided = kept == draws
        kept = xp.where(undecided & passes, j, kept)
        rejected = undecided & ~passes
        if not bool(xp.any(rejected)):
            break
        residual = xp.clip(p - q, min=0)
        mass = xp.sum(residual, axis=-1, keepdims=True)
        # Without mass, p equals q up to rounding, and stays as it is.
        p = xp.where(rejected[:, None] & (mass > 0), residual / xp.where(mass > 0, mass, 1.0), p)
    return kept, p
