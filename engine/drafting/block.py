"""Drafting with heads that guess a block of tokens in one pass, such as DFlash (arXiv 2602.06036): the guess
for a position does not depend on the tokens chosen before it."""

from collections.abc import Sequence as Ids

from engine.arrays import Array
from engine.drafting.head_context import HeadContext
from engine.drafting.position_guesses import BRANCH, PositionDrafter
from engine.drafting.protocol import Feedback, Needs, TreeLimits
from engine.heads import BlockHead
from engine.heads.interface import Allowed, Guesses
from engine.model.interface import Progress
from engine.prompt_cache import KnownRows
from engine.sampling import Sampler


class BlockDrafter(PositionDrafter):
    defaults = TreeLimits(budget=64, beams=16, depth=16)  # published blocks have 16 tokens

    def __init__(self, head: BlockHead) -> None:
        super().__init__(head.positions)
        self.name = head.method
        self.needs = Needs(hidden_layers=head.hidden_layers)
        self._head = head
        self._text = HeadContext(head)

    def covers(self, context: Ids[int]) -> int:
        return self._text.covers(context)

    def begin(self, context: Ids[int], sampler: Sampler, progress: Progress) -> None:
        self._text.begin(context)
        self._masks = sampler.masks

    def observe_prefill(self, feedback: Feedback) -> None:
        self._text.read(feedback)

    def advance(self, tokens: Ids[int], feedback: Feedback) -> None:
        self._text.advance(tokens, feedback)

    def rewind(self, length: int) -> None:
        self._text.rewind(length)

    def save(self) -> None:
        self._text.save()

    @property
    def known_rows(self) -> list[KnownRows]:
        return [self._text.known_rows] if self._text.known_rows else []

    def _guess(self) -> Array:
        text = self._text
        logits = self._head.no_states
        for piece in text.pieces:
            logits = self._head.guess(text.following[: len(piece)], piece, text.cache)
        text.settle()
        return logits

    def _best(self, logits: Array, allowed: Allowed | None = None) -> Guesses:
        return self._head.best(logits, BRANCH, allowed)

    @property
    def _vocabulary(self) -> int:
        return self._head.vocabulary
