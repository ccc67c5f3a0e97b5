"""How the states of recurrent layers lie in memory: in stores, which hold a state of each such layer, and in
records, which hold what a row adds to the states.

A store is float32. Of each layer it holds a matrix [key width, value width] for each head, in slices of 32
columns, or of 16 if the value width is no multiple of 32: [slices, key width, columns]; behind it, the last
inputs of the layer's convolution, [kernel - 1, channels], the oldest first. A slice is read and written row
after row, and is small enough to stay in a core's cache meanwhile.

A record is float32, too: of each layer the row's input of the convolution, [channels], and for a layer with a
matrix S the normalized keys [key heads, key width], the decays a [heads] and the updates u [heads, value
width] of S' = a S + k u^T. With records, states advance along any path without the weights.
"""

from dataclasses import dataclass

COLUMNS, FEW_COLUMNS = 32, 16  # of a slice


@dataclass(frozen=True, slots=True)
class StateShape:
    """The states of a model. Layers have either a convolution only, or a matrix for each head besides.

    layers: number of layers that have a state; kernel, channels: of their convolutions; key_heads, heads,
    key_width, value_width: of their matrices, 0 if there are none; tiled: whether heads that share keys lie
    `key_heads` apart, as in GGUF files, and not side by side.
    """

    layers: int
    kernel: int
    channels: int
    key_heads: int = 0
    heads: int = 0
    key_width: int = 0
    value_width: int = 0
    tiled: bool = False

    @property
    def columns(self) -> int:
        """Columns of a slice."""
        return FEW_COLUMNS if self.value_width % COLUMNS else COLUMNS

    @property
    def slices(self) -> int:
        return self.heads * self.value_width // self.columns

    @property
    def slice_nbytes(self) -> int:
        return 4 * self.columns * self.key_width

    @property
    def matrix_nbytes(self) -> int:
        """Bytes of the matrices of a layer."""
        return self.slices * self.slice_nbytes

    @property
    def layer_nbytes(self) -> int:
        """Bytes of a layer in a store."""
        return self.matrix_nbytes + 4 * (self.kernel - 1) * self.channels

    @property
    def nbytes(self) -> int:
        """Bytes of a store."""
        return self.layers * self.layer_nbytes

    @property
    def record_nbytes(self) -> int:
        """Bytes of a layer in a record."""
        matrix = self.key_heads * self.key_width + self.heads * (1 + self.value_width)
        return 4 * (self.channels + matrix)
