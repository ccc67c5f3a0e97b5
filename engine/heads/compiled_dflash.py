"""A DFlash head beside a compiled target: compiled as the target is.

What it computes, and how that is known, stands in `engine.torch_model.dflash`.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from engine.arrays import masked
from engine.compiled.dflash import CompiledDFlash, DFlashWeights
from engine.compiled.pool import shared_pool
from engine.compiled.seen import Seen
from engine.compiled.table import Floats
from engine.errors import BadCheckpoint
from engine.heads.dflash import DFlashSettings, dflash_settings
from engine.heads.files import HeadsFile
from engine.heads.fit import OTHER, TargetSizes, check_fit
from engine.heads.interface import Allowed, BlockHead, Guesses, guesses
from engine.heads.packed import PackedTensors, fits, layer_shapes, layers_described, shape_of
from engine.model.compiled import CompiledModel
from engine.model.description import Description
from engine.model.kv_cache import HostCache, KVCache
from engine.model.rope_parameters import SLIDING
from engine.model.rotary import RotaryFactors
from engine.planner.run_rows import RUN_ROWS

Sight = tuple[bool, int | None]  # whether a row sees only itself and earlier ones; the window, or None


def covers(file: HeadsFile, target: TargetSizes) -> bool:
    """Return whether compiled steps compute all that the head does."""
    if file.kind != "dflash":
        return False
    settings, head = dflash_settings(file, target.layers), layers_described(file, "qwen3")
    width = head.width
    shapes = {
        "fc.weight": (width, len(settings.hidden_layers) * width),
        **{f"{name}.weight": (width,) for name in ("hidden_norm", "norm")},
    }
    for number in range(head.layers):
        shapes |= layer_shapes(head, f"layers.{number}", width)
    return width == target.width and settings.block <= RUN_ROWS and fits(file, head, shapes)


class CompiledDFlashHead(BlockHead):
    """A DFlash head bound to a compiled target, whose embedding and output head it uses."""

    method = "dflash"

    def __init__(self, file: HeadsFile, target: CompiledModel, context: int) -> None:
        """Raises BadCheckpoint, UnsupportedModel or VocabularyMismatch if the head does not fit the
        target."""
        head = layers_described(file, "qwen3")
        check_fit(file, head.rows, head.width, target)
        settings = dflash_settings(file, target.layers)
        self._block, self._target = settings.block, target
        self._slots = context + settings.block  # a block begins at the last token of a full context
        tensors, self._rotary = PackedTensors(file), RotaryFactors(head.rotary, context)
        self._shape = shape_of(head, self._rotary)
        weights = DFlashWeights(
            fuse=tensors.matrix("fc.weight"),
            fused_norm=tensors.vector("hidden_norm.weight"),
            layers=[tensors.layer(f"layers.{number}") for number in range(head.layers)],
            last_norm=tensors.vector("norm.weight"),
        )
        self._flash = CompiledDFlash(self._shape, weights, shared_pool())
        self._sights = _sights(file, head, settings)
        self._mask = _mask_embedding(target, settings.mask)
        self._head = target.output_head()
        self._bound: HostCache | None = None
        self.vocabulary = target.vocabulary
        self.positions = settings.block - 1
        self.layers = head.layers
        self.hidden_layers = settings.hidden_layers
        self.no_states = np.empty((0, head.width), np.float32)
        self.parameters = tensors.parameters
        self.nbytes = tensors.nbytes + self._head.nbytes + self.new_cache().nbytes

    def new_cache(self) -> HostCache:
        return HostCache([(self._shape.kv_heads, self._shape.cache_row_nbytes)] * self.layers, self._slots)

    def fuse(self, hidden: Mapping[int, Floats]) -> Floats:
        return self._flash.fuse(np.concatenate([hidden[layer] for layer in self.hidden_layers], axis=1))

    def guess(self, tokens: Sequence[int], states: Floats, cache: KVCache) -> Floats:
        assert isinstance(cache, HostCache)
        before, block, flash = len(states), self._block, self._flash
        cache.reserve(before + block)
        if self._bound is not cache:
            flash.bind(cache.places, cache.slots)
            self._bound = cache
        root = cache.length + before
        for start in range(0, before, flash.rows):
            piece = states[start : start + flash.rows]
            first = cache.length + start
            flash.read(piece, first, self._rotary.at(np.arange(first, first + len(piece))))
        self._target.embed_into(np.array(tokens[-1:], np.int64), flash.states[:1])
        flash.states[1:block] = self._mask
        seen = {sight: _seen(root, block, *sight) for sight in self._sights}
        rotary = self._rotary.at(np.arange(root, root + block))
        guessed = flash.guess(block, [seen[sight] for sight in self._sights], rotary)
        cache.extend_tail(before + block)
        cache.keep(range(before))  # the block's rows are of guesses
        logits: Floats = self._head(guessed[1:])
        return logits

    def best(self, logits: Floats, count: int, allowed: Allowed | None = None) -> Guesses:
        return guesses(logits if allowed is None else masked(logits, allowed), count)


def _sights(file: HeadsFile, head: Description, settings: DFlashSettings) -> list[Sight]:
    """Return how far the block's rows see in each layer."""
    types = file.config.get("layer_types")
    slides = [each == SLIDING for each in types] if types else [window is not None for window in head.windows]
    causal = [each if settings.causal is None else settings.causal for each in slides]
    return list(zip(causal, head.windows, strict=True))


def _seen(first: int, block: int, causal: bool, window: int | None) -> Seen:
    """Return what the rows of a block see: the text before it and each other, within the window. first: the
    position of the first row, and its slot."""
    positions, end = np.arange(first, first + block), first + block
    stops = positions + (1 if causal else window or block)
    starts = np.zeros(block, np.int64) if window is None else (positions - window + 1).clip(0)
    prefix = 0 if starts.any() else first  # all see the whole text, or each a part of it
    bounds = zip(starts.tolist(), stops.tolist(), strict=True)
    each = [np.arange(max(start, prefix), min(stop, end)) for start, stop in bounds]
    offsets = np.cumsum([0, *map(len, each)])
    return Seen(first, np.full(block, prefix), np.concatenate(each), offsets)


def _mask_embedding(target: CompiledModel, mask: int) -> Floats:
    """Return the embedding [1, width] of the mask token: a row of the target's table that no text uses."""
    try:
        return target.embed(np.array([mask], np.int64))
    except IndexError as error:
        raise BadCheckpoint(
            f"The heads' mask token {mask:,} is not in the target's embedding.", OTHER
        ) from error
