"""Verification by rejection sampling, for drafters whose nodes are draws from a draft's distribution.

Multi-round speculative sampling (SpecInfer, arXiv 2305.09781, Algorithm 2; with one draw the speculative
sampling of arXiv 2211.17192): the draws of a node are tried in turn, each kept with probability
min(1, p / q); after each refusal p becomes what is left of it, max(p - q, 0) normalised. What is committed
is distributed as the target's own samples, whatever q is; but which sample it is depends on the draws.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.drafting import Drawing
from engine.errors import BadNumbers
from engine.sampling import TEST_STREAM, History, Sampler, gumbel_noise, uniforms
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
        history = History(context, [tree.tokens[accepted].tolist()])
        row = logits[node + 1 : node + 2]
        if not bool(torch.isfinite(row).all()):
            raise BadNumbers
        probs = sampler.probabilities(row, history)[0]
        child, left = _try(probs, node, tree, drafter, sampler.seed, position)
        if child is None:
            noise = gumbel_noise(sampler.seed, position, torch.arange(len(left), device=left.device))
            return accepted, int((left.log() + noise).argmax())
        accepted.append(child)
        node = child


def _try(
    probs: Tensor, node: int, tree: TokenTree, drafter: Drawing, seed: int, position: int
) -> tuple[int | None, Tensor]:
    """The child that is accepted, if any; what is left of the target's distribution, float64 [vocabulary]."""
    drawn = drafter.drawn(node)
    if drawn is None:
        return None, probs
    q = drawn.probs.to(probs.device, torch.float64)
    tests = uniforms(seed, position, torch.arange(len(drawn.children)), TEST_STREAM).tolist()
    for child, test in zip(drawn.children, tests, strict=True):
        token = int(tree.tokens[child])
        if test * float(q[token]) < float(probs[token]):
            return child, probs
        left = (probs - q).clamp(min=0)
        if float(left.sum()) > 0:  # else p = q up to rounding
            probs = left / left.sum()
    return None, probs
