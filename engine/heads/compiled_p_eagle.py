"""A P-EAGLE head beside a compiled target: compiled as the target is.

What it computes, and how that is known, stands in `engine.torch_model.p_eagle`.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from engine.compiled.eagle import CompiledEagle
from engine.compiled.matrix import TiledMatrix
from engine.compiled.pool import shared_pool
from engine.compiled.table import Floats, Ints
from engine.errors import BadCheckpoint
from engine.heads.compiled_eagle import TABLES, eagle_shapes, eagle_weights
from engine.heads.compiled_layer import CompiledLayers, Embed
from engine.heads.files import EMBEDDING, HeadsFile
from engine.heads.fit import (
    OTHER,
    TargetSizes,
    check_fit,
    known_tokens,
    levels,
    masked_guesses,
    norms_before_residual,
    target_ids,
)
from engine.heads.interface import Allowed, BlockHead, Guesses, guesses
from engine.heads.p_eagle import p_eagle_settings
from engine.heads.packed import PackedTensors, fits, layer_shapes, layers_described, shape_of
from engine.model.compiled import CompiledModel
from engine.model.kv_cache import HostCache, KVCache
from engine.model.rotary import RotaryFactors
from engine.model.rows import Rows
from engine.planner.run_rows import RUN_ROWS

_MASKED = "mask_hidden"


def covers(file: HeadsFile, target: TargetSizes) -> bool:
    """Return whether compiled steps compute all that the head does."""
    if file.kind != "p-eagle" or p_eagle_settings(file)[0] > RUN_ROWS:
        return False
    head = layers_described(file, "llama")
    shapes = {**eagle_shapes(file, head, target.width), _MASKED: (1, 1, 3 * target.width)}
    for number in range(1, head.layers):
        shapes |= layer_shapes(head, f"layers.{number}", head.width)
    if EMBEDDING in file.tensors:
        shapes[EMBEDDING] = (head.rows, head.width)
    elif head.width != target.width:
        return False
    return fits(file, head, shapes, TABLES)


class CompiledPEagleHead(BlockHead):
    """A P-EAGLE head bound to a compiled target."""

    method = "p-eagle"

    def __init__(self, file: HeadsFile, target: CompiledModel, context: int) -> None:
        """Raises BadCheckpoint or VocabularyMismatch if the head does not fit the target."""
        self.positions, self._mask = p_eagle_settings(file)
        head = layers_described(file, "llama")
        check_fit(file, head.rows, head.width, target)
        tensors, rotary = PackedTensors(file), RotaryFactors(head.rotary, context)
        shape = shape_of(head, rotary)
        weights = eagle_weights(tensors, head.layers, norms_before_residual(file))
        self._eagle = CompiledEagle(shape, weights, shared_pool())
        embed = target.embed_into
        if EMBEDDING in file.tensors:
            embed = Embedding(tensors.matrix(EMBEDDING)).write
        self._check_mask(embed, head.width)
        slots = context + self.positions  # masks may stand behind a full context
        self._layers = CompiledLayers(self._eagle, shape, rotary, embed, slots, head.layers)
        self._masked = self._eagle.fuse(tensors.vector(_MASKED)[0])
        self._ids = target_ids(file, head.rows)
        self.vocabulary = target.vocabulary
        self.layers = head.layers
        self.hidden_layers = levels(file, target.layers)
        self.no_states = np.empty((0, head.width), np.float32)
        self.parameters = tensors.parameters
        self.nbytes = tensors.nbytes + self.new_cache().nbytes

    def new_cache(self) -> HostCache:
        return self._layers.new_cache()

    def fuse(self, hidden: Mapping[int, Floats]) -> Floats:
        return self._eagle.fuse(np.concatenate([hidden[layer] for layer in self.hidden_layers], axis=1))

    def guess(self, tokens: Sequence[int], states: Floats, cache: KVCache) -> Floats:
        before, masks = len(states), self.positions - 1
        rows = Rows.text([*tokens, *[self._mask] * masks], cache.length)
        inputs = np.concatenate([states, np.repeat(self._masked, masks, axis=0)])
        guessed = self._layers.forward(rows, inputs, cache)
        cache.keep(range(before))
        return self._eagle.logits(guessed[before - 1 :])

    def best(self, logits: Floats, count: int, allowed: Allowed | None = None) -> Guesses:
        logits = masked_guesses(logits, allowed, self._ids)
        return known_tokens(guesses(logits, count), self._ids, self.vocabulary)

    def _check_mask(self, embed: Embed, width: int) -> None:
        try:
            embed(np.array([self._mask], np.int64), np.empty((1, width), np.float32))
        except IndexError as error:
            raise BadCheckpoint(
                f"The heads' mask token {self._mask:,} is not in the embedding that they use.", OTHER
            ) from error


class Embedding:
    """An embedding of a head's own."""

    def __init__(self, table: TiledMatrix) -> None:
        self._table = table

    def write(self, tokens: Ints, states: Floats) -> None:
        """As `CompiledModel.embed_into`."""
        if int(tokens.max()) >= self._table.shape[0]:
            raise IndexError(f"The token {tokens.max()} is not in the embedding.")
        self._table.rows(tokens, states)
