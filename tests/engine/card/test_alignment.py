"""Parts of streamed matrices begin on the card where kernels can read their numbers, wherever they begin in
the file: none has to be copied for a product."""

import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.quantization import Packed
from engine.streaming import WeightLimits
from engine.torch_model.loader import load_model
from tests.engine.card import test_engine
from tests.engine.card.kernels import TYPE
from tests.engine.quantization import test_nibbles

tiny_gaps = test_engine.tiny_gaps

SIZES = {"W4_ZEROS": (1, 2, 4), "F32": (4,)}  # of the numbers of each part


def shift_tensors(file, nbytes):
    """Write a safetensors file again with so many bytes more in front of its tensors."""
    stored = file.read_bytes()
    start = 8 + int.from_bytes(stored[:8], "little")
    header = stored[8:start] + b" " * nbytes
    file.write_bytes(len(header).to_bytes(8, "little") + header + stored[start:])


@pytest.mark.parametrize("shift", [0, 3])
def test_streamed_parts_are_aligned_on_the_card(shift, tmp_path, monkeypatch):
    module = test_nibbles.write(tmp_path, "W4_ZEROS")
    shift_tensors(tmp_path / "model.safetensors", shift)
    with torch.inference_mode():
        expected = module(torch.tensor([test_nibbles.TEXT])).logits[0, -1]
    model = load_model(
        open_checkpoint(tmp_path), torch.float32, TYPE, no_progress, 64, limits=WeightLimits(60_000)
    )
    real, streamed, odd = Packed.product, set(), []

    def product(matrix, x):
        output = real(matrix, x)
        if matrix.mover:
            streamed.add(matrix.format.name)
            sizes = SIZES[matrix.format.name]
            odd.extend(part for part, size in zip(matrix.parts, sizes, strict=True) if part.data_ptr() % size)
        return output

    monkeypatch.setattr(Packed, "product", product)
    torch.testing.assert_close(
        Sequence(model, 64).extend(test_nibbles.TEXT).cpu(), expected, rtol=1e-4, atol=1e-4
    )
    model.close()
    assert "W4_ZEROS" in streamed
    assert not odd
