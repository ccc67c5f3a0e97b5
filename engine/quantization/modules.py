"""Layers that keep their weights packed, in the place of transformers' own."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

from engine.quantization.packed import Mover, Packed


def half_split(weight: Tensor, heads: int) -> Tensor:
    """Rows of Q or K [heads * width, ...] from GGUF's order (rotary pairs side by side) to HF's (first
    halves, then second)."""
    return (
        weight.view(heads, weight.shape[0] // heads // 2, 2, *weight.shape[1:])
        .transpose(1, 2)
        .reshape(weight.shape)
    )


class PackedLinear(nn.Module):
    """nn.Linear over a packed matrix, or over several whose rows follow one another.

    rope_heads: as `checkpoints.Weight.rope_heads`; the outputs are put in HF's order instead of the rows.
    """

    def __init__(self, weights: Sequence[Packed], bias: Tensor | None = None, rope_heads: int = 0) -> None:
        super().__init__()
        self.weights = weights
        self.bias = bias  # in HF's order
        self.rope_heads = rope_heads

    def forward(self, x: Tensor) -> Tensor:
        """[..., columns] -> [..., rows]"""
        flat = x.reshape(-1, x.shape[-1])
        outputs = [weight.product(flat) for weight in self.weights]
        output = outputs[0] if len(outputs) == 1 else torch.cat(outputs, dim=1)
        if self.rope_heads:
            output = output.unflatten(1, (self.rope_heads, -1, 2)).transpose(2, 3).flatten(1)
        if self.bias is not None:
            output = output + self.bias
        return output.view(*x.shape[:-1], -1)


class Table(Protocol):
    """A matrix of which single rows are asked for. `Packed` is one."""

    def rows(self, which: Tensor) -> Tensor:
        """Rows `which` (int64 [n]) unpacked, [n, columns]."""


class PackedEmbedding(nn.Module):
    """nn.Embedding over a packed table; only the rows asked for are unpacked.

    scale: what every number is multiplied by (Gemma), or None.
    """

    def __init__(self, weight: Table, scale: Tensor | None = None) -> None:
        super().__init__()
        self.weight = weight
        self.scale = scale

    def forward(self, tokens: Tensor) -> Tensor:
        """int64 [...] -> [..., width]"""
        rows = self.weight.rows(tokens.reshape(-1))
        if self.scale is not None:
            rows = rows * self.scale.to(rows.dtype)
        return rows.view(*tokens.shape, -1)


class Experts(nn.Module):
    """A mixture's experts, each three matrices of its own, of which only those that some row was routed to
    are touched.

    Takes the place of modules that keep all experts in 3-D parameters (transformers' MixtralExperts).
    Attributes: `mover`, told which experts a pass uses; None where all are in memory.
    """

    def __init__(self, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.gate_proj: dict[int, Packed] = {}
        self.up_proj: dict[int, Packed] = {}
        self.down_proj: dict[int, Packed] = {}
        self.activation = activation
        self.mover: Mover | None = None

    def place(self, kind: str, expert: int, matrix: Packed) -> None:
        """kind: gate_proj, up_proj [inner, width] or down_proj [width, inner]."""
        getattr(self, kind)[expert] = matrix

    def matrices(self, experts: Iterable[int]) -> list[Packed]:
        """Those of `experts`."""
        return [kind[expert] for expert in experts for kind in (self.gate_proj, self.up_proj, self.down_proj)]

    def forward(self, x: Tensor, chosen: Tensor, shares: Tensor) -> Tensor:
        """x [rows, width]; chosen int64 [rows, k], the experts of each row; shares [rows, k] -> [rows,
        width]"""
        output = torch.zeros_like(x)
        used = chosen.unique().tolist()
        if self.mover is not None:
            self.mover.choose(self.matrices(self.gate_proj), self.matrices(used))
        for expert in used:
            rows, rank = torch.where(chosen == expert)
            mine = x[rows]
            inner = self.activation(self.gate_proj[expert].product(mine)) * self.up_proj[expert].product(mine)
            answer = self.down_proj[expert].product(inner) * shares[rows, rank, None]
            output.index_add_(0, rows, answer.to(output.dtype))
        return output


def packed_in(module: nn.Module) -> list[Packed]:
    """All packed matrices of a model, each once, also where the head is tied to the embedding."""
    found: dict[int, Packed] = {}
    for part in module.modules():
        match part:
            case PackedLinear():
                found |= {id(matrix): matrix for matrix in part.weights}
            case PackedEmbedding(weight=Packed() as matrix):
                found[id(matrix)] = matrix
            case Experts():
                found |= {id(matrix): matrix for matrix in part.matrices(part.gate_proj)}
    return list(found.values())
