"""What is compiled with a stand-in for a streamed matrix is what its products need. No kernel runs."""

from dataclasses import replace

import pytest
import torch

from engine.checkpoints import Groups
from engine.formats import format_named
from engine.quantization import Packed, Workspace, operations, triton
from engine.streaming import Mover
from engine.torch_model import warm_up

pytest.importorskip("triton", reason="needs Triton")

CPU = torch.device("cpu")
COUNTS = (1, 3, 16, 20, 64, 70)


@pytest.fixture
def launched(monkeypatch):
    """What launches depend on: kernels, their constants, and what Triton compiles for."""
    from engine.quantization.triton.launch import Launch

    kinds: set[tuple] = set()

    def launch(self, grid, *args):
        kinds.add((self._kernel, self._constants, self.kind_of(args)))

    monkeypatch.setattr(Launch, "__call__", launch)
    monkeypatch.setattr(triton, "available", lambda device: True)
    monkeypatch.setattr(operations, "on_card", lambda array: True)
    return kinds


class NoMover(Mover):
    """Stands for what would bring a matrix."""


def four_bits(name: str, rows: int, columns: int, group: int) -> tuple[str, tuple[int, int], list[int], None]:
    return name, (rows, columns), [rows * columns // 2, rows * columns // group * 2], None


def grouped(rows: int, columns: int, index: bool) -> tuple[str, tuple[int, int], list[int], Groups]:
    groups = columns // 128
    sizes = [rows * columns // 2, rows * groups // 2, rows * groups * 2, *([4 * columns] if index else [])]
    return "GPTQ", (rows, columns), sizes, Groups(4, 128, 1)


CASES = {
    "groups of 128": (four_bits("W4_BF16", 256, 1024, 128), 0),
    "groups of 32": (four_bits("W4_BF16", 256, 1024, 32), 0),
    "GPTQ without an index": (grouped(256, 1024, index=False), 0),
    "GPTQ with an index": (grouped(256, 1024, index=True), 0),
    "at an address that is no multiple of 16": (("Q8_0", (256, 1024), [256 * 1024 // 32 * 34], None), 8),
    "long rows": (("Q8_0", (5120, 27648), [5120 * 27648 // 32 * 34], None), 0),
    "few long rows": (("Q8_0", (640, 27648), [640 * 27648 // 32 * 34], None), 0),
}


@pytest.mark.parametrize("case", CASES)
def test_a_stand_in_has_the_kernels_compiled_that_the_matrix_needs(case, launched):
    (name, shape, sizes, groups), at = CASES[case]
    places = [(at, nbytes) for nbytes in sizes]
    parts = [torch.empty(at + nbytes, dtype=torch.uint8)[at:] for nbytes in sizes]
    matrix = Packed(format_named(name), shape, parts, Workspace(torch.bfloat16, CPU), groups)
    for count in COUNTS:
        matrix.product(torch.zeros(count, shape[1], dtype=torch.bfloat16))
    needed = set(launched)
    assert len(needed) >= 4, "one for each number of rows, and one that unpacks"
    launched.clear()
    streamed = replace(matrix, parts=(), mover=NoMover())
    for counts in (triton.ROWS, (triton.ROWS[-1] + 1,)):
        warm_up._multiply(streamed, places, counts)
    assert needed <= launched
