"""Kernels are launched as Triton launches them, on a card that does nothing."""

import pytest
import torch

from engine import firsts
from engine.quantization.triton.launch import Launch

pytest.importorskip("triton", reason="needs Triton")


@pytest.fixture
def card(monkeypatch, tmp_path):
    from tests.engine.streaming.null_card import null_card

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    with null_card() as card:
        yield card


def test_what_is_kept_of_a_launch_is_what_triton_takes_for_it(card):
    from engine.quantization.triton import ggml

    constants = *ggml.constants("Q8_0"), 64
    launch, before = Launch(ggml.unpack_kernel, *constants), firsts.count()
    data, out = torch.zeros(4096, dtype=torch.uint8), torch.zeros(4096)
    cases = [
        (bytes_, None, numbers, subs)
        for bytes_ in (data, data[1:])
        for numbers in (out, out[1:], out.bfloat16())
        for subs in (1, 2, 17, 32)
    ]
    for args in cases:
        launch((3, 2, 1), *args)  # asks Triton
        ggml.unpack_kernel[3, 2, 1](*args, *constants, enable_fp_fusion=False)
        launch((3, 2, 1), *args)
    for asked, triton, kept in zip(*[iter(card.launched)] * 3, strict=True):
        assert asked[:2] == triton[:2] == kept[:2]
        assert all(a is b is c for a, b, c in zip(asked[2], triton[2], kept[2], strict=True))
    compiled = len({code for code, _, _ in card.launched})
    assert 4 < compiled <= firsts.count() - before <= len(cases)


def test_numbers_that_triton_compiles_nothing_for_are_no_first_launch(card):
    from engine.quantization.triton import split

    launch, before = Launch(split.sum_kernel, split.SUMS), firsts.count()
    parts, out = torch.zeros(96, 64), torch.zeros(64)
    for count in (2, 16, 96):
        launch((1, 1, 1), parts, out, 64, count)
        split.sum_kernel[1, 1, 1](parts, out, 64, count, split.SUMS, enable_fp_fusion=False)
    assert len({code for code, _, _ in card.launched}) == 1
    assert firsts.count() == before + 1
    launch((1, 1, 1), parts, out, 17, 2)
    assert firsts.count() == before + 2


def test_each_piece_of_a_streamed_pass_is_unpacked_by_one_launch(card):
    from tests.engine.streaming.null_card import NullPass

    one = NullPass("qwen2.5-72b-q4_k_m", layers=1)
    for _ in range(2):
        card.launched.clear()
        one.run()
        assert len(card.launched) == one.pieces
        assert sum(args[0].nbytes for _, _, args in card.launched) == one.nbytes
    one.streamer.close()
