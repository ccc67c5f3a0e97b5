"""An assistant of Gemma 4 beside a compiled target: compiled as the target is, it reads the target's keys and
values where they lie. Its matrices are rounded to eight bits. What an assistant computes, and how that is
known, stands in `engine.heads.assistant`.
"""

import numpy as np
from numpy.typing import NDArray

from engine.compiled.assistant import ROWS, AssistantWeights, CompiledAssistant
from engine.compiled.instructions import LANES
from engine.compiled.layout import BLOCK
from engine.compiled.pool import shared_pool
from engine.compiled.program import DecoderShape, Layer
from engine.compiled.table import Floats
from engine.heads.assistant import (
    CENTROIDS,
    INTO,
    LAST_NORM,
    OUT_OF,
    Assistant,
    assistant_for,
    best_of,
    unused,
)
from engine.heads.files import HeadsFile
from engine.heads.fit import TargetSizes
from engine.heads.interface import Allowed, AssistantHead, Guessed, Guesses
from engine.heads.packed import PackedTensors
from engine.model.compiled import CompiledModel
from engine.model.coverage import ACTIVATIONS
from engine.model.kv_cache import HostCache, KVCache
from engine.model.rotary import RotaryFactors


def covers(file: HeadsFile, target: TargetSizes) -> bool:
    """Return whether compiled steps compute all that the assistant does."""
    if file.kind != "assistant":
        return False
    assistant = assistant_for(file, target)
    of, shapes = assistant.description, assistant.shapes
    if file.tensors.keys() - unused(assistant) != shapes.keys():
        return False
    if any(file.tensors[name].shape != shape for name, shape in shapes.items()):
        return False
    sizes = (of.width, of.inner, assistant.backbone, *(rows.width for rows in assistant.reads))
    in_tiles = assistant.clusters is None or assistant.clusters.shape[1] % LANES == 0
    return in_tiles and of.activation in ACTIVATIONS and not any(size % BLOCK for size in sizes)


class CompiledAssistantHead(AssistantHead):
    """An assistant bound to a compiled target."""

    def __init__(self, file: HeadsFile, target: CompiledModel, context: int) -> None:
        """Raises BadCheckpoint, UnsupportedModel or VocabularyMismatch if the assistant does not fit the
        target."""
        self._assistant = assistant = assistant_for(file, target)
        self._target = target
        tensors, self._rotary = PackedTensors(file), RotaryFactors(assistant.description.rotary, context)
        weights = AssistantWeights(
            into=tensors.matrix(INTO),
            layers=[
                _layer(assistant, number, tensors, self._rotary) for number in range(len(assistant.reads))
            ],
            last_norm=tensors.vector(LAST_NORM),
            out_of=tensors.matrix(OUT_OF),
            head=tensors.matrix(assistant.head, assistant.clusters),
            centroids=None if assistant.clusters is None else tensors.matrix(CENTROIDS),
            chosen=assistant.chosen,
        )
        shape = _shape(assistant, self._rotary, target)
        self._guesser = CompiledAssistant(shape, weights, shared_pool())
        self._bound: tuple[HostCache, int] | None = None  # and the tokens whose rows it has dropped
        self._length = 0
        self.vocabulary = target.vocabulary
        self.layers = assistant.description.layers
        self.hidden_layers = (target.layers,)
        self.parameters, self.nbytes = tensors.parameters, tensors.nbytes

    def read(self, cache: KVCache) -> None:
        assert isinstance(cache, HostCache)
        if self._bound != (cache, cache.dropped):
            self._guesser.bind(cache.places, cache.slots)
            self._bound = cache, cache.dropped
        self._length = cache.length

    def forward(self, tokens: NDArray[np.int64], states: Floats) -> Guessed:
        pieces = [
            self._forward(tokens[start : start + ROWS], states[start : start + ROWS])
            for start in range(0, len(tokens), ROWS)
        ]
        if len(pieces) == 1:
            return pieces[0]
        ids = [piece.tokens for piece in pieces if piece.tokens is not None]
        return Guessed(
            np.concatenate([piece.states for piece in pieces]),
            np.concatenate([piece.logits for piece in pieces]),
            np.concatenate(ids) if ids else None,
        )

    def _forward(self, tokens: NDArray[np.int64], states: Floats) -> Guessed:
        """Guess at no more than ROWS rows."""
        guesser, rows, width = self._guesser, len(tokens), self._target.width
        guesser.inputs[:rows, :width] = self._target.embed(tokens)
        guesser.inputs[:rows, width:] = states
        guesser.guess(rows, self._length, self._rotary.at(np.full(rows, self._length)))
        guessed, logits = guesser.states[:rows].copy(), guesser.logits[:rows]
        clusters = self._assistant.clusters
        ids = None if clusters is None else clusters[guesser.chosen[:rows]].reshape(rows, -1)
        return Guessed(guessed, logits.copy(), ids)

    def best(self, guessed: Guessed, count: int, allowed: Allowed | None = None) -> Guesses:
        return best_of(guessed, count, allowed, self.vocabulary)


def _shape(assistant: Assistant, rotary: RotaryFactors, target: CompiledModel) -> DecoderShape:
    of = assistant.description
    return DecoderShape(
        *(of.width, of.inner, of.heads, of.kv_heads, of.head_width, of.epsilon, of.query_scale, rotary.pairs),
        gelu=ACTIVATIONS[of.activation],
        cache=target.cache_format,
    )


def _layer(assistant: Assistant, number: int, tensors: PackedTensors, rotary: RotaryFactors) -> Layer:
    path, rows = f"model.layers.{number}", assistant.reads[number]
    kind = assistant.description.rotary_of_layer[number]

    def norm(name: str) -> Floats:
        return tensors.vector(f"{path}.{name}.weight")

    return Layer(
        attention_norm=norm("input_layernorm"),
        qkv=[tensors.matrix(f"{path}.self_attn.q_proj.weight")],
        output=[tensors.matrix(f"{path}.self_attn.o_proj.weight")],
        feed_norm=norm("pre_feedforward_layernorm"),
        gate_up=[tensors.matrix(f"{path}.mlp.{name}_proj.weight") for name in ("gate", "up")],
        down=[tensors.matrix(f"{path}.mlp.down_proj.weight")],
        query_norm=norm("self_attn.q_norm"),
        attention_post=norm("post_attention_layernorm"),
        feed_post=norm("post_feedforward_layernorm"),
        window=assistant.windows[number],
        rotary=kind,
        kv_heads=rows.kv_heads,
        head_width=rows.width,
        pairs=rotary.pairs_of[kind],
        factor=float(tensors.vector(f"{path}.layer_scalar")[0]),
        rows=rows.number,
    )
