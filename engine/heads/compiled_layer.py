"""The base of compiled heads that have one decoder layer: its rows lie in a cache of their own."""

from typing import Protocol

import numpy as np

from engine.compiled.program import DecoderShape, Seen
from engine.compiled.table import Floats
from engine.heads.interface import EagleHead
from engine.model.compiled import CompiledModel, seen_slots
from engine.model.kv_cache import HostCache, KVCache
from engine.model.rotary import RotaryFactors
from engine.model.rows import Rows


class Guesser(Protocol):
    """A program that guesses the next states. Attributes: as those of `engine.compiled.mtp.CompiledMtp`."""

    rows: int
    embeddings: Floats
    states: Floats

    def bind(self, store: int, slots: int) -> None: ...

    def guess(self, rows: int, seen: Seen, rotary: Floats) -> Floats: ...


class CompiledLayerHead(EagleHead):
    """A head of one decoder layer that is bound to a compiled target."""

    layers = 1

    def __init__(
        self,
        guesser: Guesser,
        shape: DecoderShape,
        rotary: RotaryFactors,
        target: CompiledModel,
        context: int,
    ) -> None:
        """shape: of the layer. context: maximum number of tokens in a text."""
        self._guesser, self._shape, self._rotary = guesser, shape, rotary
        self._target, self._context = target, context
        self._bound: HostCache | None = None
        self.vocabulary = target.vocabulary
        self.no_states = np.empty((0, shape.width), np.float32)

    def new_cache(self) -> HostCache:
        return HostCache([(self._shape.kv_heads, self._shape.cache_row_nbytes)], self._context)

    def forward(self, rows: Rows, states: Floats, cache: KVCache) -> Floats:
        assert isinstance(cache, HostCache)
        count, guesser = len(rows), self._guesser
        cache.reserve(count)
        if self._bound is not cache:
            guesser.bind(cache.address, cache.slots)
            self._bound = cache
        tokens, positions = rows.tokens, rows.positions
        tail = positions[:0]
        if rows.visible is not None and cache.tail:  # only their order matters: ancestors come first
            tail = np.full(cache.tail, positions.min() - 1)
        seen = seen_slots(rows, tail, cache)
        guessed = []
        for start in range(0, count, guesser.rows):
            stop = min(start + guesser.rows, count)
            self._target.embed_into(tokens[start:stop], guesser.embeddings[: stop - start])
            guesser.states[: stop - start] = states[start:stop]
            rotary = self._rotary.at(positions[start:stop])
            guessed.append(guesser.guess(stop - start, seen.piece(start, stop), rotary))
        cache.extend_tail(count)
        return guessed[0] if len(guessed) == 1 else np.concatenate(guessed)
