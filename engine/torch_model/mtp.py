"""The layer for multi-token prediction (MTP) that comes with Qwen 3.5: it guesses the target's next state
from its last state and the token chosen there, as EAGLE-1 does, so the same drafter grows trees with it.

transformers leaves these tensors out. Their format is known from vLLM's code (qwen3_5_mtp.py, read in
November 2026): the state is the target's after its final norm; states and embeddings are normalized
separately, and fc reads the embedding first; behind one decoder layer with full attention there is a norm,
whose output is the guessed state: the input of the target's output head, and of the next step. A row has the
position of its state. It was not run with real weights here.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from transformers import Qwen3_5TextConfig
from transformers.models.qwen3_5.modeling_qwen3_5 import Qwen3_5DecoderLayer, Qwen3_5RMSNorm


def mtp_config(target: Mapping[str, Any]) -> Qwen3_5TextConfig:
    """Return the target's configuration with one layer, which attends."""
    settings = {key: value for key, value in target.items() if key != "model_type"}
    return Qwen3_5TextConfig(**settings | {"num_hidden_layers": 1, "layer_types": ["full_attention"]})


class MtpLayer(nn.Module):
    """The layer with its norms, by the names of the files."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        width, eps = config.hidden_size, config.rms_norm_eps
        self.pre_fc_norm_embedding = Qwen3_5RMSNorm(width, eps)
        self.pre_fc_norm_hidden = Qwen3_5RMSNorm(width, eps)
        self.fc = nn.Linear(2 * width, width, bias=False)
        self.layers = nn.ModuleList([Qwen3_5DecoderLayer(config, 0)])
        self.norm = Qwen3_5RMSNorm(width, eps)

    def fuse(self, states: Tensor) -> Tensor:
        return states

    def forward(self, tokens: Tensor, states: Tensor, **attention: Any) -> Tensor:
        """Return the guessed next states. tokens: their embeddings; tokens, states: [1, rows, width]."""
        both = self.pre_fc_norm_embedding(tokens), self.pre_fc_norm_hidden(states)
        guessed: Tensor = self.norm(self.layers[0](self.fc(torch.cat(both, dim=-1)), **attention))
        return guessed
