"""Recordings of answers, and the rule that grows the trees of one again.

Where a row's bits depend on the other rows of its pass (`Model.rounds_alike`), an answer is reproduced only
with the same rows in every pass. Measured times shape trees: they set the limits, and how long a tree grows
ahead. With both recorded, growth is a function of the draft's own passes again.
"""

from collections import deque

from engine.decoding.iteration import Iterated, Rule
from engine.drafting import TreeLimits
from engine.protocol import MAX_BUDGET, AnswerRecording, GrownTree


def grown_tree(limits: TreeLimits) -> GrownTree:
    """Return the record of a tree that was grown within `limits`, whose `rounds` are known."""
    assert limits.rounds is not None
    return GrownTree(limits.budget, limits.beams, limits.depth, limits.worth, limits.ahead, limits.rounds)


class Regrown:
    """A rule like `rule`, except that the first trees grow as they have grown in an earlier answer, up to
    `most` nodes.

    `choose` may be called once for each tree: first for those that grow while the prompt is read.
    """

    def __init__(self, rule: Rule, recording: AnswerRecording, most: int = MAX_BUDGET) -> None:
        self._rule = rule
        self._most = most
        self._trees = deque(recording.trees)
        self._is_recorded = False  # whether the tree chosen last is

    def choose(self) -> TreeLimits:
        self._is_recorded = bool(self._trees)
        if not self._is_recorded:
            return self._rule.choose()
        tree = self._trees.popleft()
        budget = min(tree.budget, self._most)
        return TreeLimits(budget, tree.beams, tree.depth, tree.worth, tree.ahead, tree.rounds)

    def observe(self, iteration: Iterated) -> None:
        if not self._is_recorded:  # what grew ahead then grew in turn, so its seconds are no others'
            self._rule.observe(iteration)
