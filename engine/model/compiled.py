"""A model on the processor as one compiled program, its weights at their packed size.

The arithmetic of a row never depends on the other rows of a pass, on the number of threads, or on whether the
row was computed as text or in a tree. So plain decoding, every tree and every budget give the same text, bit
for bit.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel
from transformers.configuration_utils import PretrainedConfig

from engine.checkpoints import Weight
from engine.compiled.decoder import CompiledDecoder, CompiledProjection
from engine.compiled.instructions import INSTRUCTIONS, LANES
from engine.compiled.layout import BLOCK
from engine.compiled.matrix import Matrix, can_tile
from engine.compiled.pool import shared_pool
from engine.compiled.program import MOST_ROWS, DecoderShape, Layer, Seen
from engine.model.compiled_weights import EMBEDDING, HEAD, CompiledWeights
from engine.model.interface import Model, OutputHead, Progress, no_progress
from engine.model.kv_cache import HostCache, KVCache
from engine.model.rows import Output, Rows
from engine.model.tensor_cache import head_dim

PACE_S = 0.01  # seconds between two calls of a pass's progress

_ACTIVATIONS = {"silu": False, "gelu_pytorch_tanh": True}
_POSITIONS = 256  # rotary factors are computed for so many positions at a time
_QKV, _GATE_UP = ("q_proj", "k_proj", "v_proj", "qkv_proj"), ("gate_proj", "up_proj", "gate_up_proj")

Names = Mapping[str, Weight]


def covers(module: PreTrainedModel, config: PretrainedConfig, weights: Names) -> bool:
    """Return whether compiled steps compute all that the model does. module: transformers' model, on the meta
    device."""
    activation = getattr(config, "hidden_activation", None) or config.hidden_act
    attended = config.num_attention_heads * head_dim(config)
    sizes = (config.hidden_size, config.intermediate_size, head_dim(config), attended)
    if activation not in _ACTIVATIONS or any(size % BLOCK for size in sizes):
        return False
    if any(layer.mlp.__class__.__name__.endswith("MoeBlock") for layer in _layers(module)):
        return False
    return all(_covered(name, weight) for name, weight in weights.items())


def _covered(name: str, weight: Weight) -> bool:
    owner, _, leaf = name.rpartition(".")
    if leaf == "bias":
        return owner.endswith(_QKV[:3])
    if len(weight.shape) == 1:
        return True
    whole = name in (EMBEDDING, HEAD) or weight.shape[0] % LANES == 0
    return len(weight.spans) == 1 and whole and can_tile(weight.format, (weight.shape[0], weight.shape[1]))


def _layers(module: PreTrainedModel) -> Sequence[Any]:
    body: Any = module.model
    layers: Sequence[Any] = body.layers
    return layers


class RotaryTable:
    """Cosines and sines of every kind of rotary positions of a model."""

    def __init__(self, rotary: Any, kinds: Sequence[str | None]) -> None:
        self._factors = [_frequencies(rotary, kind) for kind in kinds]
        self.pairs = len(self._factors[0][0])
        self._table = np.zeros((len(kinds), 2, 0, self.pairs), np.float32)

    def at(self, positions: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return float32 [kinds, 2, rows, pairs] for int64 [rows]."""
        # Positions are computed in blocks of one size, so that a position's factors are always the same.
        while self._table.shape[2] <= positions.max():
            start = self._table.shape[2]
            block = torch.arange(start, start + _POSITIONS)[:, None]
            kinds = []
            for frequencies, factor in self._factors:
                angles = block.float() * frequencies.float()
                kinds.append(torch.stack([angles.cos() * factor, angles.sin() * factor]).numpy())
            self._table = np.concatenate([self._table, np.stack(kinds)], axis=2)
        return np.ascontiguousarray(self._table[:, :, positions])


def _frequencies(rotary: Any, kind: str | None) -> tuple[Tensor, float]:
    """Return the rotary frequencies of a kind of layers, and the factor of their cosines and sines."""
    prefix = f"{kind}_" if kind else ""
    return getattr(rotary, f"{prefix}inv_freq"), float(getattr(rotary, f"{prefix}attention_scaling"))


class CompiledModel(Model):
    """A causal language model on the processor, as a compiled program."""

    device = "cpu"
    packed = True

    def __init__(
        self,
        module: PreTrainedModel,
        config: PretrainedConfig,
        weights: CompiledWeights,
        vocabulary: int | None = None,
    ) -> None:
        """module: transformers' model on the meta device, its rotary frequencies fixed; only its structure is
        used. weights: `covers` is true for them; they are closed with the model. vocabulary: as for
        `Model`."""
        self.config = config
        rows: int = config.vocab_size
        self.vocabulary = min(rows, vocabulary or rows)
        self.width: int = config.hidden_size
        self._weights = weights
        self.streamer = weights.streamer
        body: Any = module.model
        self._embedding_scale = float(getattr(body.embed_tokens, "scalar_embed_scale", 1.0))
        self._logit_cap: float | None = getattr(config, "final_logit_softcapping", None)
        vectors: Mapping[str, NDArray[np.float32]] = weights.vectors
        if config.model_type.startswith("gemma"):  # its norms multiply by one more than their weights
            vectors = {name: vector + 1 if "norm" in name else vector for name, vector in vectors.items()}
        by_kind = isinstance(body.rotary_emb.rope_type, dict)
        kinds = sorted(set(config.layer_types)) if by_kind else [None]
        self._rotary = RotaryTable(body.rotary_emb, kinds)
        layers = []
        for number, layer in enumerate(_layers(module)):
            kind = kinds.index(config.layer_types[number]) if by_kind else 0
            layers.append(_layer(f"model.layers.{number}", layer, config, weights.matrices, vectors, kind))
        attention = _layers(module)[0].self_attn
        activation = getattr(config, "hidden_activation", None) or config.hidden_act
        shape = DecoderShape(
            width=config.hidden_size,
            inner=config.intermediate_size,
            heads=config.num_attention_heads,
            kv_heads=config.num_key_value_heads,
            head_width=head_dim(config),
            epsilon=config.rms_norm_eps,
            query_scale=attention.scaling,
            pairs=self._rotary.pairs,
            adjacent=weights.adjacent,
            gelu=_ACTIVATIONS[activation],
            score_cap=getattr(attention, "attn_logit_softcapping", None) or 0.0,
        )
        self._shape = shape
        head = weights.matrices[HEAD]
        self._decoder = CompiledDecoder(shape, layers, vectors["model.norm.weight"], head, shared_pool())
        self.layers = len(layers)
        self._bound: HostCache | None = None
        self._layer_s: dict[int, float] = {}  # rows of a pass -> seconds of a layer, when last measured

    @property
    def arithmetic(self) -> str:
        return f"int8 {INSTRUCTIONS}"

    @property
    def nbytes(self) -> int:
        return self._weights.nbytes

    def new_cache(self, capacity: int) -> HostCache:
        return HostCache(self.layers, self._shape.kv_heads, self._shape.head_width, capacity)

    def embed(self, tokens: NDArray[np.int64]) -> NDArray[np.float32]:
        states = np.empty((len(tokens), self.width), np.float32)
        self.embed_into(tokens, states)
        return states

    def output_head(self) -> OutputHead:
        return CompiledHead(self)

    def capped(self, logits: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return logits as they are asked for: without padding, and capped if the model caps them."""
        output = logits[:, : self.vocabulary]
        if self._logit_cap is None:
            return output
        cap = np.float32(self._logit_cap)
        capped: NDArray[np.float32] = np.tanh(output / cap) * cap
        return capped

    def projection(self) -> tuple[CompiledProjection, int]:
        """Return the product of the output head alone, and the memory that it takes, bytes."""
        head, nbytes = self._weights.resident_head()
        return CompiledProjection(self._shape, head, shared_pool()), nbytes

    def embed_into(self, tokens: NDArray[np.int64], states: NDArray[np.float32]) -> None:
        """Write the embeddings of tokens, int64 [tokens], to `states`, float32 [tokens, width]."""
        if not 0 <= tokens.min() <= tokens.max() < self.config.vocab_size:
            raise IndexError(f"The tokens {tokens.min()} to {tokens.max()} are not all in the embedding.")
        self._weights.embed(tokens, states)
        if self._embedding_scale != 1.0:
            states *= np.float32(self._embedding_scale)

    def forward(
        self,
        rows: Rows,
        cache: KVCache,
        tail_positions: NDArray[np.int64] | None = None,
        logits_for: slice = slice(None),
        hidden_layers: Sequence[int] = (),
        progress: Progress = no_progress,
    ) -> Output:
        assert isinstance(cache, HostCache)
        count = len(rows)
        cache.reserve(count)
        if self._bound is not cache:
            self._decoder.bind(cache.address, cache.capacity + 1)
            self._bound = cache
        tokens, positions = rows.tokens, rows.positions
        tail = np.empty(0, np.int64) if tail_positions is None else tail_positions
        seen = seen_slots(rows, tail, cache)
        asked = range(count)[logits_for]
        hidden = {layer: np.empty((count, self.width), np.float32) for layer in hidden_layers}
        found: list[NDArray[np.float32]] = []
        most = self._decoder.rows
        pieces = range(0, count, most)
        for number, start in enumerate(pieces):
            stop = min(start + most, count)
            self.embed_into(tokens[start:stop], self._decoder.states[: stop - start])
            here = range(max(asked.start, start) - start, max(min(asked.stop, stop), start) - start)
            logits = self._decoder.run(
                stop - start,
                seen.piece(start, stop),
                self._rotary.at(positions[start:stop]),
                here,
                {layer: states[start:stop] for layer, states in hidden.items()},
                self._pace(stop - start, number, len(pieces), progress),
                self._weights.arrive,
            )
            if len(here):
                found.append(logits if len(pieces) == 1 else logits.copy())
        progress(len(pieces) * self.layers, len(pieces) * self.layers)
        cache.extend_tail(count)
        output = self.capped(found[0] if len(found) == 1 else np.concatenate(found))
        return Output(output, hidden)

    def _pace(self, rows: int, piece: int, pieces: int, progress: Progress) -> Callable[[int], int]:
        """Return a function for `CompiledDecoder.run` that calls `progress` about every PACE_S seconds."""
        began, begun = 0.0, 0

        def between(layer: int) -> int:
            nonlocal began, begun
            if layer > begun:
                self._layer_s[rows] = (time.perf_counter() - began) / (layer - begun)
            done = piece * self.layers + layer, pieces * self.layers
            progress(*done)
            if self.streamer:
                self.streamer.on_chunk = lambda: progress(*done)
            began, begun = time.perf_counter(), layer
            return layer + int(PACE_S / self._layer_s.get(rows, PACE_S))

        return between


class CompiledHead(OutputHead):
    """The output head of a `CompiledModel`. If it is streamed, it is a copy in memory: guesses need the head
    out of turn, many times per pass."""

    def __init__(self, model: CompiledModel) -> None:
        self._model = model
        self._projection, self.nbytes = model.projection()

    def __call__(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        if len(states) <= MOST_ROWS:
            return self._logits(states)
        pieces = [states[start : start + MOST_ROWS] for start in range(0, len(states), MOST_ROWS)]
        return np.concatenate([self._logits(piece).copy() for piece in pieces])

    def _logits(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        return self._model.capped(self._projection.run(states))


def seen_slots(rows: Rows, tail_positions: NDArray[np.int64], cache: KVCache) -> Seen:
    """Return the cache slots that each row sees, in the order of their positions. tail_positions: of the rows
    in the cache's tail."""
    positions = rows.positions
    count, length, first = len(positions), cache.length, cache.length + cache.tail
    if rows.visible is None:
        prefix = np.arange(length + 1, length + count + 1)
        return Seen(first, prefix, np.zeros(1, np.int64), np.zeros(count + 1, np.int64))
    visible = rows.visible
    row, column = np.nonzero(visible)
    at = np.concatenate([tail_positions, positions])[column]
    if bool(((at[1:] < at[:-1]) & (row[1:] == row[:-1])).any()):
        column = column[np.lexsort((at, row))]
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(visible.sum(axis=1), out=offsets[1:])
    return Seen(first, np.full(count, length), length + column, offsets)


def _layer(
    path: str,
    layer: Any,
    config: PretrainedConfig,
    matrices: Mapping[str, Sequence[Matrix]],
    vectors: Mapping[str, NDArray[np.float32]],
    kind: int,
) -> Layer:
    """Collect the weights of a layer. layer: transformers' module."""
    post_norms = f"{path}.pre_feedforward_layernorm.weight" in vectors  # Gemma has norms behind both halves
    before_feed = "pre_feedforward_layernorm" if post_norms else "post_attention_layernorm"
    biases = [vectors.get(f"{path}.self_attn.{name}.bias") for name in _QKV[:3]]
    width = head_dim(config)
    sizes = (config.num_attention_heads * width, *[config.num_key_value_heads * width] * 2)
    bias = None
    if any(each is not None for each in biases):
        pairs = zip(biases, sizes, strict=True)
        bias = np.concatenate([np.zeros(size, np.float32) if each is None else each for each, size in pairs])

    def some(part: str, names: Sequence[str]) -> list[Matrix]:
        return [matrix for name in names for matrix in matrices.get(f"{path}.{part}.{name}.weight", [])]

    def norm(name: str) -> NDArray[np.float32] | None:
        return vectors.get(f"{path}.{name}.weight")

    return Layer(
        vectors[f"{path}.input_layernorm.weight"],
        some("self_attn", _QKV),
        matrices[f"{path}.self_attn.o_proj.weight"],
        vectors[f"{path}.{before_feed}.weight"],
        some("mlp", _GATE_UP),
        matrices[f"{path}.mlp.down_proj.weight"],
        bias,
        norm("self_attn.q_norm"),
        norm("self_attn.k_norm"),
        norm("post_attention_layernorm") if post_norms else None,
        norm("post_feedforward_layernorm"),
        # transformers' layers have a window of their own where layers differ, else the configuration has it.
        getattr(layer.self_attn, "sliding_window", getattr(config, "sliding_window", None)),
        kind,
    )
