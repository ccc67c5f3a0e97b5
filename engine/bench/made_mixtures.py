"""Made-up mixtures of experts, whose tokens choose the experts of a made-up routing. All other weights are
random: speed depends on the shape and on the routing alone."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.bench.made_routes import SIZE, Signs, routers, signs_of
from engine.bench.made_routing import Routing
from engine.bench.random_weights import RandomFile
from engine.checkpoints import Checkpoint, Generation, TokenizerFolder, Weight


@dataclass(frozen=True, slots=True)
class MadeMixture:
    """The shape of a mixture whose layers are those of a Qwen3, each with a mixture.

    Attributes: `hidden`, `inner`: rows of an expert's down, and of its gate and up; `head`: width of one of
    `heads` and `kv_heads`; `chosen`, by each token, of the `experts` of a layer; `form`, in which experts are
    stored; `other`, that of the other matrices.
    """

    layers: int
    hidden: int
    inner: int
    heads: int
    kv_heads: int
    head: int
    experts: int
    chosen: int
    vocabulary: int
    form: str
    other: str

    def attention(self, made: RandomFile) -> dict[str, Weight]:
        queries, kv = self.head * self.heads, self.head * self.kv_heads
        return {
            "self_attn.q_proj.weight": made.matrix(queries, self.hidden),
            "self_attn.k_proj.weight": made.matrix(kv, self.hidden),
            "self_attn.v_proj.weight": made.matrix(kv, self.hidden),
            "self_attn.o_proj.weight": made.matrix(self.hidden, queries),
            "self_attn.q_norm.weight": _ones(made, self.head),
            "self_attn.k_norm.weight": _ones(made, self.head),
        }

    def of_experts(self, made: RandomFile) -> dict[str, Weight]:
        """Return the experts of a layer, all different."""
        weights: dict[str, Weight] = {}
        for expert in range(self.experts):
            path = f"mlp.experts.{expert}"
            weights[f"{path}.gate_proj.weight"] = made.matrix(self.inner, self.hidden)
            weights[f"{path}.up_proj.weight"] = made.matrix(self.inner, self.hidden)
            weights[f"{path}.down_proj.weight"] = made.matrix(self.hidden, self.inner)
        return weights


# Layers, matrices and experts as the published models have them. There are fewer layers, and the vocabulary,
# whose head is a product like others, is smaller, as their share of so few layers would be too large.
SHAPES = {
    # Qwen3-30B-A3B, of which there are 48 layers
    "qwen3": MadeMixture(8, 2048, 768, 32, 4, 128, 128, 8, 8192, "Q4_K", "Q4_K"),
    # The experts of gpt-oss-20b, but for their biases, of which there are 24 layers
    "gpt-oss": MadeMixture(6, 2880, 2880, 64, 8, 64, 32, 4, 8192, "MXFP4", "Q8_0"),
    "tiny": MadeMixture(2, 256, 256, 4, 2, 64, 16, 2, 512, "Q4_K", "Q4_K"),
}


def made_mixture(shape: MadeMixture, routing: Routing, folder: Path) -> Checkpoint:
    """Write a checkpoint of `shape` to one file in `folder`. Token t, one of the first `routing.passes`,
    chooses the experts of pass t of `routing`, whose passes have one row, and are fewer than the width.

    All layers share the same bytes, but for their routers: the file is only as large as one layer, the
    embedding and the head together.
    """
    path = folder / "mixture.bin"
    signs = signs_of(shape.vocabulary, shape.hidden)
    with path.open("wb") as file:
        made = RandomFile(path, file, shape.other)
        norm = _ones(made, shape.hidden)
        weights = {
            "model.embed_tokens.weight": _embedding(made, signs),
            "lm_head.weight": made.matrix(shape.vocabulary, shape.hidden),
            "model.norm.weight": norm,
        }
        layer = {"input_layernorm.weight": norm, "post_attention_layernorm.weight": norm}
        layer |= shape.attention(made) | shape.of_experts(replace(made, form=shape.form))
        for number, router in enumerate(routers(routing, signs[: routing.passes])):
            parts = layer | {"mlp.gate.weight": made.write(router.shape, "F32", _bytes(router))}
            weights |= {f"model.layers.{number}.{name}": weight for name, weight in parts.items()}
    config = dict(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        intermediate_size=shape.inner,
        moe_intermediate_size=shape.inner,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        head_dim=shape.head,
        num_experts=shape.experts,
        num_experts_per_tok=shape.chosen,
        norm_topk_prob=True,
        max_position_embeddings=8192,
        rms_norm_eps=1e-6,
        rope_parameters=dict(rope_type="default", rope_theta=1e6),
        tie_word_embeddings=False,
    )
    return Checkpoint(path, "random", "qwen3_moe", config, weights, TokenizerFolder(folder), Generation())


def _ones(made: RandomFile, size: int) -> Weight:
    return made.write((size,), "F32", torch.ones(size).view(torch.uint8))


def _embedding(made: RandomFile, signs: Signs) -> Weight:
    numbers = np.where(signs, np.float16(SIZE), np.float16(-SIZE))
    return made.write(signs.shape, "F16", _bytes(numbers))


def _bytes(numbers: NDArray[np.floating[Any]]) -> Tensor:
    return torch.from_numpy(numbers.reshape(-1).view(np.uint8))
