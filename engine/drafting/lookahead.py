"""Lookahead decoding (arXiv 2402.02057): the target guesses ahead of itself in additional rows of its own
pass, and the resulting n-grams become trees.

The guesses come from Jacobi iteration: lane i holds guesses at tokens i, i + 1, … after the root; each pass
gives every lane one more token, and a lane of N tokens is an n-gram for the pool. The paper checks, side by
side, the pool's n-grams that begin with the root. Here they are merged into one tree, together with n-grams
that begin up to N - 2 tokens earlier; where one n-gram ends, others continue it.

In the paper, lanes and n-grams get about the same number of rows of a pass: (N - 1) W and (N - 1) G, with
W = G. Accordingly, here the lanes get as many rows as the tree's budget has nodes, up to the paper's W lanes.
A rule that sets the budget by the cost of a row (almost zero while the link is the bottleneck, high on
a CPU) thereby sets the number of lanes too.
"""

import random
from collections import OrderedDict
from collections.abc import Iterator
from collections.abc import Sequence as Ids

import numpy as np

from engine.drafting.lookup import Continuations, LookupDrafter
from engine.drafting.protocol import Feedback, Lanes, TreeLimits
from engine.model.interface import Progress
from engine.model.sequence import common_prefix
from engine.sampling import Sampler
from engine.tree import SOURCE_LOOKAHEAD

# The paper's values for a 7B model.
NGRAM = 5  # N
MAX_LANES = 15  # W
MAX_PER_TOKEN = 15  # G

FIRST_TOKENS = 16384  # maximum number of first tokens in the pool; the least recently used are dropped

Ngram = tuple[int, ...]


class Pool:
    """A store of n-grams by their first token: keeps the latest MAX_PER_TOKEN n-grams for each of the latest
    FIRST_TOKENS first tokens."""

    def __init__(self) -> None:
        self._ngrams: OrderedDict[int, OrderedDict[Ngram, None]] = OrderedDict()

    def add(self, ngram: Ngram) -> None:
        same = self._ngrams.setdefault(ngram[0], OrderedDict())
        self._ngrams.move_to_end(ngram[0])
        same[ngram] = None
        same.move_to_end(ngram)
        if len(same) > MAX_PER_TOKEN:
            same.popitem(last=False)
        if len(self._ngrams) > FIRST_TOKENS:
            self._ngrams.popitem(last=False)

    def add_text(self, tokens: Ids[int]) -> None:
        """Add every n-gram of a text."""
        for ngram in zip(*(tokens[start:] for start in range(NGRAM)), strict=False):
            self.add(ngram)

    def beginning(self, tokens: Ngram) -> Iterator[Ngram]:
        """Yield the n-grams that begin with `tokens`, the latest first."""
        same = self._ngrams.get(tokens[0], ())
        return (ngram for ngram in reversed(same) if ngram[: len(tokens)] == tokens)


class LookaheadWindow:
    """W lanes of N - 1 tokens each. The first token of lane i is i tokens after the root, so lane 0 begins
    with the root itself.

    The mask is the paper's (figure 2b). A row sees the earlier rows of its lane, and the first tokens of
    earlier lanes, which are the past of its lane. So it sees one row for each position up to its own.
    """

    def __init__(self) -> None:
        self._lanes: list[list[int]] = []
        self._random = random.Random(0)

    def fit(self, count: int, context: Ids[int]) -> None:
        """Change the number of lanes to `count`, at the end of `context`. New lanes are added farthest from
        the root; the first guess of each is that a random part of the context repeats there."""
        del self._lanes[count:]
        while len(self._lanes) < count:
            start = self._random.randrange(len(context))
            self._lanes.append([context[(start + step) % len(context)] for step in range(NGRAM - 1)])
        if self._lanes:
            self._lanes[0][0] = context[-1]

    def rows(self) -> Lanes:
        """Return the rows of all lanes, one lane after another, without the root."""
        tokens = [token for lane in self._lanes for token in lane][1:]
        lane, step = np.divmod(np.arange(1, len(tokens) + 1), NGRAM - 1)
        past = (step == 0) & (lane < lane[:, None])
        visible = past | (lane == lane[:, None]) & (step <= step[:, None])
        return Lanes(np.array(tokens, np.int64), lane + step, visible)

    def slide(self, next_tokens: Ids[int], committed: int) -> list[Ngram]:
        """Move the lanes with the root and return the n-grams that are now complete.

        next_tokens: the target's best next token at each row; committed: number of tokens by which the root
        moves.
        """
        ngrams = [
            (*lane, token)
            for lane, token in zip(self._lanes, next_tokens[NGRAM - 3 :: NGRAM - 1], strict=True)
        ]
        self._lanes = [list(ngram[1:]) for ngram in ngrams[committed - 1 :]]
        return ngrams


class LookaheadDrafter(LookupDrafter[Ngram]):
    """Drafts from a pool of n-grams, which it collects from the text and from the lanes. The pool is kept
    across answers and edits, so that later answers can use n-grams from earlier ones."""

    name = "lookahead"
    defaults = TreeLimits(budget=32, beams=8, depth=12)

    def __init__(self) -> None:
        super().__init__(NGRAM - 1, SOURCE_LOOKAHEAD)
        self._context: list[int] = []
        self._pool = Pool()
        self._window = LookaheadWindow()

    def begin(self, context: Ids[int], sampler: Sampler, progress: Progress) -> None:
        super().begin(context, sampler, progress)
        known = common_prefix(self._context, context)
        self._context = list(context)
        self._pool.add_text(self._context[max(0, known - NGRAM + 1) :])
        self._window = LookaheadWindow()

    def plant(self, limits: TreeLimits) -> None:
        super().plant(limits)
        self._window.fit(min(MAX_LANES, limits.budget // (NGRAM - 1)), self._context)

    def lanes(self) -> Lanes:
        return self._window.rows()

    def advance(self, tokens: Ids[int], feedback: Feedback) -> None:
        super().advance(tokens, feedback)
        if len(feedback.lanes):
            for ngram in self._window.slide(feedback.lanes.tolist(), len(tokens)):
                self._pool.add(ngram)
        self._context.extend(tokens)
        self._pool.add_text(self._context[-len(tokens) - NGRAM + 1 :])

    def rewind(self, length: int) -> None:
        del self._context[length:]

    def _at_root(self) -> Ngram:
        return tuple(self._context[1 - NGRAM :])

    def _find(self, tail: Ngram) -> Continuations:
        """Return the tokens that follow `tail` in the pool. tail: the preceding tokens, at most N - 1."""
        levels: dict[int, int] = {}
        votes: dict[int, float] = {}
        for length in range(len(tail), 0, -1):
            for age, ngram in enumerate(self._pool.beginning(tail[-length:])):
                token = ngram[length]
                levels.setdefault(token, length)
                votes[token] = votes.get(token, 0.0) + 1 / (1 + age)
        return Continuations(
            np.asarray(list(levels), np.int64),
            np.asarray(list(levels.values()), np.int64),
            np.asarray(list(votes.values()), np.float64),
        )

    def _follow(self, tail: Ngram, token: int) -> Ngram:
        return (*tail, token)[1 - NGRAM :]
