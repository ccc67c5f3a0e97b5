"""The target's pass over root + tree, and the walk that accepts. Does not know who proposed the tree.

From the root, the next token is sampled from the target's own distribution at the current node. Where it is a
child, the walk goes there; where not, it is the bonus token and the walk ends. So what is committed is what
plain decoding would have committed, whatever the tree was (DESIGN section 3).
"""

import time
from collections.abc import Callable
from collections.abc import Sequence as Ids
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from engine.drafting import Drafter, Drawing, Lanes, Needs, Said
from engine.errors import BadNumbers
from engine.judging import Judgement, judge
from engine.model import Watch, no_watch
from engine.rejection import reject
from engine.sampling import MORE_CANDIDATES, NOT_NUMBERS, History, Sampler
from engine.sequence import Sequence
from engine.tree import ROOT, TokenTree

JUDGING_SHARE = 0.01  # of a pass's time, for what only who watches wants to know


@dataclass(frozen=True, slots=True)
class LogProbs:
    """Of one committed token: the target's log-probability of it, before any processor, and the best tokens
    there."""

    log_prob: float
    top: list[tuple[int, float]]  # (token id, log-probability), best first


@dataclass(frozen=True, slots=True)
class Verdict:
    """accepted: node ids from the root down; bonus: the token after the last of them; said: for the
    drafter; log_probs: of accepted tokens and bonus, where they were asked for; judgement: likewise."""

    accepted: list[int]
    bonus: int
    said: Said
    log_probs: list[LogProbs]
    judgement: Judgement | None = None


class Verifier(Protocol):
    """Whoever says what the target says: the target itself, or a record of it."""

    @property
    def room(self) -> int:
        """Most tokens of a whole sequence."""

    def read(self, prompt: Ids[int], drafter: Drafter, watch: Watch) -> Verdict:
        """Take up a prompt: its first new token as `bonus`."""

    def verify(self, context: Ids[int], tree: TokenTree, drafter: Drafter, watch: Watch) -> Verdict:
        """`context` ends with the root."""

    def commit(self, nodes: Ids[int], tokens: Ids[int]) -> None:
        """Keep the root and these nodes of the last tree, a path from it; `tokens`: root and theirs."""


class TargetVerifier:
    """Asks the target. Rows of a prompt's beginning that it holds are reused."""

    def __init__(
        self,
        target: Sequence,
        sampler: Sampler,
        log_probs: int | None = None,
        judged: int = 0,
        look: Watch = no_watch,
    ) -> None:
        """log_probs: how many of the best tokens' log-probabilities are wanted; None: none of any. judged:
        how many nodes are. look: told how far a pass over a tree has come."""
        self._target = target
        self._sampler = sampler
        self._log_probs = log_probs
        self._judged = judged
        self._look = look

    @property
    def room(self) -> int:
        return self._target.cache.capacity

    def read(self, prompt: Ids[int], drafter: Drafter, watch: Watch) -> Verdict:
        known = self._target.align(prompt[: min(len(prompt) - 1, drafter.covers(prompt))])
        output = self._target.read(prompt[known:], drafter.needs.hidden_layers, watch)
        choices = Choices(self._sampler, output.logits, prompt, TokenTree.empty())
        said = what_was_said(prompt[-1:], output.logits, output.hidden, drafter.needs)
        return self._verdict([], choices(ROOT), said, output.logits)

    def verify(self, context: Ids[int], tree: TokenTree, drafter: Drafter, watch: Watch) -> Verdict:
        started = time.perf_counter()
        lanes = drafter.lanes()
        rows = 1 + len(tree)
        if len(context) - 1 + rows + len(lanes) > self.room:
            lanes = Lanes.none()
        root = len(context) - 1
        tokens = [context[-1], *tree.tokens.tolist(), *lanes.tokens.tolist()]
        positions = [root, *(root + tree.depths).tolist(), *(root + lanes.depths).tolist()]

        def both(done: int, total: int) -> None:
            watch(done, total)
            self._look(done, total)

        output = self._target.consider(
            tokens, positions, visible(tree, lanes), hidden_layers=drafter.needs.hidden_layers, watch=both
        )
        logits = output.logits[:rows]
        if drafter.needs.rejection:
            assert isinstance(drafter, Drawing)
            accepted, bonus = reject(logits, context, tree, drafter, self._sampler)
        else:
            accepted, bonus = accept(Choices(self._sampler, logits, context, tree), tree)
        hidden = {layer: states[:rows] for layer, states in output.hidden.items()}
        said = what_was_said(tokens[:rows], logits, hidden, drafter.needs)
        said = replace(
            said, lanes=output.logits[rows:].argmax(-1), path=[0, *(node + 1 for node in accepted)]
        )
        verdict = self._verdict(accepted, bonus, said, logits, tree)
        if self._judged:
            seconds = JUDGING_SHARE * (time.perf_counter() - started)
            judgement = judge(logits, tree, accepted, self._judged, seconds)
            verdict = replace(verdict, judgement=judgement)
        return verdict

    def commit(self, nodes: Ids[int], tokens: Ids[int]) -> None:
        self._target.keep([0, *(node + 1 for node in nodes)], tokens)

    def _verdict(
        self, accepted: list[int], bonus: int, said: Said, logits: Tensor, tree: TokenTree | None = None
    ) -> Verdict:
        if self._log_probs is None:
            return Verdict(accepted, bonus, said, [])
        rows = [0, *(node + 1 for node in accepted)]
        tokens = [*(tree.tokens[accepted].tolist() if tree else []), bonus]
        return Verdict(accepted, bonus, said, log_probs_of(logits[rows], tokens, self._log_probs))


class Choices:
    """The token the target chooses at each node. On a graphics card all are found at once, with one copy to
    the host; a CPU looks at those the walk asks for."""

    def __init__(self, sampler: Sampler, logits: Tensor, context: Ids[int], tree: TokenTree) -> None:
        """logits: [1 + nodes, vocabulary], row 0 the root's; context: every token id up to the root."""
        self._sampler = sampler
        self._logits = logits
        self._context = context
        self._tree = tree
        nodes = [ROOT, *range(len(tree))]
        self._found = dict(zip(nodes, self._choose(nodes), strict=True)) if logits.is_cuda else {}

    def __call__(self, node: int) -> int:
        """Raises BadNumbers where the logits are not numbers."""
        token: int = self._found.get(node, MORE_CANDIDATES)
        if token == MORE_CANDIDATES:
            (token,) = self._choose([node])
        if token == MORE_CANDIDATES:
            (token,) = self._choose([node], candidates=self._logits.shape[-1])
        if token == NOT_NUMBERS:
            raise BadNumbers
        return token

    def _choose(self, nodes: list[int], **how: int) -> list[int]:
        tree, device = self._tree, self._logits.device
        paths = [tree.path(node) for node in nodes] if self._sampler.looks_back else [[] for _ in nodes]
        history = History(self._context, [tree.tokens[path].tolist() for path in paths])
        depths = torch.tensor([0 if node == ROOT else int(tree.depths[node]) for node in nodes])
        positions = (len(self._context) + depths).to(device)
        rows = self._logits[torch.tensor(nodes, device=device) + 1]
        chosen: list[int] = self._sampler.choose(rows, positions, history, **how).tolist()
        return chosen


def accept(choice: Callable[[int], int], tree: TokenTree) -> tuple[list[int], int]:
    """Walk the tree from the root to where the target's choice is no child: the nodes passed, and that
    choice."""
    children = tree.children()
    accepted: list[int] = []
    node = ROOT
    while True:
        token = choice(node)
        child = children.get(node, {}).get(token)
        if child is None:
            return accepted, token
        accepted.append(child)
        node = child


def visible(tree: TokenTree, lanes: Lanes) -> Tensor:
    """bool [rows, rows] of a pass over root, tree and lanes."""
    rows = 1 + len(tree)
    mask = torch.zeros(rows + len(lanes), rows + len(lanes), dtype=torch.bool)
    mask[:rows, :rows] = torch.from_numpy(tree.rows_mask())
    mask[rows:, rows:] = lanes.visible
    mask[:, 0] = True
    return mask


def what_was_said(tokens: Ids[int], logits: Tensor, hidden: dict[int, Tensor], needs: Needs) -> Said:
    """logits: [rows, vocabulary] at the rows of `tokens`."""
    best = logits.topk(min(needs.top_tokens, logits.shape[-1]))
    normaliser = logits.float().logsumexp(-1, keepdim=True) if needs.top_tokens else 0.0
    return Said(
        torch.tensor(tokens, dtype=torch.int64),
        best.indices,
        best.values.float() - normaliser,
        hidden,
        torch.empty(0, dtype=torch.int64),
    )


def log_probs_of(logits: Tensor, tokens: Ids[int], count: int) -> list[LogProbs]:
    """logits: [rows, vocabulary]; tokens: the one chosen at each row; count: of the best ones beside it."""
    log_probs = logits.float().log_softmax(-1)
    chosen = log_probs.gather(-1, torch.tensor(tokens, device=logits.device)[:, None])[:, 0].tolist()
    best = log_probs.topk(min(count, logits.shape[-1]))
    tops = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return [
        LogProbs(value, list(zip(ids, values, strict=True)))
        for value, (ids, values) in zip(chosen, tops, strict=True)
    ]
