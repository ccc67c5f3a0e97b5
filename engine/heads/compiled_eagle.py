"""An EAGLE-3 head beside a compiled target: compiled as the target is, its weights rounded to eight bits.

A head proposes, so rounding its weights changes how often a guess is right, never the text.
"""

from collections.abc import Mapping

import numpy as np

from engine.compiled.eagle import CompiledEagle, EagleWeights
from engine.compiled.instructions import LANES
from engine.compiled.layout import BLOCK
from engine.compiled.matrix import quantized
from engine.compiled.pool import shared_pool
from engine.compiled.program import DecoderShape, Layer
from engine.compiled.table import Floats
from engine.heads.compiled_layer import CompiledLayerHead
from engine.heads.files import HeadsFile
from engine.heads.fit import check_fit, known_tokens, levels, masked_guesses, settings_of, target_ids
from engine.heads.interface import Allowed, Guesses, guesses
from engine.model.compiled import CompiledModel
from engine.model.description import Description, described
from engine.model.rotary import RotaryFactors

_SHARED = "embed_tokens.weight"  # a copy of the target's, used in training
_LAYER = "midlayer"
_MATRICES = {
    "fuse": "fc.weight",
    "head": "lm_head.weight",
    **{name: f"{_LAYER}.self_attn.{name}_proj.weight" for name in "qkvo"},
    **{name: f"{_LAYER}.mlp.{name}_proj.weight" for name in ("gate", "up", "down")},
}
_NORMS = {
    "last": "norm.weight",
    "embedding": f"{_LAYER}.input_layernorm.weight",
    "state": f"{_LAYER}.hidden_norm.weight",
    "feed": f"{_LAYER}.post_attention_layernorm.weight",
}


def covers(file: HeadsFile, target: CompiledModel) -> bool:
    """Return whether compiled steps compute all that the head does."""
    if file.kind != "eagle3":
        return False
    head = _description(file)
    if file.tensors.keys() - {"d2t", "t2d", _SHARED} != {*_MATRICES.values(), *_NORMS.values()}:
        return False
    if head.width != target.width or head.activation != "silu":
        return False
    shapes = _shapes(head, len(target_ids(file, head.rows)))
    if any(tuple(file.tensors[name].shape) != shapes[key] for key, name in _MATRICES.items()):
        return False
    sizes = (head.width, head.inner, head.head_width)
    whole = not any(rows % LANES for key, (rows, _) in shapes.items() if key != "head")
    return whole and not any(size % BLOCK for size in sizes)


def _description(file: HeadsFile) -> Description:
    return described(file.path.name, "llama", settings_of(file))


def _shapes(head: Description, tokens: int) -> dict[str, tuple[int, int]]:
    """Return the shapes that the matrices should have. tokens: those that the head can guess."""
    width, inner = head.width, head.inner
    queries, keys = head.heads * head.head_width, head.kv_heads * head.head_width
    return {
        **{"q": (queries, 2 * width), "k": (keys, 2 * width), "v": (keys, 2 * width), "o": (width, queries)},
        **{"gate": (inner, width), "up": (inner, width), "down": (width, inner)},
        **{"fuse": (width, 3 * width), "head": (tokens, width)},
    }


class CompiledEagleHead(CompiledLayerHead):
    """An EAGLE-3 head bound to a compiled target."""

    def __init__(self, file: HeadsFile, target: CompiledModel, context: int) -> None:
        """Raises BadCheckpoint or VocabularyMismatch if the head does not fit the target."""
        head = _description(file)
        check_fit(file, head.rows, head.width, target)
        read = {name: tensor.read for name, tensor in file.tensors.items()}
        matrices = {key: quantized(read[name]().astype(np.float32)) for key, name in _MATRICES.items()}
        norms = {key: read[name]().astype(np.float32) for key, name in _NORMS.items()}
        rotary = RotaryFactors(head.rotary, context)
        shape = DecoderShape(
            *(head.width, head.inner, head.heads, head.kv_heads),
            *(head.head_width, head.epsilon, head.query_scale, rotary.pairs),
        )
        layer = Layer(
            *(norms["embedding"], [matrices[name] for name in "qkv"], [matrices["o"]]),
            *(norms["feed"], [matrices["gate"], matrices["up"]], [matrices["down"]]),
        )
        weights = EagleWeights(matrices["fuse"], layer, norms["state"], norms["last"], matrices["head"])
        self._eagle = CompiledEagle(shape, weights, shared_pool())
        super().__init__(self._eagle, shape, rotary, target, context)
        self._ids = target_ids(file, head.rows)
        self.hidden_layers = levels(file, target.layers)
        self.parameters = sum(matrix.shape[0] * matrix.shape[1] for matrix in matrices.values())
        self.parameters += sum(norm.size for norm in norms.values())
        self.nbytes = sum(matrix.nbytes for matrix in matrices.values())
        self.nbytes += sum(norm.nbytes for norm in norms.values())
        self.nbytes += self.new_cache().nbytes

    def fuse(self, hidden: Mapping[int, Floats]) -> Floats:
        return self._eagle.fuse(np.concatenate([hidden[layer] for layer in self.hidden_layers], axis=1))

    def best(self, states: Floats, count: int, allowed: Allowed | None = None) -> Guesses:
        logits = masked_guesses(self._eagle.logits(states), allowed, self._ids)
        return known_tokens(guesses(logits, count), self._ids, self.vocabulary)
