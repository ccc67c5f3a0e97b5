"""The layers of EAGLE's heads, named as their files name them. Built of transformers' Llama parts, so that
rows, masks and cache are those of any model."""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import (
    LlamaAttention,
    LlamaDecoderLayer,
    LlamaMLP,
    LlamaRMSNorm,
)


class Eagle(nn.Module):
    """EAGLE-1 and -2: layers over fc(embedding of the token, state before it). The first has no norm in
    front, the last none behind."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.fc = nn.Linear(2 * width, width)
        self.layers = nn.ModuleList(LlamaDecoderLayer(config, n) for n in range(config.num_hidden_layers))
        self.layers[0].input_layernorm = nn.Identity()

    def fuse(self, states: Tensor) -> Tensor:
        return states

    def forward(self, tokens: Tensor, states: Tensor, **attention: Any) -> Tensor:
        """tokens (embedded), states: [1, rows, width]"""
        states = self.fc(torch.cat((tokens, states), dim=-1))
        for layer in self.layers:
            states = layer(states, **attention)
        return states


class Eagle3(nn.Module):
    """EAGLE-3: one layer over what fc makes of three of the target's states. Its own output is not put
    through fc again. It embeds tokens itself only where it is not as wide as the target."""

    def __init__(self, config: LlamaConfig, target_width: int) -> None:
        super().__init__()
        width = config.hidden_size
        if width != target_width:
            self.embed_tokens = nn.Embedding(config.vocab_size, width)
        self.fc = nn.Linear(3 * target_width, width)
        self.midlayer = MidLayer(config)
        self.norm = LlamaRMSNorm(width, config.rms_norm_eps)
        self.lm_head = nn.Linear(width, config.draft_vocab_size)

    def fuse(self, states: Tensor) -> Tensor:
        fused: Tensor = self.fc(states)
        return fused

    def forward(self, tokens: Tensor, states: Tensor, **attention: Any) -> Tensor:
        """As Eagle's."""
        states = self.midlayer(tokens, states, **attention)
        return states

    def logits(self, states: Tensor) -> Tensor:
        """[rows, width] -> [rows, draft_vocab_size]"""
        logits: Tensor = self.lm_head(self.norm(states))
        return logits


class MidLayer(nn.Module):
    """Its attention reads embedding and state side by side, each behind a norm of its own."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        width, eps = config.hidden_size, config.rms_norm_eps
        self.input_layernorm = LlamaRMSNorm(width, eps)
        self.hidden_norm = LlamaRMSNorm(width, eps)
        self.self_attn = LlamaAttention(config, 0)
        for name in ("q_proj", "k_proj", "v_proj"):
            outputs = getattr(self.self_attn, name).out_features
            setattr(self.self_attn, name, nn.Linear(2 * width, outputs))
        self.post_attention_layernorm = LlamaRMSNorm(width, eps)
        self.mlp = LlamaMLP(config)  # type: ignore[no-untyped-call]

    def forward(self, tokens: Tensor, states: Tensor, **attention: Any) -> Tensor:
        both = torch.cat((self.input_layernorm(tokens), self.hidden_norm(states)), dim=-1)
        states = states + self.self_attn(both, **attention)[0]
        output: Tensor = states + self.mlp(self.post_attention_layernorm(states))
        return output
