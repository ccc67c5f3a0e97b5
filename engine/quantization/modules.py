"""Layers with packed weights, which replace those of transformers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.errors import BadCheckpoint
from engine.planner.expert_times import ROWS
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
        outputs = self._products(x.reshape(-1, x.shape[-1]))
        output = outputs[0] if len(outputs) == 1 else torch.cat(outputs, dim=1)
        if self.rope_heads:
            output = output.unflatten(1, (self.rope_heads, -1, 2)).transpose(2, 3).flatten(1)
        if self.bias is not None:
            output = output + self.bias
        return output.view(*x.shape[:-1], -1)

    def _products(self, x: Tensor) -> list[Tensor]:
        """Return the products of x [n, columns] and each matrix. The processor computes its own while the
        device's are launched."""
        near = [weight.near for weight in self.weights if weight.near]
        if near:
            near[0].send(x)
        for product in near:
            product.start()
        outputs = [None if weight.near else weight.product(x) for weight in self.weights]
        own = iter(near)
        return [next(own).finish() if output is None else output for output in outputs]


class RowTable(Protocol):
    """A matrix from which single rows can be read, such as `Packed` or `DiskRows`."""

    def rows(self, which: Tensor) -> Tensor:
        """Return rows `which` (int64 [n]) unpacked, as states [n, columns]."""


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


class NearExperts(Protocol):
    """Experts of a mixture that lie in RAM, by which the processor multiplies there, beside a card."""

    def take(self, used: Sequence[int], rows: Sequence[int]) -> list[int]:
        """Return those of the `used` experts by which the processor multiplies in this pass. rows: the number
        of rows that chose each."""

    def start(self, x: Tensor, experts: Sequence[int], rows: Sequence[NDArray[np.int64]]) -> None:
        """Start multiplying rows of x [n, width] by the experts taken. rows: the numbers of those of each."""

    def finish(self) -> Tensor:
        """Return what these experts give their rows, expert by expert, without shares: [rows of all, width],
        on the device of x."""


class Experts(nn.Module):
    """The experts of a mixture: two or three matrices each, and perhaps their biases. A pass reads only the
    experts that its rows are routed to.

    Replaces modules that keep all experts in 3-D parameters (transformers' MixtralExperts).
    Attributes: `kinds`, the names of an expert's matrices in the order of use: gate_proj and up_proj
    [inner, width], up_proj alone, or gate_up_proj [2 * inner, width] with the rows of both in turn, and
    down_proj [width, inner]; `mover`, which is told which experts a pass uses; None if all are in memory;
    `near`, by which the processor helps; None if it does not. The biases of all experts are the parameters
    `<kind>_bias`, [experts, rows].
    """

    def __init__(
        self,
        kinds: Sequence[str],
        activation: Callable[..., Tensor],
        biases: Mapping[str, nn.Parameter] | None = None,
    ) -> None:
        """activation: maps the products of gate and up, or of up alone, to what down multiplies. biases: by
        name."""
        super().__init__()
        self.kinds = tuple(kinds)
        self._matrices: dict[int, dict[str, Packed]] = {}
        self._activation = activation
        self.mover: Mover | None = None
        self.near: NearExperts | None = None
        for name, bias in (biases or {}).items():
            self.register_parameter(name, bias)

    def place(self, kind: str, expert: int, matrix: Packed) -> None:
        """Set one matrix."""
        self._matrices.setdefault(expert, {})[kind] = matrix

    @property
    def count(self) -> int:
        """The number of experts."""
        return len(self._matrices)

    def matrices(self, experts: Iterable[int] | None = None) -> list[Packed]:
        """Return the matrices of `experts`; None: of all."""
        wanted = self._matrices if experts is None else experts
        return [self._matrices[expert][kind] for expert in wanted for kind in self.kinds]

    def forward(self, x: Tensor, chosen: Tensor, shares: Tensor) -> Tensor:
        """Return for each row of x the sum of its experts' outputs, each times its share: [rows, width]. They
        are added in the order in which the router names them.

        x: [rows, width]. chosen: the experts of each row, int64 [rows, k]. shares: their shares, [rows, k].
        """
        # The only place where the host waits for a card.
        table = chosen.cpu().numpy()
        numbers, counts = np.unique(table, return_counts=True)
        used: list[int] = numbers.tolist()
        if not set(used) <= self._matrices.keys():
            raise BadCheckpoint(
                f"A router chose expert {used[-1]}, and there are {len(self._matrices)}.",
                "The file is damaged: download the model again.",
            )
        near = self.near.take(used, counts.tolist()) if self.near else []
        if self.mover is not None:
            by_row = table.tolist() if len(chosen) <= ROWS else []
            kind = self.kinds[0]
            of_rows = [[self._matrices[expert][kind] for expert in row] for row in by_row]
            self.mover.choose(self.matrices(used), of_rows, self.matrices(near))
        # Places in the table of choices, expert by expert, each expert's from the first row to the last.
        places = chosen.flatten().argsort(stable=True).split(counts.tolist())
        answers = x.new_empty(chosen.numel(), x.shape[1])

        def put(answer: Tensor, mine: Tensor) -> None:
            shared = answer * shares.flatten()[mine, None]
            answers.index_copy_(0, mine, shared.to(answers.dtype))

        if self.near and near:
            self.near.start(x, near, _rows_of(near, table))
        of_expert = dict(zip(used, places, strict=True))
        for expert, mine in of_expert.items():
            if expert not in near:
                put(self._answer(expert, x[mine // chosen.shape[1]]), mine)
        if self.near and near:
            put(self.near.finish(), torch.cat([of_expert[expert] for expert in near]))
        first, *others = answers.view(*chosen.shape, -1).unbind(1)
        for answer in others:
            first = first + answer
        return first

    def inner(self, product: Callable[[str], Tensor]) -> Tensor:
        """Return what down multiplies. product: maps the name of a matrix to its product, with the bias."""
        if "gate_up_proj" in self.kinds:
            both = product("gate_up_proj")
            return self._activation(both[:, ::2], both[:, 1::2])
        return self._activation(*(product(kind) for kind in self.kinds if kind != "down_proj"))

    def _answer(self, expert: int, x: Tensor) -> Tensor:
        """Return what an expert gives rows x [n, width], [n, width]."""
        inner = self.inner(lambda kind: self._product(kind, expert, x))
        return self._product("down_proj", expert, inner)

    def _product(self, kind: str, expert: int, x: Tensor) -> Tensor:
        output = self._matrices[expert][kind].product(x)
        bias = getattr(self, f"{kind}_bias", None)
        return output if bias is None else output + bias[expert]


def _rows_of(experts: Sequence[int], table: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return for each of some experts the rows that chose it. table: the experts of each row, [rows, k]."""
    return [np.nonzero(table == expert)[0] for expert in experts]


def clamped_gate(alpha: float, limit: float) -> Callable[[Tensor, Tensor], Tensor]:
    """Return gpt-oss's gated activation of gate and up: (up + 1) gate sigmoid(alpha gate), both clamped to
    `limit` (transformers' GptOssExperts)."""

    def gated(gate: Tensor, up: Tensor) -> Tensor:
        gate, up = gate.clamp(max=limit), up.clamp(-limit, limit)
        return (up + 1) * (gate * torch.sigmoid(gate * alpha))

    return gated


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
                matrices |= {id(matrix): matrix for matrix in part.matrices()}
    return list(matrices.values())
