"""Triton kernels without a graphics card: interpreted on the CPU, compiled for cards of NVIDIA and AMD, and
replaced by plain torch."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from engine.formats import FORMATS, BlockFormat
from engine.quantization import triton as kernels

NAMES = [name for name, each in FORMATS.items() if isinstance(each, BlockFormat)]
CARDS = {"Turing": 75, "Ampere": 80, "RTX 30": 86, "Ada": 89, "Hopper": 90, "Blackwell": 120}
# Bytes of shared memory per program (99 KiB on the smallest Ampere cards).
SHARED = dict.fromkeys(CARDS, 99 << 10) | {"Turing": 64 << 10, "Hopper": 227 << 10}
# AMD's cards, with the threads that run in step. All have 64 KiB of shared memory per program or more.
AMD = {"gfx90a": 64, "gfx942": 64, "gfx1030": 32, "gfx1100": 32, "gfx1201": 32}
SHARED |= dict.fromkeys(AMD, 64 << 10)
WITHOUT_CORES = ("Turing", "gfx1030")  # for matrices


def test_kernels_compute_the_same_when_interpreted():
    pytest.importorskip("triton", reason="needs Triton")
    # A separate process: Triton chooses its interpreter at the first import.
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/gpu/test_triton.py"],
        cwd=Path(__file__).parents[3],
        env=os.environ | {"TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout
    assert "skipped" not in done.stdout


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """A function that compiles a kernel, as `engine.quantization.triton.sources` has it, for a card."""
    pytest.importorskip("triton", reason="needs Triton")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    from triton.backends.compiler import GPUTarget

    def compile_for(source, card):
        target = GPUTarget("hip", card, AMD[card]) if card in AMD else GPUTarget("cuda", CARDS[card], 32)
        return source.compiled(target)

    return compile_for


def chosen(name, dtype, rows, card):
    from engine.quantization.triton import sources

    return list(sources.sources_of(name, dtype, [rows], card not in WITHOUT_CORES))


@pytest.mark.parametrize(
    ("name", "n", "card", "dtype"),
    [
        *((name, 16, "Ampere", "bf16") for name in NAMES),
        ("Q6_K", 1, "Ampere", "bf16"),
        ("Q4_0", 16, "Turing", "fp16"),
        ("Q4_K", 64, "Hopper", "bf16"),
        ("Q6_K", 64, "Blackwell", "fp32"),
        ("Q4_K", 16, "RTX 30", "bf16"),
        ("Q4_K", 64, "Ada", "bf16"),
        ("Q4_K", 16, "gfx1030", "bf16"),
        ("Q6_K", 64, "gfx90a", "bf16"),
        ("IQ2_S", 1, "gfx942", "bf16"),
        ("Q4_0", 16, "gfx1201", "bf16"),
        ("AWQ", 1, "Hopper", "bf16"),
        ("AWQ", 64, "Hopper", "bf16"),
        ("AWQ", 16, "RTX 30", "bf16"),
        ("AWQ", 64, "Ada", "bf16"),
        ("AWQ", 16, "Blackwell", "bf16"),
        ("AWQ", 64, "gfx1100", "bf16"),
        ("FP8_BLOCK", 16, "Turing", "fp16"),
        ("FP8_ROW_F16", 64, "Ada", "bf16"),
        ("FP8_MATRIX", 1, "Blackwell", "bf16"),
        ("MXFP4_APART", 16, "RTX 30", "bf16"),
        ("NVFP4_APART", 16, "Turing", "fp16"),
        ("NVFP4_SCALED", 64, "Blackwell", "bf16"),
        ("W4_ZEROS", 16, "Turing", "fp16"),
        ("W4_BF16", 64, "RTX 30", "bf16"),
        ("W4", 16, "gfx1100", "bf16"),
    ],
)
def test_kernels_compile(name, n, card, dtype, compiled):
    for _, source in chosen(name, dtype, n, card):
        assert compiled(source, card).metadata.shared <= SHARED[card]


@pytest.mark.parametrize(
    ("kind", "n", "card", "dtype"),
    [
        ("3 bits, index", 64, "Ampere", "bf16"),
        ("4 bits", 16, "Turing", "fp16"),
        ("4 bits, index", 16, "Turing", "fp16"),
        ("4 bits", 64, "Blackwell", "bf16"),
    ],
)
def test_kernels_of_gptq_compile(kind, n, card, dtype, compiled):
    names = f"unpack GPTQ {kind}", f"product GPTQ {kind}, {n} rows"
    both = [source for kernel, source in chosen("GPTQ", dtype, n, card) if kernel in names]
    assert len(both) == 2
    for source in both:
        assert compiled(source, card).metadata.shared <= SHARED[card]


@pytest.mark.parametrize("card", ["Turing", "RTX 30", "Ada", "Blackwell", "gfx90a"])
def test_sums_of_parts_compile(card, compiled):
    from engine.quantization.triton import sources

    assert compiled(sources.sum_of_parts("fp16"), card)


@pytest.mark.parametrize(
    ("number", "architecture", "has"),
    [
        ((7, 5), None, False),
        ((8, 0), None, True),
        ((9, 0), "gfx90a:sramecc+:xnack-", True),
        ((9, 0), "gfx906:sramecc-:xnack-", False),
        ((9, 4), "gfx942:sramecc+:xnack-", True),
        ((10, 3), "gfx1030", False),
        ((11, 0), "gfx1100", True),
        ((12, 0), "gfx1201", True),
    ],
)
def test_64_rows_are_multiplied_by_cards_with_cores_for_matrices(monkeypatch, number, architecture, has):
    card = SimpleNamespace(major=number[0], minor=number[1], gcnArchName=architecture)
    monkeypatch.setattr(torch.version, "hip", architecture and "7.1")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: card)
    kernels.multiplies_matrices.cache_clear()
    assert kernels.multiplies_matrices(torch.device("cuda", 0)) == has
    kernels.multiplies_matrices.cache_clear()


def test_the_engine_runs_without_triton():
    program = (
        "import sys, torch; sys.modules['triton'] = None\n"
        "from engine.quantization import triton\n"
        "assert not triton.available(torch.device('cuda'))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[3])


def test_plain_torch_replaces_triton_on_unsupported_cards(monkeypatch, caplog):
    pytest.importorskip("triton", reason="needs Triton")

    def no_compiler(*args):
        raise RuntimeError("Failed to find C compiler.")

    monkeypatch.setattr(kernels, "unpack_blocks", no_compiler)
    assert not kernels.compiles(torch.device("cpu"))
    assert "Failed to find C compiler" in caplog.text


def test_a_product_that_a_card_has_no_room_for_unpacks_first(monkeypatch, caplog):
    errors = pytest.importorskip("triton.runtime.errors", reason="needs Triton")
    from engine.quantization.triton import ggml

    asked = []

    class Kernel:
        def __getitem__(self, grid):
            return self.launch

        def launch(self, data, book, x, out, *sizes, enable_fp_fusion):
            asked.append(sizes[-1])
            if sizes[-1] == 16:
                raise errors.OutOfResources(131072, 101376, "shared memory")
            out.fill_(1)

    monkeypatch.setattr(ggml, "product_kernel", Kernel())
    ggml._product.cache_clear()
    x = torch.zeros(5, 256, dtype=torch.float16)
    for _ in range(3):
        assert kernels.multiply_blocks("Q4_K", torch.zeros(144, dtype=torch.uint8), x, 1) is None
    assert kernels.multiply_blocks("Q4_K", torch.zeros(144, dtype=torch.uint8), x[:1], 1).eq(1).all()
    assert asked == [16, 1], "what was refused once is not tried again"
    assert "shared memory" in caplog.text
    ggml._product.cache_clear()
