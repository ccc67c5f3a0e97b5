"""A CUDA device gives the numbers that the CPU gives."""

import pytest
import torch

from engine.model.rows import Rows
from engine.quantization import operations
from engine.quantization import triton as kernels
from engine.quantization.random_matrix import PACKED, random_packed
from tests.engine.models import CONFIGS, ours, reference

SHAPE = (192, 512)
CPU = "cpu"


def plain(packed):
    """Return `packed` unpacked by plain torch on its own device, as float32 on the CPU."""
    out = torch.empty(packed.shape, device=packed.workspace.device)
    whole = packed.parts, packed.shape, 0, packed.shape[0], out, packed.groups
    return operations.unpack(packed.format, *whole, way="torch").cpu()


@pytest.mark.parametrize("name", PACKED)
def test_plain_torch_unpacks_on_cuda_as_on_the_cpu(name, cuda):
    packed = random_packed(name, SHAPE, CPU, torch.float32)
    assert torch.equal(plain(random_packed(name, SHAPE, cuda, torch.float32)), plain(packed))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", PACKED)
def test_a_matrix_unpacks_on_cuda_as_on_the_cpu(name, dtype, cuda):
    packed = random_packed(name, SHAPE, CPU, dtype)
    assert torch.equal(random_packed(name, SHAPE, cuda, dtype).dense().cpu(), packed.dense())


@pytest.mark.parametrize("n", [1, 16, 64, 200])
@pytest.mark.parametrize("name", PACKED)
def test_a_matrix_multiplies_on_cuda_as_on_the_cpu(name, n, cuda):
    x = torch.randn(n, SHAPE[1], generator=torch.Generator().manual_seed(n))
    packed = random_packed(name, SHAPE, CPU, torch.float32)
    product = random_packed(name, SHAPE, cuda, torch.float32).product(x.to(cuda)).cpu()
    size = x.abs() @ packed.dense().abs().t()
    assert ((product - packed.product(x)).abs() <= 1e-5 * size).all()


@pytest.mark.parametrize("n", [1, 16, 200])
@pytest.mark.parametrize("name", ["Q4_K", "GPTQ"])
def test_numbers_too_large_for_float16_multiply_on_cuda_as_on_the_cpu(name, n, cuda):
    x = 1e6 * torch.randn(n, SHAPE[1], generator=torch.Generator().manual_seed(n))
    packed = random_packed(name, SHAPE, CPU, torch.float16)
    product = random_packed(name, SHAPE, cuda, torch.float16).product(x.to(cuda)).cpu()
    size = x.abs() @ packed.dense().float().abs().t()
    assert ((product - packed.product(x)).abs() <= 1e-3 * size).all()


@pytest.mark.parametrize("n", [1, 16, 64])
@pytest.mark.parametrize("name", ["Q4_K", "Q6_K"])
def test_equal_products_have_equal_bits(name, n, cuda):
    pytest.importorskip("triton", reason="needs Triton")
    packed = random_packed(name, (4096, 2048), cuda, torch.bfloat16)
    x = torch.randn(n, 2048, device=cuda).bfloat16()
    first = kernels.multiply_blocks(name, packed.parts[0], x, 4096)
    for _ in range(10):
        assert torch.equal(kernels.multiply_blocks(name, packed.parts[0], x, 4096), first)


def test_triton_runs_if_it_is_installed(cuda):
    pytest.importorskip("triton", reason="needs Triton")
    assert kernels.available(torch.device(cuda))


@pytest.mark.parametrize("kind", CONFIGS)
def test_logits_of_a_tiny_model_equal_the_cpus(kind, cuda):
    tokens = list(range(3, 40))
    logits = []
    for device in ("cpu", cuda):
        model = ours(reference(kind))
        model.module.to(device)
        model.device = device
        rows = Rows.text(tokens, 0)
        logits.append(model.forward(rows, model.new_cache(64)).logits.cpu())
    torch.testing.assert_close(*logits, rtol=1e-4, atol=1e-4)
