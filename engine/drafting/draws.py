"""Draws from a distribution."""

import torch
from torch import Tensor


def draw(probs: Tensor, uniforms: Tensor) -> Tensor:
    """Tokens distributed as each row of `probs`, int64 [rows, draws], by the inverse of its cumulative sum.

    probs: [rows, vocabulary], need not sum to 1. uniforms: float64 in (0, 1), [draws]; a row's draws are
    independent where these are. Far cheaper than a Gumbel number for every token and draw.
    """
    sums = probs.double().cumsum(-1)
    # `right`: the first token whose sum is above the number, so never one of probability 0.
    return torch.searchsorted(sums, uniforms.to(sums.device) * sums[:, -1:], right=True)
