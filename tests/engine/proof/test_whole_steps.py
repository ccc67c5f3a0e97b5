"""Kernels that leave out what follows the last whole step or tile are found."""

import pytest

from engine.quantization import operations
from tests.engine.proof.fake_card import FakeCard, with_triton
from tests.engine.proof.test_checks import proven


@pytest.fixture
def triton(monkeypatch):
    with_triton(monkeypatch)


def without_last_step(x):
    """What a kernel multiplies that leaves out what follows the last whole step."""
    whole = x.clone()
    whole[:, x.shape[1] // 256 * 256 :] = 0
    return whole


@pytest.mark.parametrize("form", ["MXFP4", "MXFP4_APART", "Q8_0", "FP8_BLOCK"])
def test_columns_behind_the_last_whole_step_are_checked_too(form, triton, monkeypatch):
    """The experts of gpt-oss have some."""

    def damaged(sound):
        return lambda form, stored, x, rows: sound(form, stored, without_last_step(x), rows)

    for name in ("multiply_blocks", "multiply_apart"):
        monkeypatch.setattr(operations.triton, name, damaged(getattr(operations.triton, name)))
    tried, _ = proven(FakeCard(), [f"product {form} float32", "product Q4_K float32"])
    assert [each.outcome for each in tried] == ["wrong", "right", "right"]


def test_numbers_behind_the_last_whole_tile_are_checked_too(triton, monkeypatch):
    sound = operations.triton.unpack_blocks

    def unpack(name, data, out):
        sound(name, data, out)
        out.view(-1)[out.numel() // 2048 * 2048 :] = 0

    monkeypatch.setattr(operations.triton, "unpack_blocks", unpack)
    tried, _ = proven(FakeCard(), ["unpack MXFP4 float32"])
    assert [(each.way, each.outcome) for each in tried] == [("triton", "wrong"), ("torch", "right")]
