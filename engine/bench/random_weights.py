"""Random weights in any shape and format, to measure what a model costs when its answers do not matter."""

from dataclasses import dataclass
from io import BufferedWriter
from pathlib import Path

import torch
from torch import Tensor

from engine.checkpoints import Checkpoint, Generation, Span, TokenizerFolder, Weight
from engine.formats import BlockFormat, format_named
from engine.quantization.parts import DTYPES


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a Llama model. Its sizes are multiples of 256, so that every format can pack its rows."""

    layers: int
    hidden: int
    mlp: int
    heads: int
    kv_heads: int
    vocabulary: int

    def matrices(self) -> dict[str, tuple[int, int]]:
        """Return the (rows, columns) of each matrix in a layer, by name."""
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
class ShapePreset:
    """The shapes of a target and its draft.

    `limits_gib`: limits for the target's weights on the device, in GiB, to be measured one after another.
    `plain_layers`: number of layers of the target when its weights are stored as 16-bit numbers.
    """

    target: Shape
    draft: Shape
    limits_gib: tuple[float, ...]
    plain_layers: int


PRESETS = {
    # Llama 3 70B and 8B
    "70b": ShapePreset(
        Shape(80, 8192, 28672, 64, 8, 128256), Shape(32, 4096, 14336, 32, 8, 128256), (24.0, 12.0), 20
    ),
    "tiny": ShapePreset(Shape(4, 256, 512, 4, 2, 512), Shape(2, 256, 256, 4, 2, 512), (0.001,), 2),
}


def random_bytes(name: str, numbers: int, device: torch.device | str) -> Tensor:
    """Return `numbers` random numbers, stored in the format `name` (plain, or one of ggml's), as bytes
    (uint8).

    The numbers are below 1 in magnitude, so that the hidden states of a deep model stay finite.
    """
    if name in DTYPES:
        return torch.randn(numbers, device=device).mul_(0.02).to(DTYPES[name]).view(torch.uint8)
    blocks = format_named(name)
    assert isinstance(blocks, BlockFormat)
    data = torch.randint(256, (numbers // blocks.values, blocks.nbytes), dtype=torch.uint8, device=device)
    blocks.limit_scales(data)
    if blocks.scale == "F16":
        for at in blocks.scales:
            data[:, at + 1] &= 0x87  # keeps only the lowest bit of the exponent: below 2^-13
    elif blocks.scale == "E8M0":
        for at in blocks.scales:
            data[:, at] &= 0x77  # at most 2^-9
    return data.view(-1)


@dataclass(frozen=True, slots=True)
class RandomFile:
    """An open file to which random weights are written. form: the format of matrices."""

    path: Path
    file: BufferedWriter
    form: str

    def write(self, size: tuple[int, ...], stored_as: str, data: Tensor) -> Weight:
        """Write the bytes of a tensor of `size` in the format `stored_as`; return it as a weight."""
        span = Span(self.path, self.file.tell(), data.nbytes, size, stored_as)
        data.numpy().tofile(self.file)
        return Weight.of(span)

    def matrix(self, rows: int, columns: int) -> Weight:
        return self.write((rows, columns), self.form, random_bytes(self.form, rows * columns, "cpu"))

    def vector(self, *size: int) -> Weight:
        return self.write(size, "F32", torch.randn(size).flatten().mul_(0.1).view(torch.uint8))


def checkpoint(shape: Shape, name: str, folder: Path) -> Checkpoint:
    """Write a checkpoint of `shape`, its matrices stored in the format `name`, to one file in `folder`.

    All layers share the same bytes, and so do the embedding and the head: the file is only as large as one
    layer and the head together.
    """
    path = folder / f"{name}-{shape.hidden}-{shape.mlp}.bin"
    with path.open("wb") as file:
        made = RandomFile(path, file, name)
        norm = made.write((shape.hidden,), "F32", torch.ones(shape.hidden).view(torch.uint8))
        head = made.matrix(shape.vocabulary, shape.hidden)
        weights = {"model.embed_tokens.weight": head, "lm_head.weight": head, "model.norm.weight": norm}
        layer = {f"{part}.weight": made.matrix(*size) for part, size in shape.matrices().items()}
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
