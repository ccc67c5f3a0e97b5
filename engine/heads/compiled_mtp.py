"""The layer for multi-token prediction (MTP) beside a compiled target: a decoder layer of the target's
family, compiled as those of the target are, with its weights as they are stored.

What it computes, and how that is known, stands in `engine.torch_model.mtp`.
"""

from collections.abc import Mapping
from dataclasses import replace

from engine.arrays import masked
from engine.checkpoints import Checkpoint, Weight
from engine.checkpoints.drafts import EMBEDDING_NORM, JOIN, LAST_NORM, LAYER, STATE_NORM
from engine.checkpoints.grouped import without_plain_indices
from engine.compiled.joined import JoinedLayers, JoinedWeights
from engine.compiled.pool import shared_pool
from engine.compiled.table import Floats
from engine.heads.compiled_layer import CompiledLayerHead
from engine.heads.interface import Allowed, Guesses, guesses
from engine.model.compiled import CompiledModel, layers_of
from engine.model.compiled_weights import CompiledWeights, read_weights
from engine.model.coverage import covers, declared
from engine.model.description import Description, describe
from engine.model.interface import no_progress
from engine.model.loader import prepare_compiled
from engine.model.rotary import RotaryFactors
from engine.model.weight_names import EMBEDDING, HEAD, checked_weights, expected_weights, usual_names

_JOINS = {name: f"{name}.weight" for name in (EMBEDDING_NORM, STATE_NORM, JOIN)}
_LAST_NORM = "model.norm.weight"


def load_compiled_mtp(layer: Checkpoint, target: CompiledModel, context: int) -> "CompiledMtpHead | None":
    """Bind the layer to its target. Return None if compiled steps do not cover it.

    layer: as `engine.checkpoints.drafts.draft_layer` returns it. context: maximum number of tokens in a text.
    Raises BadCheckpoint if a weight is missing, does not belong to the layer or has another shape.
    """
    description = describe(layer)
    if not declared(description):
        return None
    weights = _named_as_a_model(layer, description)
    if not covers(description, weights):
        return None
    prepare_compiled(layer)
    read = read_weights(weights, False, None, no_progress, no_progress)
    if read is None:
        return None
    parameters = sum(weight.numel for weight in layer.weights.values())
    return CompiledMtpHead(description, read, parameters, target, context)


def _named_as_a_model(layer: Checkpoint, description: Description) -> dict[str, Weight]:
    """Return the weights, checked, as a model with a single layer would call them, with the norms and the
    matrix before that layer."""
    width = description.width
    expected = expected_weights(description)
    del expected[EMBEDDING], expected[HEAD]
    expected |= {_JOINS[EMBEDDING_NORM]: (width,), _JOINS[STATE_NORM]: (width,)}
    expected[_JOINS[JOIN]] = (width, 2 * width)
    body = (LAYER, f"{LAST_NORM}.")
    named = {
        f"model.{name}" if name.startswith(body) else name: weight for name, weight in layer.weights.items()
    }
    weights, _ = checked_weights(replace(layer, weights=named), expected, tied=False)
    return without_plain_indices(usual_names(layer.architecture, weights))


class CompiledMtpHead(CompiledLayerHead):
    """An MTP layer bound to a compiled target, whose embedding and output head it uses."""

    def __init__(
        self,
        description: Description,
        weights: CompiledWeights,
        parameters: int,
        target: CompiledModel,
        context: int,
    ) -> None:
        """weights: as a model with a single layer would call them. parameters: their number."""
        rotary = RotaryFactors(description.rotary, context)
        shape, (layer,), vectors = layers_of(description, rotary, weights)
        of_layer = JoinedWeights(
            vectors[_JOINS[EMBEDDING_NORM]],
            vectors[_JOINS[STATE_NORM]],
            weights.matrices[_JOINS[JOIN]],
            [layer],
            vectors[_LAST_NORM],
        )
        super().__init__(JoinedLayers(shape, of_layer, shared_pool()), shape, rotary, target, context)
        self._head = target.output_head()
        self.hidden_layers = (target.layers,)
        self.parameters = parameters
        self.nbytes = weights.nbytes + self._head.nbytes + self.new_cache().nbytes

    def fuse(self, hidden: Mapping[int, Floats]) -> Floats:
        return hidden[self.hidden_layers[0]]

    def best(self, states: Floats, count: int, allowed: Allowed | None = None) -> Guesses:
        logits = self._head(states)
        return guesses(logits if allowed is None else masked(logits, allowed), count)
