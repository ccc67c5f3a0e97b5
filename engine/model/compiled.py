"""A model on the processor as one compiled program, its weights at their packed size.

The arithmetic of a row never depends on the other rows of a pass, on the number of threads, or on whether the
row was computed as text or in a tree. So plain decoding, every tree and every budget give the same text, bit
for bit.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.compiled.cache_rows import row_nbytes
from engine.compiled.convolution import GatedConvolution
from engine.compiled.decoder import CompiledDecoder, CompiledProjection
from engine.compiled.delta import GatedDelta
from engine.compiled.expert_steps import ASKED_ROWS, ExpertSource
from engine.compiled.instructions import INSTRUCTIONS
from engine.compiled.layer_inputs import InputMaker, LayerInput
from engine.compiled.mamba import Mamba
from engine.compiled.matrix import Matrix
from engine.compiled.mixture import Expert, ExpertBiases, Mixture
from engine.compiled.pool import shared_pool
from engine.compiled.program import DecoderShape, Layer
from engine.compiled.seen import Seen
from engine.model.compiled_weights import CompiledWeights
from engine.model.coverage import ACTIVATIONS
from engine.model.description import Description
from engine.model.interface import Device, Model, OutputHead, Progress, RowLayer, Yielding, no_progress
from engine.model.kv_cache import HostCache, KVCache
from engine.model.mixtures import MixtureShape
from engine.model.rotary import RotaryFactors
from engine.model.rows import Output, Rows
from engine.model.state_cache import StateCache
from engine.model.weight_names import (
    CORRECTIONS,
    HEAD,
    INPUT_NORM,
    INPUT_PROJECTION,
    LAYER_FACTOR,
    ROUTER,
    SHARED_GATE,
    SINKS,
)
from engine.model.windowed_cache import WindowedHostCache, narrows
from engine.planner.run_rows import RUN_ROWS

PACE_S = 0.01  # seconds between two calls of a pass's progress

_QKV, _GATE_UP = ("q_proj", "k_proj", "v_proj", "qkv_proj"), ("gate_proj", "up_proj", "gate_up_proj")


class CompiledModel(Model):
    """A causal language model on the processor, as a compiled program. Attributes: `weights`; `cache_format`,
    that of keys and values in its KV cache; `cached`, the key-value heads of each layer of that, and bytes of
    a row."""

    device: Device = "cpu"
    packed = True
    rounds_alike = True

    def __init__(
        self,
        description: Description,
        rotary: RotaryFactors,
        weights: CompiledWeights,
        vocabulary: int | None = None,
        cache: str = "F16",
    ) -> None:
        """weights: `engine.model.coverage.covers` is true for them; they are closed with the model.
        vocabulary, cache: as for `engine.model.loader.load_compiled`."""
        self._rows = description.rows
        self.vocabulary = min(self._rows, vocabulary or self._rows)
        self.width = description.width
        self.weights = weights
        self.streamer = weights.streamer
        self.cache_format = cache
        self._description = description
        self._embedding_scale = np.float32(description.embedding_scale)
        self._logit_cap, self._logit_divisor = description.logit_cap, np.float32(description.logit_divisor)
        self._rotary = rotary
        self._shape, layers, vectors = layers_of(description, rotary, weights, cache)
        head = weights.matrices[HEAD]
        inputs = None
        if narrow := description.layer_inputs:
            projection = weights.matrices[INPUT_PROJECTION]
            inputs = InputMaker(len(layers), narrow, projection, vectors[INPUT_NORM])
        last_norm = vectors["model.norm.weight"]
        self._decoder = CompiledDecoder(self._shape, layers, last_norm, head, shared_pool(), inputs)
        self.layers = len(layers)
        self.cached = [(heads, row_nbytes(cache, width)) for heads, width in description.kept]
        self._windows = description.row_windows
        self._bound: tuple[HostCache, int] | None = None  # and the tokens whose rows it has dropped
        self._layer_s: dict[int, float] = {}  # rows of a pass -> seconds of a layer, when last measured

    @property
    def arithmetic(self) -> str:
        rounded = "" if self._shape.cache == "F16" else f", {self._shape.cache} cache"
        return f"int8 {INSTRUCTIONS}{rounded}"

    @property
    def nbytes(self) -> int:
        return self.weights.nbytes

    @property
    def last_rows(self) -> Mapping[str, RowLayer]:
        return self._description.last_rows

    def new_cache(self, capacity: int, beside: int = 0) -> HostCache:
        """beside: the number of slots for the tail of a `SharedCache`; 0 if layers have states, which are not
        shared."""
        states = self._shape.states
        assert not (states and beside)
        return (
            StateCache(states, self.cached, capacity) if states else HostCache(self.cached, capacity, beside)
        )

    def text_cache(self, capacity: int) -> HostCache:
        if not narrows(self._windows, capacity, apart=False):
            return self.new_cache(capacity)
        return WindowedHostCache(self.cached, self._windows, capacity)

    def embed(self, tokens: NDArray[np.int64]) -> NDArray[np.float32]:
        states = np.empty((len(tokens), self.width), np.float32)
        self.embed_into(tokens, states)
        return states

    def output_head(self) -> OutputHead:
        return CompiledHead(self)

    @cached_property
    def late_head(self) -> OutputHead | None:
        """None if the head is streamed: then a pass computes with it while it is in place."""
        return CompiledHead(self) if self.weights.has_resident_head else None

    def capped(self, logits: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return logits as they are asked for: without padding, scaled, and capped if the model caps them."""
        output = logits[:, : self.vocabulary]
        if self._logit_divisor != 1:
            output = output / self._logit_divisor
        if self._logit_cap is None:
            return output
        cap = np.float32(self._logit_cap)
        capped: NDArray[np.float32] = np.tanh(output / cap) * cap
        return capped

    def projection(self) -> tuple[CompiledProjection, int]:
        """Return the product of the output head alone, and the memory that it takes, bytes."""
        head, nbytes = self.weights.resident_head()
        return CompiledProjection(self._shape, head, shared_pool()), nbytes

    def embed_into(self, tokens: NDArray[np.int64], states: NDArray[np.float32]) -> None:
        """Write the embeddings of tokens, int64 [tokens], to `states`, float32 [tokens, width]."""
        if not 0 <= tokens.min() <= tokens.max() < self._rows:
            raise IndexError(f"The tokens {tokens.min()} to {tokens.max()} are not all in the embedding.")
        self.weights.embed(tokens, states)
        if self._embedding_scale != 1.0:
            states *= self._embedding_scale

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
        if self._bound != (cache, cache.dropped):
            self._decoder.bind(cache.places, cache.slots)
            self._bound = cache, cache.dropped
        tokens, positions = rows.tokens, rows.positions
        if self.streamer:
            self.streamer.begin_pass(tokens.tolist() if count <= ASKED_ROWS else ())
        tail = np.empty(0, np.int64) if tail_positions is None else tail_positions
        seen = seen_slots(rows, tail, cache)
        if isinstance(cache, StateCache):
            cache.begin_pass(rows, tail)
        asked = range(count)[logits_for]
        hidden = {layer: np.empty((count, self.width), np.float32) for layer in hidden_layers}
        found: list[NDArray[np.float32]] = []
        most = self._decoder.rows
        pieces = range(0, count, most)
        for number, start in enumerate(pieces):
            stop = min(start + most, count)
            self.embed_into(tokens[start:stop], self._decoder.states[: stop - start])
            if self._decoder.inputs is not None:
                self.weights.inputs_into(tokens[start:stop], self._decoder.inputs[: stop - start])
            if isinstance(cache, StateCache):
                paths = cache.paths(start, stop)
                self._decoder.paths[:] = paths.numbers
            here = range(max(asked.start, start) - start, max(min(asked.stop, stop), start) - start)
            logits = self._decoder.run(
                stop - start,
                seen.piece(start, stop),
                self._rotary.at(positions[start:stop]),
                here,
                {layer: states[start:stop] for layer, states in hidden.items()},
                self._pace(stop - start, number, len(pieces), progress),
                self.weights.arrive,
                self._rotary.of_queries(positions[start:stop]),
                is_whole=len(pieces) == 1,
            )
            if len(here):
                found.append(logits if len(pieces) == 1 else logits.copy())
        if not isinstance(progress, Yielding):  # which was called before the output head
            progress(len(pieces) * self.layers, len(pieces) * self.layers)
        cache.extend_tail(count)
        found = found or [np.empty((0, self._rows), np.float32)]
        output = self.capped(found[0] if len(found) == 1 else np.concatenate(found))
        return Output(output, hidden)

    def _pace(self, rows: int, piece: int, pieces: int, progress: Progress) -> Callable[[int], int]:
        """Return a function for `CompiledDecoder.run` that calls `progress` about every PACE_S seconds, or
        before each layer and the output head if the pass gives way to another."""
        gives_way = isinstance(progress, Yielding)
        pace_s = 0.0 if gives_way else PACE_S
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
            following = layer + max(1, int(pace_s / self._layer_s.get(rows, PACE_S)))
            # The output head runs with the last layer, unless the pass gives way.
            return following if gives_way or following < self.layers else self.layers + 1

        return between


class CompiledHead(OutputHead):
    """The output head of a `CompiledModel`. If it is streamed, it is a copy in memory: guesses need the head
    out of turn, many times per pass."""

    def __init__(self, model: CompiledModel) -> None:
        self._model = model
        self._projection, self.nbytes = model.projection()

    def __call__(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        if len(states) <= RUN_ROWS:
            return self._logits(states)
        pieces = [states[start : start + RUN_ROWS] for start in range(0, len(states), RUN_ROWS)]
        return np.concatenate([self._logits(piece).copy() for piece in pieces])

    def _logits(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        return self._model.capped(self._projection.run(states))


def seen_slots(rows: Rows, tail_positions: NDArray[np.int64], cache: KVCache) -> Seen:
    """Return the cache slots that each row sees, in the order of their positions. tail_positions: of the rows
    in the cache's tail."""
    positions = rows.positions
    count, length, first = len(positions), cache.length, cache.tail_start + cache.tail
    if rows.visible is None:
        assert cache.tail_start == length, "a text is read from its own committed rows"
        prefix = np.arange(length + 1, length + count + 1)
        return Seen(first, prefix, np.zeros(1, np.int64), np.zeros(count + 1, np.int64))
    visible = rows.visible
    row, column = np.nonzero(visible)
    at = np.concatenate([tail_positions, positions])[column]
    if bool(((at[1:] < at[:-1]) & (row[1:] == row[:-1])).any()):
        column = column[np.lexsort((at, row))]
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(visible.sum(axis=1), out=offsets[1:])
    return Seen(first, np.full(count, length), cache.tail_start + column, offsets)


def layers_of(
    description: Description, rotary: RotaryFactors, weights: CompiledWeights, cache: str = "F16"
) -> tuple[DecoderShape, list[Layer], Mapping[str, NDArray[np.float32]]]:
    """Return the shape of a decoder, its layers, and its vectors by name, as norms multiply by them. cache:
    format of keys and values in the KV cache."""
    vectors: Mapping[str, NDArray[np.float32]] = weights.vectors
    if description.norms_plus_one:
        vectors = {name: vector + 1 if _is_centred(name) else vector for name, vector in vectors.items()}
    pairs = [rotary.pairs_of[kind] for kind in description.rotary_of_layer]
    layers = [_layer(number, description, weights, vectors, each) for number, each in enumerate(pairs)]
    shape = DecoderShape(
        width=description.width,
        inner=description.inner,
        heads=description.heads,
        kv_heads=description.kv_heads,
        head_width=description.head_width,
        epsilon=description.epsilon,
        query_scale=description.query_scale,
        pairs=rotary.pairs,
        adjacent=weights.adjacent or description.adjacent,
        gelu=ACTIVATIONS.get(description.activation, False),
        score_cap=description.score_cap or 0.0,
        cache=cache,
        gated=description.gated,
        residual_scale=description.residual_scale,
        states=description.states,
        squared=description.ungated,
    )
    return shape, layers, vectors


def _is_centred(name: str) -> bool:
    """Return whether a vector is a norm that multiplies by one more than its weights, where norms do so. The
    norm of DeltaNet's outputs does not."""
    return "norm" in name and "linear_attn" not in name


def _layer(
    number: int,
    description: Description,
    weights: CompiledWeights,
    vectors: Mapping[str, NDArray[np.float32]],
    pairs: int,
) -> Layer:
    """Collect the weights of a layer. pairs: those of a head that are rotated."""
    path, matrices = f"model.layers.{number}", weights.matrices
    post_norms = f"{path}.post_feedforward_layernorm.weight" in vectors  # behind both halves
    before_feed = "pre_feedforward_layernorm" if post_norms else "post_attention_layernorm"
    biases = [vectors.get(f"{path}.self_attn.{name}.bias") for name in _QKV[:3]]
    attends = description.attends[number]
    kv_heads, width = description.heads_of(number) if attends else (0, 0)
    sizes = (description.heads * width, *[kv_heads * width] * 2)
    bias = None
    if any(each is not None for each in biases):
        parts = zip(biases, sizes, strict=True)
        bias = np.concatenate([np.zeros(size, np.float32) if each is None else each for each, size in parts])

    def some(part: str, names: Sequence[str]) -> list[Matrix]:
        return [matrix for name in names for matrix in matrices.get(f"{path}.{part}.{name}.weight", [])]

    def norm(name: str) -> NDArray[np.float32] | None:
        return vectors.get(f"{path}.{name}.weight")

    own_input = None
    if description.layer_inputs:
        gate, projection = (
            matrices[f"{path}.per_layer_{name}.weight"] for name in ("input_gate", "projection")
        )
        post_norm = vectors[f"{path}.post_per_layer_input_norm.weight"]
        own_input = LayerInput(number, description.layer_inputs, gate, projection, post_norm)
    recurrent = None
    if description.stateful[number]:
        recurrent = _recurrent(sum(description.stateful[:number]), path, description, matrices, vectors)
    mixture = None
    if description.mixture and description.mixture.layers[number]:
        mixture = _mixture(description.mixture, path, matrices, vectors, weights.source(number))

    return Layer(
        attention_norm=norm("input_layernorm"),
        qkv=some("self_attn", _QKV),
        bias=bias,
        query_norm=norm("self_attn.q_norm"),
        key_norm=norm("self_attn.k_norm"),
        value_norm=np.ones(width, np.float32) if description.value_norm else None,
        values_are_keys=number in description.values_are_keys,
        sinks=vectors.get(f"{path}.{SINKS}"),
        output=some("self_attn", ["o_proj"]),
        output_bias=vectors.get(f"{path}.self_attn.o_proj.bias"),
        attention_post=norm("post_attention_layernorm") if post_norms else None,
        kv_heads=kv_heads,
        head_width=width,
        rotary=description.rotary_of_layer[number],
        pairs=pairs,
        window=description.windows[number],
        rows=-1 if description.has_rows(number) else description.rows_of_layer[number],
        recurrent=recurrent,
        feed_norm=norm(before_feed),
        gate_up=[] if mixture else some("mlp", _GATE_UP),
        down=[] if mixture else some("mlp", ["down_proj"]),
        inner=description.inners[number],
        mixture=mixture,
        feed_post=norm("post_feedforward_layernorm"),
        own_input=own_input,
        factor=float(vectors[f"{path}.{LAYER_FACTOR}"][0]) if f"{path}.{LAYER_FACTOR}" in vectors else 1.0,
    )


def _mixture(
    shape: MixtureShape,
    path: str,
    matrices: Mapping[str, Sequence[Matrix]],
    vectors: Mapping[str, NDArray[np.float32]],
    source: ExpertSource | None,
) -> Mixture:
    """Collect the weights of a layer's mixture. source: see `Mixture`."""

    def expert(owner: str) -> Expert:
        gate_up = (matrices.get(f"{owner}.{part}.weight", ()) for part in _GATE_UP)
        return Expert(
            [matrix for group in gate_up for matrix in group], matrices[f"{owner}.down_proj.weight"]
        )

    owner, biases, shared = f"{path}.mlp", None, None
    if shape.shared:
        # Of Granite 4 hybrids, it is named as the MLP of those that are no mixtures.
        own = f"{owner}.shared_expert"
        shared = expert(own if f"{own}.down_proj.weight" in matrices else owner)
    if shape.biased:
        gate_up = (vectors.get(f"{path}.mlp.experts.{part}_bias") for part in _GATE_UP)
        both = np.concatenate([bias for bias in gate_up if bias is not None], axis=1)
        biases = ExpertBiases(both, vectors[f"{path}.mlp.experts.down_proj_bias"])
    return Mixture(
        matrices[f"{path}.{ROUTER}"],
        [expert(f"{owner}.experts.{number}") for number in range(shape.experts)],
        shape.chosen,
        shape.inner,
        sigmoid=shape.sigmoid,
        normalized=shape.normalized,
        epsilon=shape.epsilon,
        factor=shape.factor,
        groups=shape.groups,
        kept_groups=shape.kept_groups,
        router_bias=vectors.get(f"{path}.{ROUTER.removesuffix('weight')}bias"),
        corrections=vectors.get(f"{path}.{CORRECTIONS}"),
        biases=biases,
        bound=shape.bound,
        slope=shape.slope,
        shared=shared,
        shared_gate=matrices.get(f"{path}.{SHARED_GATE}", ()),
        source=source,
    )


def _recurrent(
    number: int,
    path: str,
    description: Description,
    matrices: Mapping[str, Sequence[Matrix]],
    vectors: Mapping[str, NDArray[np.float32]],
) -> GatedDelta | GatedConvolution | Mamba:
    """Collect what a layer has in place of attention. number: of the layer, among those with a state."""
    assert description.states is not None

    def of_channels(name: str) -> NDArray[np.float32]:  # [channels, 1, kernel] -> [kernel, channels]
        return np.ascontiguousarray(vectors[f"{path}.{name}.weight"][:, 0].T)

    if not description.states.heads:
        inputs, output = (matrices[f"{path}.conv.{name}.weight"] for name in ("in_proj", "out_proj"))
        return GatedConvolution(number, inputs, of_channels("conv.conv"), output)
    if mamba := description.mamba:
        own = f"{path}.mamba"
        return Mamba(
            number,
            matrices[f"{own}.in_proj.weight"],
            of_channels("mamba.conv1d"),
            vectors.get(f"{own}.conv1d.bias"),
            -np.exp(vectors[f"{own}.A_log"]),
            vectors[f"{own}.dt_bias"],
            mamba.limits,
            vectors[f"{own}.D"],
            vectors[f"{own}.norm.weight"],
            matrices[f"{own}.out_proj.weight"],
        )
    own, parts = f"{path}.linear_attn", description.delta_inputs
    return GatedDelta(
        number,
        [matrix for name in parts for matrix in matrices[f"{own}.in_proj_{name}.weight"]],
        of_channels("linear_attn.conv1d"),
        -np.exp(vectors[f"{own}.A_log"]),
        vectors[f"{own}.dt_bias"],
        vectors[f"{own}.norm.weight"],
        matrices[f"{own}.out_proj.weight"],
        fused="qkvz" in parts,
        paired="ba" in parts,
    )
