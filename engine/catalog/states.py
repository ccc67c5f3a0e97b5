"""What layers have in place of attention, where a model keeps a state instead of rows: matrices, other
weights, and the sizes of the state, from the numbers of its configuration."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

Matrix = tuple[str, int, int]  # name (as for `sizes.storage`), rows, columns


class LayerStates(Protocol):
    """The layers of a model that have a state. hidden: width of what a layer reads."""

    def matrices(self, hidden: int) -> Iterator[Matrix]: ...

    def vectors(self, hidden: int) -> int:
        """Return the number of parameters in norms, biases and the convolution."""
        ...

    def numbers(self, hidden: int) -> int:
        """Return how many numbers the state of a text has, with the convolution's last inputs."""
        ...

    def row_numbers(self, hidden: int) -> int:
        """Return how many numbers are kept of one row until the target has chosen, at most."""
        ...


@dataclass(frozen=True, slots=True)
class DeltaStates:
    """Gated DeltaNet, as in Qwen 3.5.

    Attributes: `key_heads` and `heads`, those of keys and of values; `key_width` and `value_width`, of a
    head; `kernel`, the length of the convolution.
    """

    key_heads: int
    heads: int
    key_width: int
    value_width: int
    kernel: int

    @property
    def channels(self) -> int:
        """The numbers of a row that pass the convolution."""
        return 2 * self.key_heads * self.key_width + self.heads * self.value_width

    def matrices(self, hidden: int) -> Iterator[Matrix]:
        values = self.heads * self.value_width
        yield "qkv", self.channels, hidden
        yield "gate of values", values, hidden
        yield "strength", self.heads, hidden
        yield "decay", self.heads, hidden
        yield "out", hidden, values

    def vectors(self, hidden: int) -> int:
        return self.channels * self.kernel + 2 * self.heads + self.value_width

    def numbers(self, hidden: int) -> int:
        return self.heads * self.key_width * self.value_width + self.channels * (self.kernel - 1)

    def row_numbers(self, hidden: int) -> int:
        return 2 * self.channels  # as many keys as queries, which are not kept


@dataclass(frozen=True, slots=True)
class MambaStates:
    """Mamba-2, as in Nemotron-H and Granite 4.

    Attributes: `heads` and `width`, of a head; `groups` that share keys and queries; `state`, the numbers of
    a key; `kernel`, the length of the convolution, which has a bias.
    """

    heads: int
    width: int
    groups: int
    state: int
    kernel: int

    @property
    def inner(self) -> int:
        return self.heads * self.width

    @property
    def channels(self) -> int:
        """The numbers of a row that pass the convolution."""
        return self.inner + 2 * self.groups * self.state

    def matrices(self, hidden: int) -> Iterator[Matrix]:
        yield "in", self.inner + self.channels + self.heads, hidden
        yield "out", hidden, self.inner

    def vectors(self, hidden: int) -> int:
        # The convolution with its bias; decay, skip and step of each head; the norm before the output.
        return self.channels * (self.kernel + 1) + 3 * self.heads + self.inner

    def numbers(self, hidden: int) -> int:
        return self.inner * self.state + self.channels * (self.kernel - 1)

    def row_numbers(self, hidden: int) -> int:
        return 2 * self.channels


@dataclass(frozen=True, slots=True)
class ConvolutionStates:
    """Gated short convolutions, as in LFM2. `kernel`: the length of the convolution."""

    kernel: int

    def matrices(self, hidden: int) -> Iterator[Matrix]:
        yield "in", 3 * hidden, hidden
        yield "out", hidden, hidden

    def vectors(self, hidden: int) -> int:
        return hidden * self.kernel

    def numbers(self, hidden: int) -> int:
        return hidden * (self.kernel - 1)

    def row_numbers(self, hidden: int) -> int:
        return hidden


KINDS: dict[str, type[DeltaStates | MambaStates | ConvolutionStates]] = {
    "delta": DeltaStates,
    "mamba": MambaStates,
    "convolution": ConvolutionStates,
}
