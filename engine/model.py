"""One forward pass over rows: transformers' decoder layers, our rows, masks and cache.

A row is a token with a position and the set of cached slots and other rows it may see; a token tree is one
way to make rows, a piece of prompt another. Never knows where weights came from, who proposed the rows, or
what text they are.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, PreTrainedModel
from transformers.configuration_utils import PretrainedConfig

from engine.graphs import CudaRecorder, Graphs
from engine.kv_cache import AddressedSlots, KVCache, head_dim
from engine.quantization import Mover, packed_in
from engine.rows import ROWS_PER_PIECE, Output, Rows, Visibility

__all__ = ["ATTENTION", "ROWS_PER_PIECE", "Model", "Output", "Rows", "Watch", "no_watch"]

# Called before each chunk of a pass with (chunks done, chunks in all); ends the pass by raising.
Watch = Callable[[int, int], None]


def no_watch(done: int, total: int) -> None:
    """The Watch of a pass that nobody looks at."""


def _attend(
    module: nn.Module,
    query: Tensor,  # [1, heads, rows, head_dim]
    key: Tensor,  # [1, kv_heads, keys, head_dim]
    value: Tensor,
    attention_mask: Visibility,
    scaling: float,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **others: object,
) -> tuple[Tensor, None]:
    """transformers' attention interface. Query heads that share a key head are folded into its rows: keys are
    not repeated."""
    heads, rows, width = query.shape[1:]
    kv_heads = key.shape[1]
    group = heads // kv_heads
    output = query.new_empty(1, rows, heads, width)
    for start in range(0, rows, ROWS_PER_PIECE):
        stop = min(start + ROWS_PER_PIECE, rows)
        mask = attention_mask.mask(start, stop, sliding_window, group, query.dtype)
        keys = key.shape[2] if mask is None else mask.shape[1]
        folded = query[:, :, start:stop].reshape(1, kv_heads, group * (stop - start), width)
        if softcap is None:
            piece = nn.functional.scaled_dot_product_attention(
                folded, key[:, :, :keys], value[:, :, :keys], attn_mask=mask, scale=scaling
            )
        else:
            piece = _capped_attention(folded, key[:, :, :keys], value[:, :, :keys], mask, scaling, softcap)
        output[:, start:stop] = piece.view(1, heads, stop - start, width).transpose(1, 2)
    return output, None


def _capped_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float, cap: float
) -> Tensor:
    """softmax(cap tanh(scale Q K^T / cap)) V (Gemma 2, arXiv 2408.00118, section 2), which torch's attention
    does not offer. Arguments as `scaled_dot_product_attention`'s; the `mask` is added."""
    scores = (query @ key.transpose(2, 3)).mul_(scale / cap).tanh_().mul_(cap)
    if mask is not None:
        scores += mask
    return scores.softmax(dim=-1, dtype=torch.float32).to(value.dtype) @ value


ATTENTION = "specexec"
AttentionInterface.register(ATTENTION, _attend)


class Model:
    """A causal language model on its compute device.

    Attributes: `config` (transformers'), `vocabulary` (tokens that get logits), `layers`, `dtype`, `device`,
    `packed` (matrices are kept as stored), `graphs` (they run small passes, where all weights are on a CUDA
    device; else None).
    """

    def __init__(
        self,
        module: PreTrainedModel,
        config: PretrainedConfig,
        dtype: torch.dtype,
        device: torch.device,
        vocabulary: int | None = None,
        packed: bool = False,
        mover: Mover | None = None,
    ) -> None:
        """module: transformers' ...ForCausalLM with attention implementation ATTENTION, weights in place,
        rotary frequencies fixed (`engine.rope`).

        dtype, device: of states, keys and values, and logits.
        vocabulary: tokens there are, where the head is padded to more; what lies behind them stands for
        nothing and gets no logits.
        packed: whether matrices are kept as stored. mover: brings those that are not in memory; closed with
        the model.
        """
        self.config = config
        self.module = module.eval()  # type: ignore[no-untyped-call]
        self._body: Any = module.model  # transformers declares neither
        self._head: Any = module.lm_head
        self.layers = len(self._body.layers)
        # Gemma 3: local and global layers rotate by frequencies of their own.
        by_kind = isinstance(self._body.rotary_emb.rope_type, dict)
        self._rotary_kinds: list[str | None] = config.layer_types if by_kind else [None] * self.layers
        self._logit_cap: float | None = getattr(config, "final_logit_softcapping", None)
        rows: int = config.vocab_size
        self.vocabulary = min(rows, vocabulary or rows)
        self.dtype = dtype
        self.device = device
        weights = list(module.parameters())  # each once, also where the head is tied to the embedding
        self._packed = packed_in(module)
        self.mover = mover
        self.packed = packed
        self._unpacked_nbytes = sum(weight.nbytes for weight in weights)
        self.graphs: Graphs | None = None
        if device.type == "cuda" and mover is None and not is_mixture(module):
            self.graphs = Graphs(CudaRecorder(device), [matrix.workspace for matrix in self._packed])

    @property
    def nbytes(self) -> int:
        """Memory the weights take on the device, with the room that packed ones are unpacked into."""
        workspaces = {id(matrix.workspace): matrix.workspace for matrix in self._packed}
        return (
            self._unpacked_nbytes
            + sum(matrix.nbytes for matrix in self._packed if not matrix.mover)
            + (self.mover.nbytes if self.mover else 0)
            + sum(workspace.nbytes for workspace in workspaces.values())
        )

    @property
    def moved(self) -> int:
        """Bytes of weights streamed so far."""
        return self.mover.moved if self.mover else 0

    @property
    def waited_s(self) -> float:
        """Seconds that passes have waited for streamed weights so far."""
        return self.mover.waited_s if self.mover else 0.0

    def close(self) -> None:
        """End what streams weights. The model cannot be used afterwards."""
        if self.mover:
            self.mover.close()

    def new_cache(self, capacity: int) -> KVCache:
        config = self.config
        return KVCache(
            self.layers, config.num_key_value_heads, head_dim(config), capacity, self.dtype, self.device
        )

    @torch.inference_mode()
    def forward(
        self,
        rows: Rows,
        cache: KVCache,
        tail_positions: Tensor | None = None,
        logits_for: slice = slice(None),
        hidden_layers: Sequence[int] = (),
        watch: Watch = no_watch,
    ) -> Output:
        """One pass over `rows`; their keys and values join the cache's tail.

        tail_positions: int64 [tail], positions of the rows the tail already holds (needed for sliding
        windows).
        logits_for: which rows get logits. hidden_layers: whose outputs are returned, of all rows; the number
        `layers` itself stands for what the head reads: the state after the final norm.
        A pass that `watch` ends leaves the cache unchanged.
        """
        cache.reserve(len(rows))
        if tail_positions is None:
            tail_positions = rows.positions[:0]
        output = None
        if self.graphs is not None:
            output = self.graphs.forward(rows, cache, tail_positions, logits_for, hidden_layers, self._run)
        if output is not None:
            watch(self.layers, self.layers)  # what is replayed is one chunk
        else:
            last = int(rows.positions.max())
            rows, tail_positions = rows.to(self.device), tail_positions.to(self.device)
            visibility = Visibility(rows, last, cache.length, tail_positions)
            output = self._run(rows, visibility, cache, hidden_layers, logits_for, watch)
        cache.extend_tail(len(rows))
        return output

    def _run(
        self,
        rows: Rows,
        visibility: Visibility,
        cache: KVCache | AddressedSlots,
        hidden_layers: Sequence[int],
        logits_for: slice = slice(None),
        watch: Watch = no_watch,
    ) -> Output:
        """As `forward`, on the model's device; the tail is not extended."""
        position_ids = rows.positions[None]
        state = self._body.embed_tokens(rows.tokens[None])
        rotary = {kind: self._body.rotary_emb(state, position_ids, kind) for kind in set(self._rotary_kinds)}
        hidden: dict[int, Tensor] = {}
        index = 0
        if self.mover:
            self.mover.look = lambda: watch(index, self.layers)
        for index, layer in enumerate(self._body.layers):
            watch(index, self.layers)
            state = layer(
                state,
                attention_mask=visibility,
                position_ids=position_ids,
                past_key_values=cache,
                position_embeddings=rotary[self._rotary_kinds[index]],
            )
            if index in hidden_layers:
                hidden[index] = state[0]
        watch(self.layers, self.layers)
        if self.layers in hidden_layers:
            hidden[self.layers] = self._body.norm(state[0])
            read = hidden[self.layers][logits_for]
        else:
            read = self._body.norm(state[0, logits_for])
        logits: Tensor = self._head(read)[:, : self.vocabulary]
        if self._logit_cap is not None:
            logits = (logits / self._logit_cap).tanh() * self._logit_cap
        return Output(logits, hidden)


def is_mixture(module: nn.Module) -> bool:
    """Whether which experts run hangs on numbers: the host has to see them."""
    return any(hasattr(part, "num_experts") for part in module.modules())
