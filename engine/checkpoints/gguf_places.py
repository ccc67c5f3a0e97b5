"""The place of a GGUF file's tensor in the model: the weight that it becomes, and its shape."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TensorPlace:
    """The weight that a tensor in the file becomes, or the weights, if several matrices are stacked in it.

    Attributes: `name`, the weight's HF name, with {} for the expert's number if experts are stacked, or ""
    for a tensor that the model does not use and that may be missing; `shape`, the shape the tensor must have,
    [experts, rows, columns] if experts are stacked; `rope_heads`, `plus` and `decay`, as in `Weight`;
    `channels`, whether it is the kernels of a convolution, [channels, kernel], which HF gives a dimension of
    1 between these; `row`, whether it is a vector that HF has as a matrix of one row; `flat`, whether it is a
    matrix that HF has as a vector; `halves`, the names of
    the two matrices of which a stacked expert consists, for the second {} of `name`; empty if it is one
    matrix.
    """

    name: str
    shape: tuple[int, ...]
    rope_heads: int = 0
    plus: float = 0.0
    decay: bool = False
    channels: bool = False
    row: bool = False
    flat: bool = False
    halves: tuple[str, ...] = ()


def linear(
    name: str, hf_name: str, rows: int, columns: int, bias: bool, rope_heads: int = 0
) -> dict[str, TensorPlace]:
    """Return the places of a matrix, and of its bias if it has one. rope_heads: as in `Weight`."""
    places = {f"{name}.weight": TensorPlace(f"{hf_name}.weight", (rows, columns), rope_heads)}
    if bias:
        places[f"{name}.bias"] = TensorPlace(f"{hf_name}.bias", (rows,), rope_heads)
    return places
