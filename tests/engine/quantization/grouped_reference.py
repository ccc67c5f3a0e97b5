"""Reference packing for GPTQ and AWQ: bit by bit with Python integers, from the format descriptions; slow."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)


def words_of(numbers: list[int], bits: int) -> list[int]:
    """Pack one stream: number i occupies the bits from i * bits on; split into 32-bit words, lowest first."""
    stream = sum(number << (i * bits) for i, number in enumerate(numbers))
    return [stream >> (32 * word) & 0xFFFFFFFF for word in range(len(numbers) * bits // 32)]


def int32(words: list[list[int]]) -> NDArray[np.int32]:
    return np.array(words, np.uint32).view(np.int32)


class Matrix:
    """Random quants [rows, columns], zero points and scales [groups, rows], and the group of each column."""

    def __init__(
        self,
        bits: int,
        size: int,
        rows: int,
        columns: int,
        act_order: bool = False,
        symmetric: bool = False,
        scales: torch.dtype = torch.float16,
        seed: int = 0,
    ) -> None:
        rng = np.random.default_rng(seed)
        self.bits, self.rows, self.columns = bits, rows, columns
        groups = -(-columns // size)
        self.quants = rng.integers(0, 1 << bits, (rows, columns))
        self.zeros = rng.integers(1, 1 << bits, (groups, rows))
        if symmetric:
            self.zeros[:] = 1 << (bits - 1)
        self.scales = torch.from_numpy(rng.normal(size=(groups, rows))).to(scales)
        self.group = np.arange(columns) // size
        if act_order:
            self.group = rng.permutation(self.group)

    def numbers(self) -> Tensor:
        """float32 [rows, columns]"""
        whole = self.quants - self.zeros[self.group].T
        return torch.from_numpy(whole).float() * self.scales.float()[torch.from_numpy(self.group)].T

    def gptq(self, version: int) -> dict[str, Tensor]:
        """Return the packed parts. Version 1 stores zero points minus one."""
        stored = self.zeros - 1 if version == 1 else self.zeros
        qweight = [words_of([int(q) for q in row], self.bits) for row in self.quants]
        qzeros = [words_of([int(z) for z in row], self.bits) for row in stored]
        return {
            "qweight": torch.from_numpy(int32(qweight).T.copy()),
            "qzeros": torch.from_numpy(int32(qzeros)),
            "scales": self.scales,
            "g_idx": torch.from_numpy(self.group.astype(np.int32)),
        }

    def awq(self) -> dict[str, Tensor]:
        def pack(table: NDArray[np.int64]) -> Tensor:
            rows = []
            for row in table:
                shuffled = [int(row[8 * n + k]) for n in range(len(row) // 8) for k in AWQ_ORDER]
                rows.append(words_of(shuffled, 4))
            return torch.from_numpy(int32(rows))

        return {"qweight": pack(self.quants.T), "qzeros": pack(self.zeros), "scales": self.scales}


def stored(parts: dict[str, Tensor], odd: bool = False) -> list[Tensor]:
    """Return the parts' bytes, uint8; `odd`: all at odd addresses."""
    found = []
    for part in parts.values():
        data = part.contiguous().view(-1).view(torch.uint8)
        found.append(torch.cat([data.new_zeros(int(odd)), data])[int(odd) :])
    return found
