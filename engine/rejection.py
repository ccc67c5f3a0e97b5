"""Verification by rejection sampling, for drafters whose nodes are draws from a draft's distribution.

Multi-round speculative sampling (SpecInfer, arXiv 2305.09781, Algorithm 2; with one draw the speculative
sampling of arXiv 2211.17192). At a node with draws from q, round j keeps the j-th draw x with probability
min(1, p_j(x) / q(x)), where p_1 is the target's distribution and p_{j+1} what a refusal leaves of it,
max(p_j - q, 0) normalised; after the last round the next token is drawn from what is left.

It is distributed as the target's own: given that round j is reached, x is kept there with probability
min(p_j(x), q(x)), and refused is a draw with the mass of max(p_j - q, 0); so p_j = min(p_j, q) +
P(refused) p_{j+1}, and from the last round back to the first the token is distributed as p_j. This asks that
draws and tests are independent of each other and of everything before: each test, and the last draw, has a
number of its own, which belongs to a position the walk comes by only once. Greedy, p is 1 at one token: a
child is kept if and only if it is that one, drawn or not.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.drafting import Drawing
from engine.drafting.draws import draw
from engine.errors import BadNumbers
from engine.sampling import TARGET_STREAM, TEST_STREAM, History, Sampler, uniforms
from engine.tree import ROOT, TokenTree


def reject(
    logits: Tensor, context: Sequence[int], tree: TokenTree, drafter: Drawing, sampler: Sampler
) -> tuple[list[int], int]:
    """Walk the tree: the nodes accepted from the root down, and the token after them.

    logits: [1 + nodes, vocabulary], row 0 the root's; context: every token id up to the root. Raises
    BadNumbers.
    """
    accepted: list[int] = []
    node = ROOT
    while True:
        position = len(context) + len(accepted)
        row = logits[node + 1 : node + 2]
        if not bool(torch.isfinite(row).all()):
            raise BadNumbers
        left = sampler.probabilities(row, History(context, [tree.tokens[accepted].tolist()]))
        drawn = drafter.drawn(node)
        if drawn is not None:
            tokens = torch.from_numpy(tree.tokens[drawn.children])
            tests = uniforms(sampler.seed, position, torch.arange(len(tokens)), TEST_STREAM)
            kept, left = rounds(left, drawn.probs[None], tokens[None], tests[None])
            if int(kept) < len(tokens):
                node = drawn.children[int(kept)]
                accepted.append(node)
                continue
        number = uniforms(sampler.seed, position, torch.zeros(1, dtype=torch.int64), TARGET_STREAM)
        return accepted, int(draw(left, number))


def rounds(p: Tensor, q: Tensor, tokens: Tensor, tests: Tensor) -> tuple[Tensor, Tensor]:
    """The round in which each row keeps its draw, int64 [rows]; the number of draws where it keeps none. And
    what is left of p after the rounds before, float64 [rows, vocabulary].

    p: [rows, vocabulary], the target's; q: the draft's, for each row or one for all; tokens: int64 [rows,
    draws] from q; tests: float64 in (0, 1), [rows, draws].
    """
    draws = tokens.shape[1]
    q = q.to(p.device, torch.float64)
    q = (q / q.sum(-1, keepdim=True)).expand_as(p)
    tokens, tests = tokens.to(p.device), tests.to(p.device)
    kept = torch.full((len(p),), draws, device=p.device)
    for j in range(draws):
        token = tokens[:, j : j + 1]
        passes = (tests[:, j : j + 1] * q.gather(-1, token) < p.gather(-1, token))[:, 0]
        still = kept == draws
        kept = kept.where(~(still & passes), j)
        refused = still & ~passes
        if not bool(refused.any()):
            break
        left = (p - q).clamp(min=0)
        mass = left.sum(-1, keepdim=True)
        # No mass: p = q up to rounding.
        p = torch.where(refused[:, None] & (mass > 0), left / mass, p)
    return kept, p
