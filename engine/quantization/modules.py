"""Layers with packed weights, which replace those of transformers."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

from engine.errors import BadCheckpoint
from engine.quantization.packed import Packed
from engine.streaming import Mover


def half_split(weight: Tensor, heads: int) -> Tensor:
    """Reorder the rows of Q or K, [heads * width, ...], from GGUF's order to HF's. In each head, GGUF keeps
    the two rows of a rotary pair side by side; HF has the first rows of all pairs, then the second ones."""
    return (
        weight.view(heads, weight.shape[0] // heads // 2, 2, *weight.shape[1:])
        .transpose(1, 2)
        .reshape(weight.shape)
    )


class PackedLinear(nn.Module):
    """Replaces nn.Linear. Its weight is one packed matrix, or several whose rows are stacked.

    rope_heads: as `checkpoints.Weight.rope_heads`; instead of the matrix's rows, the outputs are reordered.
    """

    def __init__(self, weights: Sequence[Packed], bias: Tensor | None = None, rope_heads: int = 0) -> None:
        super().__init__()
        self.weights = weights
        self.bias = bias  # in HF's order
        self.rope_heads = rope_heads

    def forward(self, x: Tensor) -> Tensor:
        """Map x [..., columns] to [..., rows]."""
        flat = x.reshape(-1, x.shape[-1])
        outputs = [weight.product(flat) for weight in self.weights]
        output = outputs[0] if len(outputs) == 1 else torch.cat(outputs, dim=1)
        if self.rope_heads:
            output = output.unflatten(1, (self.rope_heads, -1, 2)).transpose(2, 3).flatten(1)
        if self.bias is not None:
            output = output + self.bias
        return output.view(*x.shape[:-1], -1)


class RowTable(Protocol):
    """A matrix from which single rows can be read, such as `Packed` or `DiskRows`."""

    def rows(self, which: Tensor) -> Tensor:
        """Return rows `which` (int64 [n]) unpacked, [n, columns]."""


class PackedEmbedding(nn.Module):
    """A replacement for nn.Embedding. Its table is packed, and only the rows that are looked up are unpacked.

    scale: a factor for every number (Gemma has one), or None.
    """

    def __init__(self, weight: RowTable, scale: Tensor | None = None) -> None:
        super().__init__()
        self.weight = weight
        self.scale = scale

    def forward(self, tokens: Tensor) -> Tensor:
        """Look up tokens, int64 [...]; return their rows, [..., width]."""
        rows = self.weight.rows(tokens.reshape(-1))
        if self.scale is not None:
            rows = rows * self.scale.to(rows.dtype)
        return rows.view(*tokens.shape, -1)


# Passes of more rows are those over prompts.
TREE_ROWS = 64


class Experts(nn.Module):
    """The experts of a mixture, three matrices each. A pass reads only the experts that its rows are routed
    to.

    Replaces modules that keep all experts in 3-D parameters (transformers' MixtralExperts).
    Attributes: `mover`, which is told which experts a pass uses; None if all are in memory.
    """

    def __init__(self, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.gate_proj: dict[int, Packed] = {}
        self.up_proj: dict[int, Packed] = {}
        self.down_proj: dict[int, Packed] = {}
        self.activation = activation
        self.mover: Mover | None = None

    def place(self, kind: str, expert: int, matrix: Packed) -> None:
        """Set one matrix. kind: gate_proj, up_proj [inner, width] or down_proj [width, inner]."""
        getattr(self, kind)[expert] = matrix

    def matrices(self, experts: Iterable[int]) -> list[Packed]:
        """Return the matrices of `experts`."""
        return [kind[expert] for expert in experts for kind in (self.gate_proj, self.up_proj, self.down_proj)]

    def forward(self, x: Tensor, chosen: Tensor, shares: Tensor) -> Tensor:
        """Return for each row of x the sum of its experts' outputs, each times its share: [rows, width].

        x: [rows, width]. chosen: the experts of each row, int64 [rows, k]. shares: their shares, [rows, k].
        """
        output = torch.zeros_like(x)
        used = chosen.unique().tolist()
        if not set(used) <= self.gate_proj.keys():
            raise BadCheckpoint(
                f"A router chose expert {used[-1]}, and there are {len(self.gate_proj)}.",
                "The file is damaged: download the model again.",
            )
        if self.mover is not None:
            rows = chosen.tolist() if len(chosen) <= TREE_ROWS else []
            self.mover.choose(
                self.matrices(self.gate_proj),
                self.matrices(used),
                [[self.gate_proj[expert] for expert in row] for row in rows],
            )
        for expert in used:
            rows, rank = torch.where(chosen == expert)
            mine = x[rows]
            inner = self.activation(self.gate_proj[expert].product(mine)) * self.up_proj[expert].product(mine)
            answer = self.down_proj[expert].product(inner) * shares[rows, rank, None]
            output.index_add_(0, rows, answer.to(output.dtype))
        return output


def packed_in(module: nn.Module) -> list[Packed]:
    """Return all packed matrices of a model, without duplicates even if the head is tied to the embedding."""
    matrices: dict[int, Packed] = {}
    for part in module.modules():
        match part:
            case PackedLinear():
                matrices |= {id(matrix): matrix for matrix in part.weights}
            case PackedEmbedding(weight=Packed() as matrix):
                matrices[id(matrix)] = matrix
            case Experts():
                matrices |= {id(matrix): matrix for matrix in part.matrices(part.gate_proj)}
    return list(matrices.values())
