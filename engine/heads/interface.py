"""The interface of heads: what drafters ask of them, however they are computed."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Array, on_host
from engine.model.kv_cache import KVCache
from engine.model.rows import Rows
from engine.prompt_cache import KnownRows
from engine.sampling import best_tokens

# Token ids and log-probabilities.
Guesses = tuple[NDArray[np.int64], NDArray[np.float32]]
Allowed = NDArray[np.bool_]


def guesses(logits: Array, count: int) -> Guesses:
    """Return the `count` most likely tokens of each row of logits [rows, vocabulary]."""
    tokens, log_probs = best_tokens(logits, count)
    return on_host(tokens), on_host(log_probs)


class Heads(ABC):
    """Heads bound to a target.

    Attributes: `method`, the drafter that uses them; `hidden_layers`, the target's layers whose states they
    read; `layers`, how many heads or decoder layers there are; `parameters`, the number of their parameters;
    `nbytes`, the memory that they take, one cache included.
    """

    method: str
    hidden_layers: tuple[int, ...]
    layers: int
    parameters: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Guessed:
    """What an assistant guesses at some rows. states: [rows, width], the target's next ones. logits: [rows,
    tokens], of the next token. tokens: int64 [rows, tokens], their ids; None: those of the vocabulary."""

    states: Array
    logits: Array
    tokens: NDArray[np.int64] | None


class MedusaHeads(Heads):
    method = "medusa"

    @abstractmethod
    def logits(self, state: Array) -> Array:
        """Return every head's logits, [heads, vocabulary], from the state [width] at one token."""


class CachedHead(Heads):
    """A head with a KV cache. Attributes: `no_states`, an empty array of states, [0, width]; `vocabulary`,
    the number of the target's tokens; `known_beside`, returns what is kept of the texts that were in a cache
    of the head before, or None if nothing is kept."""

    vocabulary: int
    no_states: Array
    known_beside: Callable[[KVCache], KnownRows] | None = None

    @abstractmethod
    def new_cache(self) -> KVCache:
        """Return a cache for one text."""

    @abstractmethod
    def fuse(self, hidden: Mapping[int, Array]) -> Array:
        """Return the states [rows, width] that the head reads. hidden: the target's states, layer -> [rows,
        width]."""


class BlockHead(CachedHead):
    """A head that guesses several tokens in one pass. Attribute: `positions`, how many."""

    positions: int

    @abstractmethod
    def guess(self, tokens: Sequence[int], states: Array, cache: KVCache) -> Array:
        """Return the logits [positions, tokens of the head] of the tokens after the last of `tokens`, the
        nearest first, and commit a row for each state to the cache.

        states: [rows, width], as `fuse` returns them, of the tokens from `cache.length` on. tokens: for each
        state, the token behind its own.
        """

    @abstractmethod
    def best(self, logits: Array, count: int, allowed: Allowed | None = None) -> Guesses:
        """Return the `count` most likely tokens of each row of `guess`'s logits: the target's ids and
        log-probabilities, both [rows, count]. Ids that are not tokens of the target have -inf.

        allowed: bool [rows, target's vocabulary], the tokens that may stand there; None: all may.
        """


class EagleHead(CachedHead):
    """An EAGLE head."""

    method = "eagle"

    @abstractmethod
    def forward(self, rows: Rows, states: Array, cache: KVCache) -> Array:
        """Return the guessed next states [rows, width]; the rows join the cache's tail.

        states: [rows, width], one per row: the target's, as `fuse` returns them, or guessed ones. The token
        of a row is the one that was chosen from its state.
        """

    @abstractmethod
    def best(self, states: Array, count: int, allowed: Allowed | None = None) -> Guesses:
        """Return the `count` most likely tokens after each of the guessed states [rows, width]: ids and
        log-probabilities, both [rows, count]. Ids that are not tokens of the target have -inf.

        allowed: bool [rows, target's vocabulary], the tokens that may follow each state; None: all may.
        """


class AssistantHead(Heads):
    """An assistant of Gemma 4 (`engine.heads.assistant`), whose only rows are the target's. Attribute:
    `vocabulary`, the number of the target's tokens."""

    method = "assistant"
    vocabulary: int

    @abstractmethod
    def read(self, cache: KVCache) -> None:
        """Read the rows that the target has committed, all of the text before the root; `forward` guesses
        behind them until the next call."""

    @abstractmethod
    def forward(self, tokens: NDArray[np.int64], states: Array) -> Guessed:
        """Guess from tokens, int64 [rows], and the states before them [rows, width]: the target's before the
        root, or guessed ones. Rows do not see each other."""

    @abstractmethod
    def best(self, guessed: Guessed, count: int, allowed: Allowed | None = None) -> Guesses:
        """Return the `count` most likely tokens after each guess: ids and log-probabilities, both [rows,
        count]. Ids that are not tokens of the target have -inf.

        allowed: bool [rows, target's vocabulary], the tokens that may follow each guess; None: all may.
        """
