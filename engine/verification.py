"""The target's pass over root + tree, and the walk that accepts. Does not know who proposed the tree.

From the root, the next token is sampled from the target's own distribution at the current node. Where it is a
child, the walk goes there; where not, it is the bonus token and the walk ends. So what is committed is what
plain decoding would have committed, whatever the tree was (DESIGN section 3).
"""

from collections.abc import Sequence as Ids
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.drafting import Needs, Said
from engine.errors import BadNumbers
from engine.model import Watch
from engine.sampling import Sampler
from engine.sequence import Sequence
from engine.tree import ROOT, TokenTree


@dataclass(frozen=True, slots=True)
class Verdict:
    """accepted: node ids from the root down; bonus: the token after the last of them; said: for the
    drafter."""

    accepted: list[int]
    bonus: int
    said: Said


def verify(
    target: Sequence, context: Ids[int], tree: TokenTree, sampler: Sampler, needs: Needs, watch: Watch
) -> Verdict:
    """One target pass. `context` ends with the root; the target holds rows for all of it but the root.

    The rows stay in the target's tail until `Sequence.keep`.
    """
    root_position = len(context) - 1
    tokens = [context[-1], *tree.tokens.tolist()]
    positions = [root_position, *(root_position + tree.depths).tolist()]
    output = target.consider(
        tokens, positions, torch.from_numpy(tree.rows_mask()), hidden_layers=needs.hidden_layers, watch=watch
    )
    accepted, bonus = accept(output.logits, list(context), tree, sampler)
    return Verdict(accepted, bonus, what_was_said(tokens, output.logits, output.hidden, needs))


def accept(logits: Tensor, context: list[int], tree: TokenTree, sampler: Sampler) -> tuple[list[int], int]:
    """Walk the tree. logits: [1 + nodes, vocabulary], row 0 the root's; context: every token id up to the
    root."""
    children = tree.children()
    path = list(context)
    accepted: list[int] = []
    node = ROOT
    while True:
        token = choose(sampler, logits[node + 1], path)
        child = children.get(node, {}).get(token)
        if child is None:
            return accepted, token
        accepted.append(child)
        path.append(token)
        node = child


def choose(sampler: Sampler, logits: Tensor, path: list[int]) -> int:
    """The token after `path`. Raises BadNumbers where the logits are not numbers."""
    if not bool(torch.isfinite(logits).all()):
        raise BadNumbers(
            "The model's output is not a number.",
            "Its file may be damaged: verify or download it again; or try --dtype float32.",
        )
    return sampler.choose(logits, len(path), path)


def what_was_said(tokens: Ids[int], logits: Tensor, hidden: dict[int, Tensor], needs: Needs) -> Said:
    """logits: [rows, vocabulary] at the rows of `tokens`."""
    best = logits.topk(min(needs.top_tokens, logits.shape[-1]))
    normaliser = logits.float().logsumexp(-1, keepdim=True) if needs.top_tokens else 0.0
    return Said(
        torch.tensor(tokens, dtype=torch.int64), best.indices, best.values.float() - normaliser, hidden
    )
