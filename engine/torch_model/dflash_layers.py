"""The layers of DFlash heads, with the names used in their files (github.com/z-lab/dflash, dflash/model.py).

They are decoder layers as in Qwen 3, in which the text before the block is present only as keys and values:
each layer projects them from the same fused states of the target.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import Qwen3Config
from transformers.models.qwen3.modeling_qwen3 import Qwen3MLP, Qwen3RMSNorm, rotate_half

from engine.torch_model.attention import attend
from engine.torch_model.tensor_cache import TensorCache, head_dim
from engine.torch_model.visibility import Visibility


class DFlash(nn.Module):
    """A head without embedding and output head, which are the target's."""

    def __init__(self, config: Qwen3Config, levels: int) -> None:
        """levels: number of the target's layers that are read."""
        super().__init__()
        width = config.hidden_size
        self.fc = nn.Linear(levels * width, width)
        self.hidden_norm = Qwen3RMSNorm(width, config.rms_norm_eps)
        self.layers = nn.ModuleList(DFlashLayer(config, n) for n in range(config.num_hidden_layers))
        self.norm = Qwen3RMSNorm(width, config.rms_norm_eps)

    def fuse(self, states: Tensor) -> Tensor:
        """Return what the layers read of the target's states [..., levels * width]."""
        fused: Tensor = self.hidden_norm(self.fc(states))
        return fused


class DFlashLayer(nn.Module):
    """A decoder layer. Attributes: `window`, as in Qwen 3; `slides`, whether it is a layer with a window."""

    def __init__(self, config: Any, index: int) -> None:
        super().__init__()
        width = config.hidden_size
        self.slides = config.layer_types[index] == "sliding_attention"
        self.window: int | None = config.sliding_window if self.slides else None
        self.self_attn = DFlashAttention(config, index)
        self.mlp = Qwen3MLP(config)  # type: ignore[no-untyped-call]
        self.input_layernorm = Qwen3RMSNorm(width, config.rms_norm_eps)
        self.post_attention_layernorm = Qwen3RMSNorm(width, config.rms_norm_eps)

    def forward(self, states: Tensor, text: Tensor, **attention: Any) -> Tensor:
        """Return the block's states [1, block, width]. text: fused states of the tokens before the block that
        are not in the cache, [1, rows, width]."""
        states = states + self.self_attn(self.input_layernorm(states), text, window=self.window, **attention)
        output: Tensor = states + self.mlp(self.post_attention_layernorm(states))
        return output


class DFlashAttention(nn.Module):
    """Attention with queries for the block, and keys and values for the text and the block."""

    def __init__(self, config: Any, index: int) -> None:
        super().__init__()
        width, self._head_dim, self._index = config.hidden_size, head_dim(config), index
        self.q_proj = nn.Linear(width, config.num_attention_heads * self._head_dim)
        self.k_proj = nn.Linear(width, config.num_key_value_heads * self._head_dim)
        self.v_proj = nn.Linear(width, config.num_key_value_heads * self._head_dim)
        self.o_proj = nn.Linear(config.num_attention_heads * self._head_dim, width)
        self.q_norm = Qwen3RMSNorm(self._head_dim, config.rms_norm_eps)
        self.k_norm = Qwen3RMSNorm(self._head_dim, config.rms_norm_eps)

    def forward(
        self,
        states: Tensor,
        text: Tensor,
        window: int | None,
        rotary: tuple[Tensor, Tensor],
        visible: Visibility,
        cache: TensorCache,
    ) -> Tensor:
        """rotary: cosines and sines [1, rows, head_dim] of the positions of text and block."""
        both = torch.cat([text, states], dim=1)
        count = states.shape[1]
        cos, sin = (factor[:, None] for factor in rotary)
        queries = self.q_norm(self._heads(self.q_proj(states))).transpose(1, 2)
        keys = self.k_norm(self._heads(self.k_proj(both))).transpose(1, 2)
        values = self._heads(self.v_proj(both)).transpose(1, 2)
        queries = queries * cos[:, :, -count:] + rotate_half(queries) * sin[:, :, -count:]  # type: ignore[no-untyped-call]
        keys = keys * cos + rotate_half(keys) * sin  # type: ignore[no-untyped-call]
        keys, values = cache.update(keys, values, self._index)
        attended, _ = attend(
            self, queries, keys, values, visible, self._head_dim**-0.5, sliding_window=window
        )
        output: Tensor = self.o_proj(attended.flatten(2))
        return output

    def _heads(self, projected: Tensor) -> Tensor:
        """Return [1, rows, heads, head_dim]."""
        return projected.view(*projected.shape[:-1], -1, self._head_dim)
