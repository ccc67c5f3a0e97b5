"""The layers of assistants of Gemma 4, with the names used in their files."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from transformers.activations import ACT2FN

from engine.heads.assistant import EMBEDDING, Assistant
from engine.model.description import Description
from engine.quantization import PackedLinear
from engine.torch_model.attention import built_in

Text = tuple[Tensor, Tensor]  # keys and values that all rows see, [1, kv_heads, length, head_dim]
Rotation = tuple[Tensor, Tensor]  # cosines and sines of the position of all rows, [pairs]


class AssistantModule(nn.Module):
    """An assistant."""

    def __init__(self, assistant: Assistant) -> None:
        super().__init__()
        of, backbone = assistant.description, assistant.backbone
        self.pre_projection = nn.Linear(2 * backbone, of.width, bias=False)
        self.post_projection = nn.Linear(of.width, backbone, bias=False)
        self.model = AssistantBody(assistant)
        self._head = assistant.head.rpartition(".")[0]
        if assistant.head != EMBEDDING:
            self.lm_head = nn.Linear(of.width, of.rows, bias=False)
        if assistant.clusters is not None:
            self.masked_embedding = Clusters(of.width, len(assistant.clusters))

    @property
    def head(self) -> nn.Module:
        """The layer that gives logits."""
        return self.get_submodule(self._head)

    def head_rows(self, tokens: Tensor) -> Tensor:
        """Return the rows of the head's matrix for tokens, int64 [...]: [..., width]."""
        head: Any = self.head
        if isinstance(head, PackedLinear):
            return head.weights[0].rows(tokens.flatten()).view(*tokens.shape, -1)
        rows: Tensor = head.weight[tokens]
        return rows

    def forward(
        self, tokens: Tensor, states: Tensor, texts: Sequence[Text], rotations: Sequence[Rotation]
    ) -> tuple[Tensor, Tensor]:
        """Return the states behind the last norm, [rows, width], and the target's guessed ones, [rows, width
        of the target's]. tokens: the target's embeddings of them; tokens, states: [rows, width of the
        target's]; texts, rotations: of each layer."""
        inner = self.pre_projection(torch.cat([tokens, states], dim=-1))
        for layer, text, rotation in zip(self.model.layers, texts, rotations, strict=True):
            inner = layer(inner, text, rotation)
        inner = self.model.norm(inner)
        return inner, self.post_projection(inner)


class AssistantBody(nn.Module):
    """The layers, and what surrounds them in the file. `forward` of the whole calls its parts."""

    def __init__(self, assistant: Assistant) -> None:
        super().__init__()
        of = assistant.description
        if assistant.head == EMBEDDING:
            self.embed_tokens = nn.Linear(of.width, of.rows, bias=False)  # what is embedded is the target's
        self.layers = nn.ModuleList(AssistantLayer(of, rows.width) for rows in assistant.reads)
        self.norm = Norm(of.width, of.epsilon)


class Clusters(nn.Module):
    """Scores of clusters of tokens, [rows, clusters]."""

    def __init__(self, width: int, clusters: int) -> None:
        super().__init__()
        self.centroids = nn.Linear(width, clusters, bias=False)

    def forward(self, states: Tensor) -> Tensor:
        scores: Tensor = self.centroids(states)
        return scores


class AssistantLayer(nn.Module):
    """A decoder layer as in Gemma 4, without keys and values."""

    def __init__(self, of: Description, head_dim: int) -> None:
        super().__init__()
        self.self_attn = AssistantAttention(of, head_dim)
        self.mlp = AssistantMLP(of)
        self.input_layernorm = Norm(of.width, of.epsilon)
        self.post_attention_layernorm = Norm(of.width, of.epsilon)
        self.pre_feedforward_layernorm = Norm(of.width, of.epsilon)
        self.post_feedforward_layernorm = Norm(of.width, of.epsilon)
        self.layer_scalar = nn.Parameter(torch.ones(1))

    def forward(self, states: Tensor, text: Text, rotation: Rotation) -> Tensor:
        """Return the states of rows that do not see each other, [rows, width]."""
        attended = self.self_attn(self.input_layernorm(states), text, rotation)
        states = states + self.post_attention_layernorm(attended)
        fed = self.mlp(self.pre_feedforward_layernorm(states))
        output: Tensor = (states + self.post_feedforward_layernorm(fed)) * self.layer_scalar
        return output


class AssistantAttention(nn.Module):
    """Attention of rows to a text."""

    def __init__(self, of: Description, head_dim: int) -> None:
        super().__init__()
        self.q_proj = nn.Linear(of.width, of.heads * head_dim, bias=of.qkv_bias)
        self.o_proj = nn.Linear(of.heads * head_dim, of.width, bias=of.output_bias)
        self.q_norm = Norm(head_dim, of.epsilon)
        self._heads, self._query_scale = of.heads, of.query_scale

    def forward(self, states: Tensor, text: Text, rotation: Rotation) -> Tensor:
        keys, values = text
        rows, kv_heads = len(states), keys.shape[1]
        queries = self.q_norm(self.q_proj(states).view(rows, self._heads, -1))
        queries = _rotated(queries, rotation).transpose(0, 1)
        # Heads that share keys are folded into the rows of one head.
        folded = queries.reshape(1, kv_heads, -1, queries.shape[-1])
        # The target's cache may have rounded keys and values to a shorter dtype than that of states.
        attended = built_in(folded.to(keys.dtype), keys, values, None, self._query_scale)
        attended = attended.to(states.dtype).view(self._heads, rows, -1).transpose(0, 1)
        output: Tensor = self.o_proj(attended.reshape(rows, -1))
        return output


class AssistantMLP(nn.Module):
    def __init__(self, of: Description) -> None:
        super().__init__()
        self.gate_proj, self.up_proj = (nn.Linear(of.width, of.inner, bias=False) for _ in range(2))
        self.down_proj = nn.Linear(of.inner, of.width, bias=False)
        self._activation = ACT2FN[of.activation]

    def forward(self, states: Tensor) -> Tensor:
        output: Tensor = self.down_proj(self._activation(self.gate_proj(states)) * self.up_proj(states))
        return output


class Norm(nn.Module):
    """Divides numbers by their root mean square, in float32."""

    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self._epsilon = epsilon

    def forward(self, states: Tensor) -> Tensor:
        weight = self.weight.float()
        normed = nn.functional.rms_norm(states.float(), weight.shape, weight, self._epsilon)
        return normed.to(states.dtype)


def _rotated(queries: Tensor, rotation: Rotation) -> Tensor:
    """Rotate the first half of each head with the second."""
    cos, sin = rotation
    first, second = queries.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
