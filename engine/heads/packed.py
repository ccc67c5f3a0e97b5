"""The weights of heads as compiled steps multiply by them: matrices are rounded to eight bits.

A head proposes, so rounding its weights changes how often a guess is right, never the text.
"""

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from engine.compiled.layout import BLOCK
from engine.compiled.matrix import TiledMatrix, quantized
from engine.compiled.program import DecoderShape, Layer
from engine.compiled.table import Floats
from engine.heads.files import HeadsFile
from engine.heads.fit import settings_of
from engine.model.architectures import family_of
from engine.model.description import Description, described
from engine.model.fields import understood
from engine.model.rotary import RotaryFactors

Shapes = Mapping[str, tuple[int, ...]]


def layers_described(file: HeadsFile, architecture: str) -> Description:
    """Return what the configuration says of the head's layers, which are those of an architecture. Fields
    that its models do not have are of other parts of the head."""
    known = understood(family_of(architecture))
    settings = {key: value for key, value in settings_of(file).items() if key in known}
    return described(file.path.name, architecture, settings)


def layer_shapes(head: Description, path: str, inputs: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the tensors of a decoder layer, without biases. path: what their names begin with;
    inputs: how many numbers its attention reads."""
    width, inner = head.width, head.inner
    queries, keys = head.heads * head.head_width, head.kv_heads * head.head_width
    rows = {"q": (queries, inputs), "k": (keys, inputs), "v": (keys, inputs), "o": (width, queries)}
    mlp = {"gate": (inner, width), "up": (inner, width), "down": (width, inner)}
    of_heads = {name: (head.head_width,) for name in ("q_norm", "k_norm") if head.qk_norm}
    norms = ("input_layernorm", "post_attention_layernorm")
    return {
        **{f"{path}.self_attn.{name}_proj.weight": shape for name, shape in rows.items()},
        **{f"{path}.self_attn.{name}.weight": shape for name, shape in of_heads.items()},
        **{f"{path}.mlp.{name}_proj.weight": shape for name, shape in mlp.items()},
        **{f"{path}.{name}.weight": (width,) for name in norms},
    }


def fits(file: HeadsFile, head: Description, shapes: Shapes, unused: Collection[str] = ()) -> bool:
    """Return whether compiled steps multiply by the tensors of a head, which have these shapes. unused: the
    names of tensors that are not multiplied by."""
    if file.tensors.keys() - {*unused} != shapes.keys():
        return False
    if any(file.tensors[name].shape != shape for name, shape in shapes.items()):
        return False
    sizes = (head.width, head.inner, head.head_width)
    return head.activation == "silu" and not any(size % BLOCK for size in sizes)


def shape_of(head: Description, rotary: RotaryFactors) -> DecoderShape:
    """Return the shape of a head's layers."""
    return DecoderShape(
        *(head.width, head.inner, head.heads, head.kv_heads),
        *(head.head_width, head.epsilon, head.query_scale, rotary.pairs),
    )


class PackedTensors:
    """The tensors of a head's file. Attributes, of those that were asked for: `parameters`, their number;
    `nbytes`, their bytes in memory."""

    def __init__(self, file: HeadsFile) -> None:
        self._tensors = file.tensors
        self.parameters = self.nbytes = 0

    def matrix(self, name: str, order: NDArray[np.int64] | None = None) -> TiledMatrix:
        """Return a matrix. order: which of its rows are the first, the second, ...; None: as in the file."""
        numbers = self.vector(name)
        matrix = quantized(numbers if order is None else numbers[order.reshape(-1)])
        self.nbytes += matrix.nbytes - numbers.nbytes
        return matrix

    def vector(self, name: str) -> Floats:
        """Return a tensor as it is stored, in float32."""
        numbers = self._tensors[name].read().astype(np.float32)
        self.parameters += numbers.size
        self.nbytes += numbers.nbytes
        return numbers

    def layer(self, path: str) -> Layer:
        """Return a layer whose tensors are those of `layer_shapes`."""

        def some(part: str, *names: str) -> list[TiledMatrix]:
            return [self.matrix(f"{path}.{part}.{name}_proj.weight") for name in names]

        def norm(name: str) -> Floats | None:
            whole = f"{path}.{name}.weight"
            return self.vector(whole) if whole in self._tensors else None

        return Layer(
            attention_norm=norm("input_layernorm"),
            qkv=some("self_attn", *"qkv"),
            query_norm=norm("self_attn.q_norm"),
            key_norm=norm("self_attn.k_norm"),
            output=some("self_attn", "o"),
            feed_norm=norm("post_attention_layernorm"),
            gate_up=some("mlp", "gate", "up"),
            down=some("mlp", "down"),
        )
