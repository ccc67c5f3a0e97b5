"""An EAGLE-3 head beside a compiled target: compiled as the target is."""

from collections.abc import Mapping

import numpy as np

from engine.compiled.eagle import CompiledEagle, EagleWeights
from engine.compiled.pool import shared_pool
from engine.compiled.table import Floats
from engine.heads.compiled_layer import CompiledLayerHead
from engine.heads.files import EMBEDDING, HeadsFile
from engine.heads.fit import (
    TargetSizes,
    check_fit,
    known_tokens,
    levels,
    masked_guesses,
    norms_before_residual,
    settings_of,
    target_ids,
)
from engine.heads.interface import Allowed, Guesses, guesses
from engine.heads.packed import PackedTensors, Shapes, fits, layer_shapes, shape_of
from engine.model.compiled import CompiledModel
from engine.model.description import Description, described
from engine.model.rotary import RotaryFactors

FIRST = "midlayer"
TABLES = ("d2t", "t2d")


def covers(file: HeadsFile, target: TargetSizes) -> bool:
    """Return whether compiled steps compute all that the head does."""
    if file.kind != "eagle3":
        return False
    head = _description(file)
    unused = (*TABLES, EMBEDDING)  # a copy of the target's embedding, used in training
    return head.width == target.width and fits(file, head, eagle_shapes(file, head, target.width), unused)


def _description(file: HeadsFile) -> Description:
    return described(file.path.name, "llama", settings_of(file))


def eagle_shapes(file: HeadsFile, head: Description, width: int) -> Shapes:
    """Return the shapes of all tensors but tables, if there is one layer. width: of the target's states."""
    return {
        **layer_shapes(head, FIRST, 2 * head.width),
        **{f"{FIRST}.hidden_norm.weight": (head.width,), "norm.weight": (head.width,)},
        "fc.weight": (head.width, 3 * width),
        "lm_head.weight": (len(target_ids(file, head.rows)), head.width),
    }


def eagle_weights(tensors: PackedTensors, layers: int, normed: bool) -> EagleWeights:
    """Return the weights of so many layers. normed: as `norms_before_residual` returns it."""
    others = [tensors.layer(f"layers.{number}") for number in range(1, layers)]
    return EagleWeights(
        fuse=tensors.matrix("fc.weight"),
        layers=[tensors.layer(FIRST), *others],
        state_norm=tensors.vector(f"{FIRST}.hidden_norm.weight"),
        last_norm=tensors.vector("norm.weight"),
        head=tensors.matrix("lm_head.weight"),
        normed=normed,
    )


class CompiledEagleHead(CompiledLayerHead):
    """An EAGLE-3 head bound to a compiled target."""

    def __init__(self, file: HeadsFile, target: CompiledModel, context: int) -> None:
        """Raises BadCheckpoint or VocabularyMismatch if the head does not fit the target."""
        head = _description(file)
        check_fit(file, head.rows, head.width, target)
        tensors, rotary = PackedTensors(file), RotaryFactors(head.rotary, context)
        shape = shape_of(head, rotary)
        weights = eagle_weights(tensors, 1, norms_before_residual(file))
        self._eagle = CompiledEagle(shape, weights, shared_pool())
        super().__init__(self._eagle, shape, rotary, target, context)
        self._ids = target_ids(file, head.rows)
        self.hidden_layers = levels(file, target.layers)
        self.parameters = tensors.parameters
        self.nbytes = tensors.nbytes + self.new_cache().nbytes

    def fuse(self, hidden: Mapping[int, Floats]) -> Floats:
        return self._eagle.fuse(np.concatenate([hidden[layer] for layer in self.hidden_layers], axis=1))

    def best(self, states: Floats, count: int, allowed: Allowed | None = None) -> Guesses:
        logits = masked_guesses(self._eagle.logits(states), allowed, self._ids)
        return known_tokens(guesses(logits, count), self._ids, self.vocabulary)
