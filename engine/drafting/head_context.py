"""The committed text of a head with a KV cache.

A head's row for a token is computed from the target's state there and, in EAGLE heads, from the token behind
it. States arrive from the target's passes and wait until the head runs. Rows of other texts are in the prompt
cache: a block of them depends on the tokens up to the one behind it.
"""

from collections.abc import Sequence as Ids
from itertools import pairwise

from engine.arrays import Array, namespace
from engine.drafting.protocol import Feedback
from engine.heads import CachedHead
from engine.model.sequence import common_prefix
from engine.planner.run_rows import HEAD_ROWS


class HeadContext:
    """Attributes: `cache`, whose slot i has the target's state at token i, perhaps combined with token i + 1;
    `tokens`, the committed ones, ending with the root; `states`, [tokens, width], the target's at tokens not
    yet in the cache; `known_rows`, what is kept of texts that were in this cache before, or None."""

    def __init__(self, head: CachedHead) -> None:
        self._head = head
        self.cache = head.new_cache()
        self.known_rows = head.known_beside(self.cache) if head.known_beside else None
        self.tokens: list[int] = []
        self.states: Array = head.no_states

    @property
    def known(self) -> int:
        """Number of tokens at the start of the text whose target states are known."""
        return self.cache.length + len(self.states)

    @property
    def following(self) -> list[int]:
        """The token behind each of those that are not yet in the cache."""
        return self.tokens[self.cache.length + 1 :]

    @property
    def pieces(self) -> list[Array]:
        """The states in pieces for one run of the head each."""
        starts = range(0, max(1, len(self.states)), HEAD_ROWS)
        return [self.states[start : start + HEAD_ROWS] for start in starts]

    def covers(self, context: Ids[int]) -> int:
        """As `Drafter.covers`. Takes rows of `context` from the prompt cache, and keeps there those of
        another text."""
        self._take_up(context)
        return self._covered(context)

    def save(self) -> None:
        """As `Drafter.save`."""
        if self.known_rows:
            self.known_rows.save(_pairs(self.tokens)[: self.cache.length], self.cache)

    def _covered(self, context: Ids[int]) -> int:
        common = common_prefix(self.tokens, context)
        # A slot also depends on the next token; if that token differs, the state is needed again.
        return min(common, self.known) if common > self.cache.length else max(0, common - 1)

    def _take_up(self, context: Ids[int]) -> None:
        known = self.known_rows
        if known is None:
            return
        kept = min(self._covered(context), self.cache.length)
        if kept < self.cache.length:
            known.put(_pairs(self.tokens)[: self.cache.length], kept, self.cache)
        self.rewind(common_prefix(self.tokens, context))
        found = known.restore(_pairs(context[: self.cache.capacity]), self.cache.length, self.cache)
        if found > self.known:  # more than the states that wait will give
            self.cache.adopt(found - self.cache.length)
            self.settle()
            self.tokens = list(context[: found + 1])

    def begin(self, context: Ids[int]) -> None:
        """Keep what is known of `context`, whose last token is the root."""
        self.rewind(common_prefix(self.tokens, context[:-1]))
        self.tokens = list(context)

    def read(self, feedback: Feedback) -> None:
        """Take the target's states at the prompt."""
        fused = self._head.fuse(feedback.hidden)
        first = len(self.tokens) - 1 - len(fused)
        self.states = _joined(self.states, fused[self.known - first :])

    def advance(self, tokens: Ids[int], feedback: Feedback) -> None:
        """Take the committed tokens and the target's states before each; drop the cache's tail."""
        rows = feedback.path[: len(tokens)]
        fused = self._head.fuse({layer: states[rows] for layer, states in feedback.hidden.items()})
        self.states = _joined(self.states, fused)
        self.cache.keep([])
        self.tokens.extend(tokens)

    def rewind(self, length: int) -> None:
        """Drop everything known about tokens after the first `length`."""
        known = self._covered(self.tokens[:length])
        self.cache.truncate(min(known, self.cache.length))
        self.states = self.states[: known - self.cache.length]
        del self.tokens[length:]

    def settle(self) -> None:
        """Forget the states, which are in the cache by now."""
        self.states = self.states[:0]


def _pairs(tokens: Ids[int]) -> list[int]:
    """Return a number for each token and the one behind it, one less than there are tokens."""
    return [token << 32 | behind for token, behind in pairwise(tokens)]


def _joined(first: Array, second: Array) -> Array:
    """Return the rows of both, one after the other."""
    return namespace(second).concat([first, second], axis=0)
