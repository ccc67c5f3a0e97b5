"""Kernels are launched as Triton launches them, on a card that does nothing."""

import errno
from dataclasses import replace

import pytest
import torch

from engine import firsts
from engine.checkpoints import Groups
from engine.errors import KernelsNotStored
from engine.quantization import triton as kernels
from engine.quantization.parts import typed_parts
from engine.quantization.random_matrix import random_packed
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


def test_what_is_refused_is_refused_to_its_own_types_and_sizes_only(monkeypatch, caplog):
    from triton.runtime.errors import OutOfResources

    from engine.quantization.triton import grouped as of_groups
    from engine.quantization.triton.launch import KernelRefused

    asked = []

    class Kernel:
        """A kernel that is too large for 16 rows of float16 and groups of 32, at whole multiples of 16."""

        def __getitem__(self, grid):
            return self.launch

        def launch(self, quants, zeros, scales, index, x, out, rows, *args, enable_fp_fusion):
            of = args[-7:-3]
            asked.append((of, x.dtype, rows, args[-1], index is not None))
            if asked[-1] == ((False, 4, 32, 1), torch.float16, 64, 16, False):
                raise OutOfResources(131072, 101376, "shared memory")
            out.fill_(1)

    monkeypatch.setattr(of_groups, "product_kernel", Kernel())
    of_groups._product.cache_clear()

    def multiplied(groups, rows=64, count=16, dtype=torch.float16):
        matrix = random_packed("GPTQ", (rows, 256), "cpu", dtype, groups=groups)
        parts = typed_parts(matrix.format, matrix.parts)
        x = torch.zeros(count, 256, dtype=dtype)
        return kernels.multiply_grouped("GPTQ", parts, groups, x, rows)

    small = Groups(4, 32, 1)
    for _ in range(3):
        assert multiplied(small) is None
    assert len(asked) == 1, "what was refused once is not tried again"
    assert caplog.text.count("shared memory") == 1
    others = [
        multiplied(small, count=1),
        multiplied(small, count=64),
        multiplied(small, dtype=torch.float32),
        multiplied(small, rows=72),
        multiplied(replace(small, indexed=True)),
        multiplied(Groups(4, 128, 1)),
        multiplied(Groups(4, 256, 1)),
    ]
    assert all(product.eq(1).all() for product in others)
    assert multiplied(small) is None
    monkeypatch.setattr(kernels, "KernelRefused", ZeroDivisionError)
    with pytest.raises(KernelRefused, match="OutOfResources"):
        multiplied(small)
    of_groups._product.cache_clear()


def test_a_full_disk_is_named_and_no_kernel_is_refused(card, monkeypatch):
    from triton.runtime import cache
    from triton.runtime.errors import PTXASError

    from engine.quantization.triton import split

    launch = Launch(split.sum_kernel, 2 * split.SUMS)  # which no other test compiles
    parts, out = torch.zeros(96, 64), torch.zeros(64)
    for error in (OSError(errno.ENOSPC, "No space left on device"), PTXASError("No space left on device")):

        def full(*args, error=error, **kwargs):
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(cache.FileCacheManager, "put", full)
            with pytest.raises(KernelsNotStored, match="disk is full") as named:
                launch((1, 1, 1), parts, out, 64, 2)
        assert "TRITON_CACHE_DIR" in named.value.hint
    assert card.launched == []
    launch((1, 1, 1), parts, out, 64, 2)
    assert len(card.launched) == 1


def test_each_piece_of_a_streamed_pass_is_unpacked_by_one_launch(card):
    from tests.engine.streaming.null_card import NullPass

    one = NullPass("qwen2.5-72b-q4_k_m", layers=1)
    for _ in range(2):
        card.launched.clear()
        one.run()
        assert len(card.launched) == one.pieces
        assert sum(args[0].nbytes for _, _, args in card.launched) == one.nbytes
    one.streamer.close()
