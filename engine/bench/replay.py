"""Replay of recorded answers in place of running the target, which shortens a benchmark from hours to
minutes.

With a drafter whose output is exact, the same tokens are committed whatever it proposes. If the committed
tokens are all that the drafter receives from the target, it grows the same trees whether the target runs or
its answer is replayed. Only the target's time is missing.
"""

from collections.abc import Sequence as Ids

import numpy as np

from engine.decoding.verdict import EndedPass, Verdict
from engine.decoding.verification import accept
from engine.drafting import Drafter, Feedback, Needs, TreeProposal
from engine.drafting.merged import MergedDrafter
from engine.model.interface import Progress
from engine.tree import ROOT, TokenTree

UNKNOWN = -1  # stands for the target's tokens after the end of a recorded answer; differs from every token


class ReplayVerifier:
    """A `Verifier` that replays a recorded answer: at a node on the answer's path, it chooses the next
    recorded token, as the target did."""

    def __init__(self, prompt: Ids[int], answer: Ids[int], capacity: int) -> None:
        """capacity: maximum number of tokens of prompt and answer together, the same as for the target."""
        self._start = len(prompt)
        self._answer = answer
        self._capacity = capacity

    @property
    def capacity(self) -> int:
        return self._capacity

    def read(self, prompt: Ids[int], drafter: Drafter, progress: Progress) -> EndedPass:
        return EndedPass(lambda: Verdict([], self._answer[0], _feedback(prompt[-1:], [0]), []))

    def launch(self, context: Ids[int], proposal: TreeProposal, progress: Progress) -> EndedPass:
        assert not len(proposal.lanes), "rows outside the tree are not recorded"
        return EndedPass(lambda: self._verdict(context, proposal.tree))

    def _verdict(self, context: Ids[int], tree: TokenTree) -> Verdict:
        root = len(context) - self._start
        coming = self._answer[root:]

        def choice(node: int) -> int:
            depth = 0 if node == ROOT else int(tree.depths[node])
            return coming[depth] if depth < len(coming) else UNKNOWN

        accepted, bonus = accept(choice, tree)
        rows = [0, *(node + 1 for node in accepted)]
        return Verdict(accepted, bonus, _feedback([context[-1], *tree.tokens.tolist()], rows), [])

    def commit(self, nodes: Ids[int], tokens: Ids[int]) -> None:
        pass


def can_replay(drafter: Drafter, greedy: bool) -> bool:
    """Return whether answers can be replayed to `drafter`: it must receive only committed tokens from the
    target and read none of its rows, and the tokens must be the recorded ones. Verification by rejection
    commits the recorded tokens only if decoding is `greedy`."""
    if isinstance(drafter, MergedDrafter):
        return all(can_replay(each, greedy) for each in drafter.drafters)
    has_lanes = type(drafter).lanes is not Drafter.lanes
    needs = Needs(rejection=drafter.needs.rejection and greedy)
    return drafter.needs == needs and not has_lanes and not drafter.follows


def _feedback(tokens: Ids[int], path: list[int]) -> Feedback:
    ids, numbers = np.empty(0, np.int64), np.empty((len(tokens), 0), np.float32)
    return Feedback(np.array(tokens, np.int64), numbers.astype(np.int64), numbers, {}, ids, path)
