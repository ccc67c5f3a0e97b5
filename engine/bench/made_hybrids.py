"""Made-up hybrids, whose layers have states but for those that attend: a Qwen 3.5 and a Granite 4. Weights
are random: speed depends on the shape alone."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from engine.bench.random_weights import RandomFile
    from engine.checkpoints import Checkpoint, Weight

_STATE = 128  # width of a state of a Granite; of its two shares of the convolution's channels


@dataclass(frozen=True, slots=True)
class Qwen35Shape:
    """The shape of a Qwen 3.5, whose layers with states are gated DeltaNet, with heads 128 wide; those of
    attention are 256 wide. key_heads, value_heads: of layers with states."""

    architecture: ClassVar[str] = "qwen3_5_text"
    period: ClassVar[int] = 4  # the last of so many layers attends

    layers: int
    hidden: int
    mlp: int
    heads: int
    kv_heads: int
    key_heads: int
    value_heads: int
    vocabulary: int

    def feed(self, made: "RandomFile") -> dict[str, "Weight"]:
        return {
            "mlp.gate_proj.weight": made.matrix(self.mlp, self.hidden),
            "mlp.up_proj.weight": made.matrix(self.mlp, self.hidden),
            "mlp.down_proj.weight": made.matrix(self.hidden, self.mlp),
        }

    def attention(self, made: "RandomFile") -> dict[str, "Weight"]:
        queries, kv = 256 * self.heads, 256 * self.kv_heads
        return {
            "self_attn.q_proj.weight": made.matrix(2 * queries, self.hidden),
            "self_attn.k_proj.weight": made.matrix(kv, self.hidden),
            "self_attn.v_proj.weight": made.matrix(kv, self.hidden),
            "self_attn.o_proj.weight": made.matrix(self.hidden, queries),
            "self_attn.q_norm.weight": made.vector(256),
            "self_attn.k_norm.weight": made.vector(256),
        }

    def stateful(self, made: "RandomFile") -> dict[str, "Weight"]:
        keys, values = 128 * self.key_heads, 128 * self.value_heads
        channels = 2 * keys + values
        return {
            "linear_attn.in_proj_qkv.weight": made.matrix(channels, self.hidden),
            "linear_attn.in_proj_z.weight": made.matrix(values, self.hidden),
            "linear_attn.in_proj_b.weight": made.matrix(self.value_heads, self.hidden),
            "linear_attn.in_proj_a.weight": made.matrix(self.value_heads, self.hidden),
            "linear_attn.out_proj.weight": made.matrix(self.hidden, values),
            "linear_attn.conv1d.weight": made.vector(channels, 1, 4),
            "linear_attn.norm.weight": made.vector(128),
            "linear_attn.A_log": made.vector(self.value_heads),
            "linear_attn.dt_bias": made.vector(self.value_heads),
        }

    def settings(self) -> dict[str, Any]:
        return dict(
            head_dim=256,
            linear_num_key_heads=self.key_heads,
            linear_num_value_heads=self.value_heads,
            rms_norm_eps=1e-6,
            rope_parameters=dict(rope_type="default", rope_theta=1e7, partial_rotary_factor=0.25),
        )


@dataclass(frozen=True, slots=True)
class Granite4Shape:
    """The shape of a dense Granite 4 hybrid, whose layers with states are Mamba-2. mamba_heads: of these
    layers, together twice as wide as a state between layers."""

    architecture: ClassVar[str] = "granitemoehybrid"
    period: ClassVar[int] = 8

    layers: int
    hidden: int
    mlp: int
    heads: int
    kv_heads: int
    mamba_heads: int
    vocabulary: int

    def feed(self, made: "RandomFile") -> dict[str, "Weight"]:
        return {
            "shared_mlp.input_linear.weight": made.matrix(2 * self.mlp, self.hidden),
            "shared_mlp.output_linear.weight": made.matrix(self.hidden, self.mlp),
        }

    def attention(self, made: "RandomFile") -> dict[str, "Weight"]:
        kv = self.kv_heads * self.hidden // self.heads
        return {
            "self_attn.q_proj.weight": made.matrix(self.hidden, self.hidden),
            "self_attn.k_proj.weight": made.matrix(kv, self.hidden),
            "self_attn.v_proj.weight": made.matrix(kv, self.hidden),
            "self_attn.o_proj.weight": made.matrix(self.hidden, self.hidden),
        }

    def stateful(self, made: "RandomFile") -> dict[str, "Weight"]:
        inner = 2 * self.hidden
        channels = inner + 2 * _STATE
        return {
            "mamba.in_proj.weight": made.matrix(inner + channels + self.mamba_heads, self.hidden),
            "mamba.out_proj.weight": made.matrix(self.hidden, inner),
            "mamba.conv1d.weight": made.vector(channels, 1, 4),
            "mamba.conv1d.bias": made.vector(channels),
            "mamba.norm.weight": made.vector(inner),
            "mamba.A_log": made.vector(self.mamba_heads),
            "mamba.D": made.vector(self.mamba_heads),
            "mamba.dt_bias": made.vector(self.mamba_heads),
        }

    def settings(self) -> dict[str, Any]:
        return dict(
            shared_intermediate_size=self.mlp,
            num_local_experts=0,
            num_experts_per_tok=0,
            mamba_n_heads=self.mamba_heads,
            mamba_n_groups=1,
            mamba_d_state=_STATE,
            rms_norm_eps=1e-5,
        )


HybridShape = Qwen35Shape | Granite4Shape

# Near those of the published models; the vocabulary, whose head is a product like others, is smaller.
QWENS = {
    "0.8b": Qwen35Shape(24, 1024, 3584, 8, 2, 16, 16, 65536),
    "2b": Qwen35Shape(24, 2048, 6144, 8, 2, 16, 16, 65536),
    "4b": Qwen35Shape(32, 2560, 9216, 16, 4, 16, 32, 65536),
    "tiny": Qwen35Shape(4, 256, 512, 1, 1, 8, 16, 512),
}
GRANITES = {
    "granite-350m": Granite4Shape(32, 768, 2048, 12, 4, 48, 65536),
    "granite-1b": Granite4Shape(40, 1536, 4096, 12, 4, 48, 65536),
    "granite-tiny": Granite4Shape(8, 256, 512, 4, 2, 16, 512),
}
HYBRIDS: dict[str, HybridShape] = {**QWENS, **GRANITES}


def made_hybrid(shape: HybridShape, form: str, folder: Path) -> "Checkpoint":
    """Write a checkpoint of `shape`, its matrices stored in the format `form`. Layers of a kind share the
    same bytes."""
    from engine.bench.random_weights import RandomFile
    from engine.checkpoints import Checkpoint, Generation, TokenizerFolder

    path = folder / "hybrid.bin"
    with path.open("wb") as file:
        made = RandomFile(path, file, form)
        norm, embedding = made.vector(shape.hidden), made.matrix(shape.vocabulary, shape.hidden)
        norms = {f"{place}_layernorm.weight": norm for place in ("input", "post_attention")}
        feed, attention, stateful = shape.feed(made), shape.attention(made), shape.stateful(made)
    weights = {"model.embed_tokens.weight": embedding, "model.norm.weight": norm}
    attends = [(number + 1) % shape.period == 0 for number in range(shape.layers)]
    for number, each in enumerate(attends):
        parts = norms | feed | (attention if each else stateful)
        weights |= {f"model.layers.{number}.{name}": weight for name, weight in parts.items()}
    config = dict(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        intermediate_size=shape.mlp,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        layer_types=["full_attention" if each else "linear_attention" for each in attends],
        max_position_embeddings=8192,
        tie_word_embeddings=True,
        **shape.settings(),
    )
    tokenizer = TokenizerFolder(folder)
    return Checkpoint(path, "random", shape.architecture, config, weights, tokenizer, Generation())
