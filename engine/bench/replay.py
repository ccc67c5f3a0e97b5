"""Answers recorded once, and replayed where the target is only asked what it has said before: hours become
minutes.

A drafter whose output is exact commits the same tokens whatever it proposes, and one that hears nothing else
of the target grows the same trees whether the target runs or its record speaks. Only the target's time is
missing.
"""

from collections.abc import Sequence as Ids

import msgspec
import torch

from engine.bench.settings import Sampling
from engine.drafting import Drafter, Needs, Said
from engine.drafting.merged import MergedDrafter
from engine.model import Watch
from engine.tree import ROOT, TokenTree
from engine.verification import Verdict, accept

UNKNOWN = -1  # what the target would say behind the end of a recorded answer; no token


class Recorded(msgspec.Struct, frozen=True):
    """One answer of `target`. `ended`: it ends by itself, with an end token."""

    target: str
    sampling: Sampling
    prompt_name: str
    prompt: list[int]
    answer: list[int]
    ended: bool

    def covers(self, target: str, sampling: Sampling, prompt: list[int], tokens: int) -> bool:
        """Whether it says what `target` answers to `prompt`, as far as `tokens` tokens."""
        asked = (target, sampling, prompt)
        return asked == (self.target, self.sampling, self.prompt) and (
            self.ended or len(self.answer) >= tokens
        )


class ReplayVerifier:
    """A `Verifier` over a recorded answer: at a node on its path the target chooses the token recorded
    next."""

    def __init__(self, prompt: Ids[int], answer: Ids[int], room: int) -> None:
        """room: most tokens of a whole sequence, as the target's."""
        self._start = len(prompt)
        self._answer = answer
        self._room = room

    @property
    def room(self) -> int:
        return self._room

    def read(self, prompt: Ids[int], drafter: Drafter, watch: Watch) -> Verdict:
        return Verdict([], self._answer[0], _said(prompt[-1:], [0]), [])

    def verify(self, context: Ids[int], tree: TokenTree, drafter: Drafter, watch: Watch) -> Verdict:
        assert not len(drafter.lanes()), "of rows beside the tree nothing is recorded"
        root = len(context) - self._start
        coming = self._answer[root:]

        def choice(node: int) -> int:
            depth = 0 if node == ROOT else int(tree.depths[node])
            return coming[depth] if depth < len(coming) else UNKNOWN

        accepted, bonus = accept(choice, tree)
        rows = [0, *(node + 1 for node in accepted)]
        return Verdict(accepted, bonus, _said([context[-1], *tree.tokens.tolist()], rows), [])

    def commit(self, nodes: Ids[int], tokens: Ids[int]) -> None:
        pass


def can_replay(drafter: Drafter, greedy: bool) -> bool:
    """Whether all it hears of the target is which tokens were committed, and those are the record's: with
    verification by rejection only where greedy."""
    if isinstance(drafter, MergedDrafter):
        return all(can_replay(each, greedy) for each in drafter.drafters)
    return drafter.needs == Needs(rejection=drafter.needs.rejection and greedy) and (
        type(drafter).lanes is Drafter.lanes
    )


def _said(tokens: Ids[int], path: list[int]) -> Said:
    ids, numbers = torch.empty(0, dtype=torch.int64), torch.empty(len(tokens), 0)
    return Said(torch.tensor(tokens, dtype=torch.int64), numbers.long(), numbers, {}, ids, path)
