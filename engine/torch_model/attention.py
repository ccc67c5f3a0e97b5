"""The attention function that transformers' attention modules call. It computes every keyword that it is
given, or refuses it by its name: a keyword that were dropped would make the text silently wrong."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import AttentionInterface

from engine import ways
from engine.errors import UnsupportedModel
from engine.torch_model.visibility import ROWS_PER_PIECE, Visibility

# Keywords that change nothing here: positions are in queries and keys already, and the module passes the
# others on from its own arguments.
_WITHOUT_EFFECT = frozenset({"position_ids", "use_cache", "output_attentions", "output_hidden_states"})


def refuse_unknown(module: nn.Module, keywords: Mapping[str, object]) -> None:
    """Raise UnsupportedModel if one of the keywords that an attention module passes beyond those that the
    attention function has would change what it computes. A keyword that is None asks for nothing."""
    for name, value in keywords.items():
        causal = name == "is_causal" and value is True
        if value is not None and name not in _WITHOUT_EFFECT and not causal:
            raise UnsupportedModel(
                f"The attention of this model ({type(module).__name__}) asks for “{name}”, which is not "
                "supported.",
                "Choose another model.",
            )


def attend(
    module: nn.Module,
    query: Tensor,  # [1, heads, rows, head_dim]
    key: Tensor,  # [1, kv_heads, keys, head_dim]
    value: Tensor,
    attention_mask: Visibility,
    scaling: float,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **others: object,
) -> tuple[Tensor, None]:
    """Compute attention; transformers calls this function. Query heads that share a key head are folded into
    the rows of one head, so that keys are not repeated. s_aux: each head's sink, [heads]. The cache may have
    rounded keys and values to a shorter dtype than that of states; it is computed in theirs."""
    refuse_unknown(module, others | {"dropout": dropout or None})
    states, query = query.dtype, query.to(key.dtype)
    heads, rows, width = query.shape[1:]
    kv_heads = key.shape[1]
    group = heads // kv_heads
    output = query.new_empty(1, rows, heads, value.shape[3])
    for start in range(0, rows, ROWS_PER_PIECE):
        stop = min(start + ROWS_PER_PIECE, rows)
        mask = attention_mask.mask(start, stop, sliding_window, group, query.dtype)
        keys = key.shape[2] if mask is None else mask.shape[1]
        assert stop < rows or keys == key.shape[2], "the cache has the rows that the mask is for"
        folded = query[:, :, start:stop].reshape(1, kv_heads, group * (stop - start), width)
        seen = key[:, :, :keys], value[:, :, :keys]
        if softcap is None and s_aux is None:
            piece = built_in(folded, *seen, mask, scaling)
        else:
            sinks = None
            if s_aux is not None:
                each = s_aux.view(kv_heads, group, 1).expand(-1, -1, stop - start)
                sinks = each.reshape(1, kv_heads, group * (stop - start), 1)
            piece = _written_out(folded, *seen, mask, scaling, softcap, sinks)
        output[:, start:stop] = piece.view(1, heads, stop - start, -1).transpose(1, 2)
    return output.to(states), None


def built_in(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """Compute torch's attention. The arguments are those of `scaled_dot_product_attention`."""
    product = nn.functional.scaled_dot_product_attention
    if ways.taken("attention", query.shape[-1], query.dtype) == "fused":
        return product(query, key, value, attn_mask=mask, scale=scale)
    with sdpa_kernel(SDPBackend.MATH):
        return product(query, key, value, attn_mask=mask, scale=scale)


def _written_out(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scale: float,
    cap: float | None,
    sinks: Tensor | None,
) -> Tensor:
    """Return softmax(cap tanh(scale Q K^T / cap)) V (Gemma 2, arXiv 2408.00118, section 2), where a sink is
    one more score of each row, whose share goes to no value (gpt-oss). torch's attention has neither. The
    other arguments are those of `scaled_dot_product_attention`; `mask` is added to the scores."""
    if ways.taken("scores", query.shape[-1], query.dtype) == "float32":
        query, key, value = query.float(), key.float(), value.float()
    # Queries are scaled, not scores: before that, these may be too large for float16.
    scores = (query * (scale if cap is None else scale / cap)) @ key.transpose(2, 3)
    if cap is not None:
        scores = scores.tanh_().mul_(cap)
    if mask is not None:
        scores += mask
    if sinks is not None:
        scores = torch.cat([scores, sinks.to(scores.dtype)], dim=-1)
    shares = scores.softmax(dim=-1, dtype=torch.float32).to(value.dtype)
    return shares[..., : key.shape[2]] @ value


ATTENTION = "specexec"
AttentionInterface.register(ATTENTION, attend)
