"""Checkpoints of any shape with random weights: for measuring what a model of that shape costs, not what it
says."""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from engine.checkpoints import Checkpoint, Generation, Span, TokenizerFolder, Weight
from engine.quantization import format_named
from engine.quantization.blocks import Blocks

_PLAIN = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


@dataclass(frozen=True, slots=True)
class Shape:
    """Of a Llama. Sizes are multiples of 256, so that every format packs its rows."""

    layers: int
    hidden: int
    mlp: int
    heads: int
    kv_heads: int
    vocabulary: int

    def matrices(self) -> dict[str, tuple[int, int]]:
        """(rows, columns) of a layer's matrices by name."""
        width = self.hidden // self.heads * self.kv_heads
        return {
            "self_attn.q_proj": (self.hidden, self.hidden),
            "self_attn.k_proj": (width, self.hidden),
            "self_attn.v_proj": (width, self.hidden),
            "self_attn.o_proj": (self.hidden, self.hidden),
            "mlp.gate_proj": (self.mlp, self.hidden),
            "mlp.up_proj": (self.mlp, self.hidden),
            "mlp.down_proj": (self.hidden, self.mlp),
        }


@dataclass(frozen=True, slots=True)
class Preset:
    """`limits_gib`: what the target's weights may take on the device, one after another. `plain_layers`: how
    many of its layers run where they are stored in 16 bits a number."""

    target: Shape
    draft: Shape
    limits_gib: tuple[float, ...]
    plain_layers: int


PRESETS = {
    # Llama 3 70B and 8B.
    "70b": Preset(
        Shape(80, 8192, 28672, 64, 8, 128256), Shape(32, 4096, 14336, 32, 8, 128256), (24.0, 12.0), 20
    ),
    "tiny": Preset(Shape(4, 256, 512, 4, 2, 512), Shape(2, 256, 256, 4, 2, 512), (0.001,), 2),
}


def random_bytes(name: str, numbers: int, device: torch.device) -> Tensor:
    """uint8: that many numbers in the format `name` (a plain one or one of ggml's), below 1 in size, so that
    the states of a deep model stay finite."""
    if name in _PLAIN:
        return torch.randn(numbers, device=device).mul_(0.02).to(_PLAIN[name]).view(torch.uint8)
    blocks = format_named(name)
    assert isinstance(blocks, Blocks)
    data = torch.randint(256, (numbers // blocks.values, blocks.nbytes), dtype=torch.uint8, device=device)
    for at in blocks.scales:
        data[:, at + 1] &= 0x87  # of a float16's exponent the lowest bit: below 2^-13
    return data.view(-1)


def checkpoint(shape: Shape, name: str, folder: Path) -> Checkpoint:
    """Its matrices are stored in the format `name`. All layers are the same bytes of one file in `folder`,
    and so are the embedding and the head: the file is as large as one layer and a head."""
    path = folder / f"{name}-{shape.hidden}-{shape.mlp}.bin"
    cpu = torch.device("cpu")
    weights: dict[str, Weight] = {}
    with path.open("wb") as file:

        def write(size: tuple[int, ...], stored_as: str, data: Tensor) -> Weight:
            span = Span(path, file.tell(), data.nbytes, size, stored_as)
            data.numpy().tofile(file)
            return Weight.of(span)

        norm = write((shape.hidden,), "F32", torch.ones(shape.hidden).view(torch.uint8))
        table = (shape.vocabulary, shape.hidden)
        head = write(table, name, random_bytes(name, table[0] * table[1], cpu))
        weights |= {"model.embed_tokens.weight": head, "lm_head.weight": head, "model.norm.weight": norm}
        layer = {
            f"{part}.weight": write(size, name, random_bytes(name, size[0] * size[1], cpu))
            for part, size in shape.matrices().items()
        }
        layer |= {"input_layernorm.weight": norm, "post_attention_layernorm.weight": norm}
    for number in range(shape.layers):
        weights |= {f"model.layers.{number}.{part}": weight for part, weight in layer.items()}
    config = dict(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        intermediate_size=shape.mlp,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        max_position_embeddings=8192,
        rms_norm_eps=1e-5,
        rope_parameters=dict(rope_type="default", rope_theta=500000.0),
        tie_word_embeddings=False,
    )
    return Checkpoint(path, "random", "llama", config, weights, TokenizerFolder(folder), Generation())
