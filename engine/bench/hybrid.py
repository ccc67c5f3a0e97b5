"""A made-up Granite 4 hybrid, whose layers are Mamba-2 but for every eighth, which attends. Weights are
random: speed depends on the shape alone."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from engine.checkpoints import Checkpoint, Weight

_STATE = 128  # width of a state; of its two shares of the convolution's channels


@dataclass(frozen=True, slots=True)
class HybridShape:
    """The shape of a dense Granite 4 hybrid. mamba_heads: of Mamba-2 layers, together twice as wide as a
    state between layers."""

    layers: int
    hidden: int
    mlp: int
    heads: int
    kv_heads: int
    mamba_heads: int
    vocabulary: int


# Near those of the published models; the vocabulary, whose head is a product like others, is smaller.
HYBRIDS = {
    "granite-350m": HybridShape(32, 768, 2048, 12, 4, 48, 65536),
    "granite-1b": HybridShape(40, 1536, 4096, 12, 4, 48, 65536),
    "granite-tiny": HybridShape(8, 256, 512, 4, 2, 16, 512),
}


def made_up_hybrid(shape: HybridShape, form: str, folder: Path) -> "Checkpoint":
    """Write a checkpoint of `shape`, its matrices stored in the format `form`. Layers of a kind share the
    same bytes."""
    import torch

    from engine.bench.random_weights import random_bytes
    from engine.checkpoints import Checkpoint, Generation, Span, TokenizerFolder, Weight

    path = folder / "hybrid.bin"
    width, inner, heads = shape.hidden, 2 * shape.hidden, shape.mamba_heads
    channels, kv = inner + 2 * _STATE, shape.kv_heads * width // shape.heads
    with path.open("wb") as file:

        def write(size: tuple[int, ...], stored_as: str, data: "torch.Tensor") -> "Weight":
            span = Span(path, file.tell(), data.nbytes, size, stored_as)
            data.numpy().tofile(file)
            return Weight.of(span)

        def matrix(rows: int, columns: int = width) -> "Weight":
            return write((rows, columns), form, random_bytes(form, rows * columns, "cpu"))

        def vector(*size: int) -> "Weight":
            return write(size, "F32", torch.randn(size).flatten().mul_(0.1).view(torch.uint8))

        norm, embedding = vector(width), matrix(shape.vocabulary)
        feed = {
            "input_layernorm.weight": norm,
            "post_attention_layernorm.weight": norm,
            "shared_mlp.input_linear.weight": matrix(2 * shape.mlp),
            "shared_mlp.output_linear.weight": matrix(width, shape.mlp),
        }
        attention = {
            "self_attn.q_proj.weight": matrix(width),
            "self_attn.k_proj.weight": matrix(kv),
            "self_attn.v_proj.weight": matrix(kv),
            "self_attn.o_proj.weight": matrix(width),
        }
        mamba = {
            "mamba.in_proj.weight": matrix(inner + channels + heads),
            "mamba.out_proj.weight": matrix(width, inner),
            "mamba.conv1d.weight": vector(channels, 1, 4),
            "mamba.conv1d.bias": vector(channels),
            "mamba.norm.weight": vector(inner),
            "mamba.A_log": vector(heads),
            "mamba.D": vector(heads),
            "mamba.dt_bias": vector(heads),
        }
    weights = {"model.embed_tokens.weight": embedding, "model.norm.weight": norm}
    types = ["linear_attention" if (number + 1) % 8 else "full_attention" for number in range(shape.layers)]
    for number, kind in enumerate(types):
        parts = feed | (mamba if kind == "linear_attention" else attention)
        weights |= {f"model.layers.{number}.{name}": weight for name, weight in parts.items()}
    config = dict(
        vocab_size=shape.vocabulary,
        hidden_size=width,
        intermediate_size=shape.mlp,
        shared_intermediate_size=shape.mlp,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        num_local_experts=0,
        num_experts_per_tok=0,
        layer_types=types,
        mamba_n_heads=heads,
        mamba_n_groups=1,
        mamba_d_state=_STATE,
        max_position_embeddings=8192,
        rms_norm_eps=1e-5,
        tie_word_embeddings=True,
    )
    tokenizer = TokenizerFolder(folder)
    return Checkpoint(path, "random", "granitemoehybrid", config, weights, tokenizer, Generation())
