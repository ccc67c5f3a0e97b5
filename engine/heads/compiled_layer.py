"""The base of compiled heads that compute decoder layers: their rows lie in a cache of their own."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from engine.compiled.program import DecoderShape
from engine.compiled.seen import Seen
from engine.compiled.table import Floats, Ints
from engine.heads.interface import EagleHead
from engine.model.compiled import CompiledModel, seen_slots
from engine.model.kv_cache import HostCache, KVCache
from engine.model.rotary import RotaryFactors
from engine.model.rows import Rows

Embed = Callable[[Ints, Floats], None]  # writes the embeddings of tokens, as `CompiledModel.embed_into`


class Guesser(Protocol):
    """A program that guesses the next states. Attributes: as those of
    `engine.compiled.joined.JoinedLayers`."""

    rows: int
    embeddings: Floats
    states: Floats

    def bind(self, places: Sequence[tuple[int, int, int]], slots: int) -> None: ...

    def guess(self, rows: int, seen: Seen, rotary: Floats) -> Floats: ...


class CompiledLayers:
    """The layers of a head, bound to an embedding."""

    def __init__(
        self,
        guesser: Guesser,
        shape: DecoderShape,
        rotary: RotaryFactors,
        embed: Embed,
        slots: int,
        layers: int = 1,
    ) -> None:
        """shape: of a layer. slots: of a cache."""
        self._guesser, self._rotary, self._embed = guesser, rotary, embed
        self._kept, self._slots = [(shape.kv_heads, shape.cache_row_nbytes)] * layers, slots
        self._bound: HostCache | None = None

    def new_cache(self) -> HostCache:
        return HostCache(self._kept, self._slots)

    def forward(self, rows: Rows, states: Floats, cache: KVCache) -> Floats:
        """As `EagleHead.forward`."""
        assert isinstance(cache, HostCache)
        count, guesser = len(rows), self._guesser
        cache.reserve(count)
        if self._bound is not cache:
            guesser.bind(cache.places, cache.slots)
            self._bound = cache
        tokens, positions = rows.tokens, rows.positions
        tail = positions[:0]
        if rows.visible is not None and cache.tail:  # only their order matters: ancestors come first
            tail = np.full(cache.tail, positions.min() - 1)
        seen = seen_slots(rows, tail, cache)
        guessed = []
        for start in range(0, count, guesser.rows):
            stop = min(start + guesser.rows, count)
            self._embed(tokens[start:stop], guesser.embeddings[: stop - start])
            guesser.states[: stop - start] = states[start:stop]
            rotary = self._rotary.at(positions[start:stop])
            guessed.append(guesser.guess(stop - start, seen.piece(start, stop), rotary))
        cache.extend_tail(count)
        return guessed[0] if len(guessed) == 1 else np.concatenate(guessed)


class CompiledLayerHead(EagleHead):
    """A head of decoder layers that is bound to a compiled target."""

    def __init__(
        self,
        guesser: Guesser,
        shape: DecoderShape,
        rotary: RotaryFactors,
        target: CompiledModel,
        context: int,
        layers: int = 1,
    ) -> None:
        """shape: of a layer. context: maximum number of tokens in a text. layers: how many there are."""
        self._layers = CompiledLayers(guesser, shape, rotary, target.embed_into, context, layers)
        self.layers = layers
        self.vocabulary = target.vocabulary
        self.no_states = np.empty((0, shape.width), np.float32)

    def new_cache(self) -> HostCache:
        return self._layers.new_cache()

    def forward(self, rows: Rows, states: Floats, cache: KVCache) -> Floats:
        return self._layers.forward(rows, states, cache)
