"""Lookahead decoding (arXiv 2402.02057): the target guesses ahead of itself in rows that ride along in its
own pass, and the n-grams it makes there become trees.

Jacobi iteration: lane i holds guesses at tokens i, i + 1, … behind the root; each pass gives every lane one
more token, and a lane of N tokens is an n-gram for the pool. Where the paper checks the pool's n-grams that
begin with the root side by side, they are merged into one tree here, together with those that begin up to
N - 2 tokens earlier; where an n-gram ends, others go on.

The paper gives both branches about as many rows of a pass: (N - 1) W to the lanes, (N - 1) G to the pool's
n-grams, W = G. So here: as many rows beside the tree as its budget has nodes, up to the paper's W lanes.
Whoever sets the budget by what a row costs (next to nothing while the link is the bound, much on a CPU) sets
the lanes too.
"""

import random
from collections import OrderedDict
from collections.abc import Iterator
from collections.abc import Sequence as Ids

import numpy as np
import torch

from engine.drafting.lookup import Found, LookupDrafter
from engine.drafting.protocol import Lanes, Limits, Said
from engine.model import Watch
from engine.sampling import Sampler
from engine.sequence import common_prefix
from engine.tree import SOURCE_LOOKAHEAD

# The paper's choice for a 7B model.
NGRAM = 5  # N
MOST_LANES = 15  # W
MOST_PER_TOKEN = 15  # G

FIRST_TOKENS = 16384  # of the pool; the least lately used go first

Ngram = tuple[int, ...]


class Pool:
    """n-grams by their first token: the latest MOST_PER_TOKEN of each, of the latest FIRST_TOKENS tokens."""

    def __init__(self) -> None:
        self._ngrams: OrderedDict[int, OrderedDict[Ngram, None]] = OrderedDict()

    def add(self, ngram: Ngram) -> None:
        same = self._ngrams.setdefault(ngram[0], OrderedDict())
        self._ngrams.move_to_end(ngram[0])
        same[ngram] = None
        same.move_to_end(ngram)
        if len(same) > MOST_PER_TOKEN:
            same.popitem(last=False)
        if len(self._ngrams) > FIRST_TOKENS:
            self._ngrams.popitem(last=False)

    def add_text(self, tokens: Ids[int]) -> None:
        """Every n-gram of a text."""
        for ngram in zip(*(tokens[start:] for start in range(NGRAM)), strict=False):
            self.add(ngram)

    def beginning(self, tokens: Ngram) -> Iterator[Ngram]:
        """Those that begin with `tokens`, the latest first."""
        same = self._ngrams.get(tokens[0], ())
        return (ngram for ngram in reversed(same) if ngram[: len(tokens)] == tokens)


class Window:
    """W lanes of N - 1 tokens each, the first of lane i at i tokens behind the root; that of lane 0 is the
    root.

    The mask is the paper's (figure 2b): a row sees what stands before it in its lane, and the first tokens of
    the lanes before, which are its lane's past: one row for each position up to its own.
    """

    def __init__(self) -> None:
        self._lanes: list[list[int]] = []
        self._random = random.Random(0)

    def fit(self, count: int, context: Ids[int]) -> None:
        """Have `count` lanes behind the end of `context`. New ones, farthest from the root, guess that some
        of the context stands there again."""
        del self._lanes[count:]
        while len(self._lanes) < count:
            start = self._random.randrange(len(context))
            self._lanes.append([context[(start + step) % len(context)] for step in range(NGRAM - 1)])
        if self._lanes:
            self._lanes[0][0] = context[-1]

    def rows(self) -> Lanes:
        """Lane by lane, without the root."""
        tokens = [token for lane in self._lanes for token in lane][1:]
        lane, step = np.divmod(np.arange(1, len(tokens) + 1), NGRAM - 1)
        past = (step == 0) & (lane < lane[:, None])
        visible = past | (lane == lane[:, None]) & (step <= step[:, None])
        return Lanes(
            torch.tensor(tokens, dtype=torch.int64), torch.from_numpy(lane + step), torch.from_numpy(visible)
        )

    def slide(self, next_tokens: Ids[int], committed: int) -> list[Ngram]:
        """next_tokens: what the target says behind each row; committed: by how many tokens the root moves.
        The n-grams that are complete now."""
        ngrams = [
            (*lane, token)
            for lane, token in zip(self._lanes, next_tokens[NGRAM - 3 :: NGRAM - 1], strict=True)
        ]
        self._lanes = [list(ngram[1:]) for ngram in ngrams[committed - 1 :]]
        return ngrams


class LookaheadDrafter(LookupDrafter[Ngram]):
    """The pool outlives answers and edits: what one taught, the next one uses."""

    name = "lookahead"
    defaults = Limits(budget=32, beams=8, depth=12)

    def __init__(self) -> None:
        super().__init__(NGRAM - 1, SOURCE_LOOKAHEAD)
        self._context: list[int] = []
        self._pool = Pool()
        self._window = Window()

    def begin(self, context: Ids[int], sampler: Sampler, watch: Watch) -> None:
        known = common_prefix(self._context, context)
        self._context = list(context)
        self._pool.add_text(self._context[max(0, known - NGRAM + 1) :])
        self._window = Window()

    def plant(self, limits: Limits) -> None:
        super().plant(limits)
        self._window.fit(min(MOST_LANES, limits.budget // (NGRAM - 1)), self._context)

    def lanes(self) -> Lanes:
        return self._window.rows()

    def advance(self, tokens: Ids[int], said: Said) -> None:
        super().advance(tokens, said)
        if len(said.lanes):
            for ngram in self._window.slide(said.lanes.tolist(), len(tokens)):
                self._pool.add(ngram)
        self._context.extend(tokens)
        self._pool.add_text(self._context[-len(tokens) - NGRAM + 1 :])

    def rewind(self, length: int) -> None:
        del self._context[length:]

    def _at_root(self) -> Ngram:
        return tuple(self._context[1 - NGRAM :])

    def _find(self, tail: Ngram) -> Found:
        """tail: the tokens before, at most N - 1."""
        levels: dict[int, int] = {}
        votes: dict[int, float] = {}
        for length in range(len(tail), 0, -1):
            for age, ngram in enumerate(self._pool.beginning(tail[-length:])):
                token = ngram[length]
                levels.setdefault(token, length)
                votes[token] = votes.get(token, 0.0) + 1 / (1 + age)
        return Found(
            np.asarray(list(levels), np.int64),
            np.asarray(list(levels.values()), np.int64),
            np.asarray(list(votes.values()), np.float64),
        )

    def _follow(self, tail: Ngram, token: int) -> Ngram:
        return (*tail, token)[1 - NGRAM :]
