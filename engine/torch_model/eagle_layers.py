"""The layers of EAGLE heads, with the names used in their files. They are built from transformers' Llama
parts, so rows, masks and cache work as in any model."""

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
    """The layers of EAGLE-1 and -2. The input of the first is fc(embedding of the token, state before the
    token). There is no norm before the first layer, nor after the last; in heads of Mistral AI, there are
    both (`normed`)."""

    def __init__(self, config: LlamaConfig, normed: bool) -> None:
        super().__init__()
        width = config.hidden_size
        self.fc = nn.Linear(2 * width, width)
        self.layers = nn.ModuleList(LlamaDecoderLayer(config, n) for n in range(config.num_hidden_layers))
        if not normed:
            self.layers[0].input_layernorm = nn.Identity()
        self.norm = LlamaRMSNorm(width, config.rms_norm_eps) if normed else nn.Identity()

    def fuse(self, states: Tensor) -> Tensor:
        return states

    def forward(self, tokens: Tensor, states: Tensor, **attention: Any) -> Tensor:
        """Return the guessed next states. tokens: their embeddings; tokens, states: [1, rows, width]."""
        states = self.fc(torch.cat((tokens, states), dim=-1))
        for layer in self.layers:
            states = layer(states, **attention)
        last: Tensor = self.norm(states)
        return last


class Eagle3(nn.Module):
    """The layers of EAGLE-3: one decoder layer, which reads fc(three of the target's states) or states that
    it has guessed itself; those do not pass through fc. There is an embedding only if the width differs from
    the target's."""

    def __init__(self, config: LlamaConfig, target_width: int, normed: bool = False) -> None:
        """normed: as for `MidLayer`."""
        super().__init__()
        width = config.hidden_size
        if width != target_width:
            self.embed_tokens = nn.Embedding(config.vocab_size, width)
        self.fc = nn.Linear(3 * target_width, width)
        self.midlayer = MidLayer(config, normed)
        self.norm = LlamaRMSNorm(width, config.rms_norm_eps)
        self.lm_head = nn.Linear(width, config.draft_vocab_size)

    def fuse(self, states: Tensor) -> Tensor:
        fused: Tensor = self.fc(states)
        return fused

    def forward(self, tokens: Tensor, states: Tensor, **attention: Any) -> Tensor:
        """Return the guessed next states. tokens: their embeddings; tokens, states: [1, rows, width]."""
        states = self.midlayer(tokens, states, **attention)
        return states

    def logits(self, states: Tensor) -> Tensor:
        """Return the logits [rows, draft_vocab_size] for states [rows, width]."""
        logits: Tensor = self.lm_head(self.norm(states))
        return logits


class MidLayer(nn.Module):
    """EAGLE-3's decoder layer. Its attention reads the embedding and the state, which are normalised
    separately and then concatenated."""

    def __init__(self, config: LlamaConfig, normed: bool) -> None:
        """normed: whether results are added to the normalised state, in place of the state."""
        super().__init__()
        width, eps = config.hidden_size, config.rms_norm_eps
        self._normed = normed
        self.input_layernorm = LlamaRMSNorm(width, eps)
        self.hidden_norm = LlamaRMSNorm(width, eps)
        self.self_attn = LlamaAttention(config, 0)
        for name in ("q_proj", "k_proj", "v_proj"):
            outputs = getattr(self.self_attn, name).out_features
            setattr(self.self_attn, name, nn.Linear(2 * width, outputs))
        self.post_attention_layernorm = LlamaRMSNorm(width, eps)
        self.mlp = LlamaMLP(config)  # type: ignore[no-untyped-call]

    def forward(self, tokens: Tensor, states: Tensor, **attention: Any) -> Tensor:
        normalised = self.hidden_norm(states)
        both = torch.cat((self.input_layernorm(tokens), normalised), dim=-1)
        states = (normalised if self._normed else states) + self.self_attn(both, **attention)[0]
        output: Tensor = states + self.mlp(self.post_attention_layernorm(states))
        return output
