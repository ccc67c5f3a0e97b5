"""A head of the first EAGLE, or of Mistral AI, beside a compiled target: compiled as the target is.

What it computes, and how that is known, stands in `engine.torch_model.eagle` and `engine.heads.mistral`.
"""

from collections.abc import Mapping

from engine.arrays import masked
from engine.compiled.joined import JoinedLayers, JoinedWeights
from engine.compiled.pool import shared_pool
from engine.compiled.table import Floats
from engine.heads.compiled_layer import CompiledLayerHead
from engine.heads.files import EMBEDDING, LAST_NORM, HeadsFile
from engine.heads.fit import TargetSizes, check_fit
from engine.heads.interface import Allowed, Guesses, guesses
from engine.heads.packed import PackedTensors, fits, layer_shapes, layers_described, shape_of
from engine.model.compiled import CompiledModel
from engine.model.rotary import RotaryFactors

_JOIN = "fc.weight"


def covers(file: HeadsFile, target: TargetSizes) -> bool:
    """Return whether compiled steps compute all that the head does."""
    if file.kind != "eagle":
        return False
    head = layers_described(file, "llama")
    shapes: dict[str, tuple[int, ...]] = {_JOIN: (head.width, 2 * head.width)}
    for number in range(head.layers):
        shapes |= layer_shapes(head, f"layers.{number}", head.width)
    if LAST_NORM in file.tensors:
        shapes[LAST_NORM] = (head.width,)
    else:
        del shapes["layers.0.input_layernorm.weight"]
    return head.width == target.width and fits(file, head, shapes, (EMBEDDING,))


class CompiledFirstEagleHead(CompiledLayerHead):
    """A head of the first EAGLE bound to a compiled target, whose embedding and output head it uses."""

    def __init__(self, file: HeadsFile, target: CompiledModel, context: int) -> None:
        """Raises BadCheckpoint or VocabularyMismatch if the head does not fit the target."""
        head = layers_described(file, "llama")
        check_fit(file, head.rows, head.width, target)
        tensors, rotary = PackedTensors(file), RotaryFactors(head.rotary, context)
        shape = shape_of(head, rotary)
        weights = JoinedWeights(
            embedding_norm=None,
            state_norm=None,
            join=[tensors.matrix(_JOIN)],
            layers=[tensors.layer(f"layers.{number}") for number in range(head.layers)],
            last_norm=tensors.vector(LAST_NORM) if LAST_NORM in file.tensors else None,
        )
        layers = JoinedLayers(shape, weights, shared_pool())
        super().__init__(layers, shape, rotary, target, context, head.layers)
        self._head = target.output_head()
        self.hidden_layers = (target.layers,)
        self.parameters = tensors.parameters
        self.nbytes = tensors.nbytes + self._head.nbytes + self.new_cache().nbytes

    def fuse(self, hidden: Mapping[int, Floats]) -> Floats:
        return hidden[self.hidden_layers[0]]

    def best(self, states: Floats, count: int, allowed: Allowed | None = None) -> Guesses:
        logits = self._head(states)
        return guesses(logits if allowed is None else masked(logits, allowed), count)
