"""One forward pass over rows: transformers' decoder layers with rows, masks and a cache of our own.

A row is a token with a position and the set of cached slots and other rows that it sees. Rows come from a
token tree or from a piece of the prompt; this module treats both alike, and depends neither on where
weights come from nor on the text.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.configuration_utils import PretrainedConfig

from engine import ways
from engine.compiled.pool import shared_pool
from engine.errors import exhausted_tier
from engine.model.interface import Device, Model, OutputHead, Progress, RowLayer, no_progress
from engine.model.kv_cache import KVCache
from engine.model.rows import Output, Rows
from engine.model.windowed_cache import narrows
from engine.planner.lent_share import ROWS
from engine.planner.run_rows import PROMPT_ROWS
from engine.quantization import PackedLinear, packed_in, states_dtype
from engine.streaming import Streamer
from engine.streaming.device_ring import DeviceLink
from engine.streaming.lent_chunks import Lending
from engine.torch_model.cutoff import replace_cutoffs
from engine.torch_model.graphs import CudaRecorder, Graphs
from engine.torch_model.hybrid_cache import HybridCache
from engine.torch_model.near_experts import ExpertProcessor, near_mixtures
from engine.torch_model.near_products import NearProducts
from engine.torch_model.replacement import replace_recurrent
from engine.torch_model.rope import rotary_of
from engine.torch_model.surroundings import surroundings_of
from engine.torch_model.tensor_cache import AddressedCache, TensorCache, row_shapes
from engine.torch_model.visibility import TensorRows, Visibility
from engine.torch_model.windowed_cache import WindowedTensorCache

_log = logging.getLogger(__name__)


class TorchModel(Model):
    """A model whose passes are run by torch, on any device.

    Attributes: `config`, from transformers; `dtype`, that of states and logits; `products`, that of weights
    as they are multiplied, and of keys and values; `graphs`, the CUDA graphs for small passes; None if not
    all weights are on a CUDA device, if the model is a mixture of experts, or if layers have states;
    `lending`, which lets the processor help the card, or None; `near_experts`, by which it does so in
    mixtures, or None.
    """

    def __init__(
        self,
        module: PreTrainedModel,
        config: PretrainedConfig,
        dtype: torch.dtype,
        device: Device,
        vocabulary: int | None = None,
        packed: bool = False,
        streamer: Streamer | None = None,
        windows: Sequence[int | None] = (),
    ) -> None:
        """module: transformers' ...ForCausalLM with the attention implementation
        `engine.torch_model.attention.ATTENTION`, its weights in
        place and its rotary frequencies fixed (`engine.torch_model.rope`).

        dtype: that of weights as they are multiplied, and of keys and values; if it is float16, states are
        float32, and all matrices are packed layers. device: where all of these are.
        vocabulary: number of tokens, if the output head is padded to more rows; the padding gets no logits.
        packed: whether matrices are kept as stored. streamer: fetches matrices that are not in memory;
        it is closed with the model. windows: of each layer, the tokens that a token sees, or None for all;
        empty if that is not known, and caches shall have all rows.
        """
        self.config = config
        self._windows = windows
        self._state_shapes = replace_recurrent(module, getattr(config, "_tiled_heads", False))
        self.products, self.dtype = dtype, states_dtype(dtype)
        replace_cutoffs(module, self.dtype)
        self.module = module.eval()  # type: ignore[no-untyped-call]
        self._body: Any = module.model  # transformers declares neither `model` nor `lm_head`
        self._head: Any = module.lm_head
        self._embedding: Any = module.get_input_embeddings()
        names = ("embedding_norm", "norm_f", "norm")  # LFM2's, Nemotron-H's, and the usual one
        self._norm: Any = getattr(self._body, next(name for name in names if hasattr(self._body, name)))
        self.layers = len(self._body.layers)
        # Gemma 3: local and global layers have different rotary frequencies.
        # Granite 4 hybrids, Nemotron-H: no rotary positions at all.
        self._rotary: Any = rotary_of(self._body)
        by_kind = self._rotary is not None and isinstance(self._rotary.rope_type, dict)
        self._rotary_kinds: list[str | None] = config.layer_types if by_kind else [None] * self.layers
        self._surroundings = surroundings_of(module)
        # Granite: factors outside the layers. A module that applies one itself, such as Gemma's embedding,
        # has no such setting; for architectures that are not declared, the proof tells.
        self._embedding_factor: float = getattr(config, "embedding_multiplier", 1.0)
        rows: int = config.vocab_size
        self._rows = rows  # of the embedding
        self.vocabulary = min(rows, vocabulary or rows)
        self.width: int = config.hidden_size
        self.device = device
        weights = list(module.parameters())  # each once, even if the head is tied to the embedding
        self._packed = packed_in(module)
        self.streamer = streamer
        self.packed = packed
        self._unpacked_nbytes = sum(weight.nbytes for weight in weights)
        # Plans reserve memory for so many, which take longer to compute than their weights take to arrive.
        self.prompt_rows = PROMPT_ROWS
        self.lending: Lending | None = None
        self._near: NearProducts | None = None
        self.near_experts: ExpertProcessor | None = None
        self._own_stream: Any = None  # of passes apart
        self.graphs: Graphs | None = None
        # The tail of a state is made anew by each pass, so a recording would read the first one's for ever.
        fixed = not self._state_shapes and not is_mixture(module)
        if device != "cpu" and streamer is None and self._recordable and fixed:
            self.graphs = Graphs(
                CudaRecorder(torch.device(device)), [matrix.workspace for matrix in self._packed]
            )

    @property
    def _recordable(self) -> bool:
        return all(matrix.recordable for matrix in self._packed)

    @property
    def arithmetic(self) -> str:
        dtype = str(self.products).removeprefix("torch.")
        share = self.lending.share if self.lending else 0.0
        experts = ", experts by the processor" if self.near_experts else ""
        return (f"{dtype}, {share:.1%} by the processor" if share else dtype) + experts

    @property
    def nbytes(self) -> int:
        """Bytes of weights on the device, including the workspaces that packed ones are unpacked into."""
        workspaces = {id(matrix.workspace): matrix.workspace for matrix in self._packed}
        return (
            self._unpacked_nbytes
            + sum(matrix.nbytes for matrix in self._packed if not matrix.mover)
            + (self.streamer.nbytes if self.streamer else 0)
            + sum(workspace.nbytes for workspace in workspaces.values())
        )

    @property
    def last_rows(self) -> Mapping[str, RowLayer]:
        shapes = enumerate(row_shapes(self.config))
        types = getattr(self.config, "layer_types", None) or ()
        return {types[layer]: RowLayer(layer, *shape) for layer, shape in shapes if types and shape}

    def let_processor_help(self, link: DeviceLink, experts_only: bool) -> None:
        """Let the processor multiply by experts in RAM that the card lacks; and, unless `experts_only`, by
        other weights there, if that makes passes faster, which a few passes tell."""
        assert self.streamer is not None
        if not experts_only:
            self._let_processor_help_with_chunks(self.streamer, link)
        self._let_processor_help_with_experts(self.streamer, link)

    def _let_processor_help_with_chunks(self, streamer: Streamer, link: DeviceLink) -> None:
        head = self.module.get_output_embeddings()
        kept = list(head.weights) if isinstance(head, PackedLinear) else []
        self._near = near = NearProducts(streamer, link, shared_pool(), kept)
        if near.sizes:
            self.lending = Lending(streamer, near.sizes, near.turn)
            self.lending.choose(self._timed_pass, near.bytes_per_s(ROWS))
            self.tree_rows = ROWS if self.lending.share else None

    def _let_processor_help_with_experts(self, streamer: Streamer, link: DeviceLink) -> None:
        cache = streamer.near_experts
        if cache and cache.most_lent >= 2 and (mixtures := near_mixtures(self.module, streamer)):
            chosen: int = self.config.num_experts_per_tok
            try:
                near = ExpertProcessor(mixtures, chosen, cache, self.device, link, shared_pool())
            except RuntimeError as error:
                if exhausted_tier(error) != "vram":
                    raise
                _log.warning("The card has no memory to try the processor's help with: %s", error)
                return
            near.help()
            self.near_experts, times = near, near.loan.times
            _log.info(
                "An expert is copied to the card in %.2f ms, and multiplied by in RAM in %.2f ms for one row "
                "and %.2f ms for eight; rows and results cross the link in %.2f ms.",
                *(1e3 * each for each in (times.link_s, times.products_s([1]), times.products_s([8]))),
                1e3 * times.exchange_s,
            )

    def close(self) -> None:
        with ExitStack() as stack:  # whatever fails, the others are closed
            stack.callback(super().close)
            if self.near_experts:
                stack.callback(self.near_experts.close)
            if self._near:
                stack.callback(self._near.close)

    def _timed_pass(self) -> float:
        """Return the seconds of a pass over ROWS rows of plain text."""
        cache = self.new_cache(ROWS)
        started = time.perf_counter()
        self.forward(Rows.text([0] * ROWS, 0), cache).logits.cpu()
        return time.perf_counter() - started

    def new_cache(self, capacity: int) -> TensorCache:
        rows = row_shapes(self.config)
        if self._state_shapes:
            return HybridCache(rows, self._state_shapes, capacity, self.products, self.device)
        return TensorCache(rows, capacity, self.products, self.device)

    def text_cache(self, capacity: int) -> TensorCache:
        if not narrows(self._windows, capacity, apart=self.device != "cpu"):
            return self.new_cache(capacity)
        shapes = row_shapes(self.config)
        return WindowedTensorCache(shapes, self._windows, capacity, self.products, self.device)

    @property
    def runs_apart(self) -> bool:
        # States are made anew by each pass, and the memory of those before may be another stream's. No other
        # stream may be recorded, as the draft's, while this model's passes are recorded as CUDA graphs.
        apart = ways.taken("streams") == "two" and not self._state_shapes and self.graphs is None
        return self.device == "cpu" or apart

    @contextmanager
    def apart(self) -> Iterator[None]:
        if self.device == "cpu":
            yield
            return
        device = torch.device(self.device)
        card = torch.get_device_module(device)
        self._own_stream = own = self._own_stream or card.Stream(device, priority=-1)
        own.wait_stream(card.current_stream(device))
        try:
            with card.stream(own):
                yield
        finally:
            own.synchronize()  # memory of this stream may be used on others, and freed, only from now on

    @torch.inference_mode()
    def embed(self, tokens: NDArray[np.int64]) -> Tensor:
        if len(tokens) and not 0 <= tokens.min() <= tokens.max() < self._rows:  # a card would stop for good
            raise IndexError(f"The tokens {tokens.min()} to {tokens.max()} are not all in the embedding.")
        return self._embedded(torch.from_numpy(tokens).to(self.device))

    def _embedded(self, tokens: Tensor) -> Tensor:
        states: Tensor = self._embedding(tokens)
        return states if self._embedding_factor == 1 else states * self._embedding_factor

    def output_head(self) -> OutputHead:
        return ResidentHead(self)

    @torch.inference_mode()
    def forward(
        self,
        rows: Rows,
        cache: KVCache,
        tail_positions: NDArray[np.int64] | None = None,
        logits_for: slice = slice(None),
        hidden_layers: Sequence[int] = (),
        progress: Progress = no_progress,
    ) -> Output:
        assert isinstance(cache, TensorCache)
        # Here, where the host knows the values: to look at them on a card, the pass would have to wait.
        assert cache.rows_suffice or rows.in_order
        cache.reserve(len(rows))
        if self.lending is not None:
            self.lending.begin(len(rows))
        if tail_positions is None:
            tail_positions = rows.positions[:0]
        output = None
        if self.graphs is not None:
            output = self.graphs.forward(rows, cache, tail_positions, logits_for, hidden_layers, self._run)
        if output is not None:
            progress(self.layers, self.layers)  # a replayed pass is one chunk
        else:
            tensors = TensorRows.of(rows, self.device)
            tail = torch.from_numpy(tail_positions).to(self.device)
            visibility = cache.visibility(tensors, int(rows.positions.max()), tail)
            while output is None:
                try:
                    output = self._run(tensors, visibility, cache, hidden_layers, logits_for, progress)
                except RuntimeError as error:
                    if exhausted_tier(error) != "vram" or not self.streamer or not self.streamer.shrink():
                        raise
                    _log.warning("The graphics card is out of memory: it keeps fewer experts from now on.")
        cache.extend_tail(len(rows))
        return output

    @torch.inference_mode()
    def record(
        self, size: int, keys: tuple[int, ...], cache: TensorCache, hidden_layers: Sequence[int] = ()
    ) -> None:
        """Record passes before there is one to run, as far as they can be recorded: a kernel may have taken a
        safer way since the model was built. Arguments and errors are those of `Graphs.record`."""
        if not self._recordable:
            self.graphs = None
        if self.graphs is not None:
            self.graphs.record(size, keys, cache, hidden_layers, self._run)

    @torch.inference_mode()
    def record_ahead(self, cache: TensorCache, ends: Callable[[], bool]) -> None:
        """Record passes over longer texts than the one in `cache`, as `Graphs.record_ahead` does."""
        if self.graphs is not None:
            self.graphs.record_ahead(cache, self._run, ends)

    def _run(
        self,
        rows: TensorRows,
        visibility: Visibility,
        cache: TensorCache | AddressedCache,
        hidden_layers: Sequence[int],
        logits_for: slice = slice(None),
        progress: Progress = no_progress,
    ) -> Output:
        """Run the pass of `forward` for rows on the model's device; do not extend the cache's tail."""
        position_ids = rows.positions[None]
        state = self._embedded(rows.tokens[None])
        rotary = {
            kind: self._rotary and self._rotary(state, position_ids, *([kind] if kind else []))
            for kind in set(self._rotary_kinds)
        }
        state, inputs = self._surroundings.enter(rows.tokens[None], state)
        hidden: dict[int, Tensor] = {}
        index = 0
        if self.streamer:
            self.streamer.on_chunk = lambda: progress(index, self.layers)
        for index, layer in enumerate(self._body.layers):
            progress(index, self.layers)
            state = layer(
                state,
                attention_mask=visibility,
                position_ids=position_ids,
                past_key_values=cache,
                position_embeddings=rotary[self._rotary_kinds[index]],
                **inputs(index),
            )
            if index in hidden_layers:
                hidden[index] = self._surroundings.leave(state)[0]
        progress(self.layers, self.layers)
        state = self._surroundings.leave(state)
        if self.layers in hidden_layers:
            hidden[self.layers] = self._norm(state[0])
            read = hidden[self.layers][logits_for]
        else:
            read = self._norm(state[0, logits_for])
        return Output(_scaled(self._head(read)[:, : self.vocabulary], self.config), hidden)


class ResidentHead(OutputHead):
    """The output head of a `TorchModel`; if it is streamed, a copy of it in memory: guesses need the head out
    of turn, many times per pass."""

    def __init__(self, model: TorchModel) -> None:
        own: Any = model.module.get_output_embeddings()
        self._head: Any = own
        self.nbytes = 0
        if isinstance(own, PackedLinear) and any(weight.mover for weight in own.weights):
            weights = [weight.copied() for weight in own.weights]
            self._head = PackedLinear(weights, own.bias, own.rope_heads)
            self.nbytes = sum(weight.nbytes for weight in weights)
        self._vocabulary, self._config = model.vocabulary, model.config

    def __call__(self, states: Tensor) -> Tensor:
        return _scaled(self._head(states)[:, : self._vocabulary], self._config)


def _scaled(logits: Tensor, config: PretrainedConfig) -> Tensor:
    """Return the output of the head as the configuration scales (Granite, Cohere) and caps (Gemma 2) it."""
    divisor: float = getattr(config, "logits_scaling", 1.0)
    factor: float = getattr(config, "logit_scale", 1.0)
    cap: float | None = getattr(config, "final_logit_softcapping", None)
    if divisor != 1:
        logits = logits / divisor
    if factor != 1:
        logits = logits * factor
    return logits if cap is None else (logits / cap).tanh() * cap


def is_mixture(module: nn.Module) -> bool:
    """Return whether `module` is a mixture of experts. If so, the host has to read which experts the data
    selects."""
    return any(hasattr(part, "num_experts") for part in module.modules())
