"""Products in float16 of rows in float32: no number is too large or too small for them."""

import pytest
import torch

from engine import ways
from engine.quantization import Packed, Workspace, halves
from engine.quantization.random_matrix import random_packed

SHAPE = (192, 512)
LARGEST = 65504.0


def rows(count: int, size: float = 1.0) -> torch.Tensor:
    return size * torch.randn(count, SHAPE[1], generator=torch.Generator().manual_seed(count))


def product(x: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    out = torch.empty(len(x), matrix.shape[1])
    halves.multiplier(x)(matrix, out)
    return out


def exact(x: torch.Tensor, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the product x W^T in double precision, and the product of the norms of its factors."""
    x, weights = x.double(), weights.double()
    return x @ weights.t(), x.norm(dim=1)[:, None] * weights.norm(dim=1)


def test_rows_of_any_size_are_multiplied_as_exactly_as_float16_is():
    sizes = 2.0 ** torch.arange(-90, 91, 12)
    x, weights = rows(len(sizes)) * sizes[:, None], random_packed("Q8_0", SHAPE, "cpu", torch.float16).dense()
    expected, norms = exact(x, weights)
    assert ((product(x, weights.t()) - expected).abs() <= 2**-11 * norms).all()
    assert not (x.half() @ weights.t()).isfinite().all(), "in float16 alone, it cannot be computed"


def test_a_power_of_two_rounds_nothing_and_depends_on_the_row_alone():
    x = torch.tensor([[1e30, 3e24], [-3.0, 0.0], [0.0, 0.0], [7e-35, -2e-35], [70000.0, 0.01]])
    numbers, powers = halves.scaled(x)
    assert numbers.abs().max() <= LARGEST
    assert torch.equal(torch.frexp(powers).mantissa, torch.full((5, 1), 0.5))
    torch.testing.assert_close(numbers.float() * powers, x, rtol=2**-11, atol=0.0)
    for row in range(len(x)):
        alone = halves.scaled(x[row : row + 1])
        assert torch.equal(alone[0], numbers[row : row + 1])
        assert torch.equal(alone[1], powers[row : row + 1])


def test_what_is_no_number_stays_in_its_row():
    x = rows(3)
    x[1, 5] = torch.nan
    found = product(x, torch.ones(SHAPE[1], 4, dtype=torch.float16))
    assert found[1].isnan().all()
    assert found[[0, 2]].isfinite().all()


def test_the_safer_way_rounds_no_row():
    x, weights = rows(5, 1e6), random_packed("Q8_0", SHAPE, "cpu", torch.float16).dense()
    with ways.taking({"halves": "float32"}):
        assert torch.equal(product(x, weights.t()), x @ weights.float().t())
    assert not torch.equal(product(x, weights.t()), x @ weights.float().t())


@pytest.mark.parametrize("name", ["Q4_K", "GPTQ", "FP8_BLOCK", "NVFP4_SCALED"])
def test_packed_weights_are_multiplied_by_numbers_that_are_too_large_for_float16(name):
    packed, x = random_packed(name, SHAPE, "cpu", torch.float16), rows(7, 1e6)
    expected, norms = exact(x, packed.dense())
    found = packed.product(x)
    assert found.dtype == torch.float32
    assert ((found - expected).abs() <= 2**-11 * norms).all()


def test_a_matrix_that_is_kept_unpacked_gives_the_same_products_and_rows():
    packed, which = random_packed("Q4_0", SHAPE, "cpu", torch.float16), torch.tensor([3, 0, 150])
    x = rows(4)
    products, found = packed.product(x), packed.rows(which)
    stored = packed.nbytes
    packed.keep_unpacked()
    packed.workspace = Workspace(torch.float16, torch.device("cpu"))
    assert packed.format.name == "F16"
    assert packed.nbytes == 2 * SHAPE[0] * SHAPE[1] > stored
    assert torch.equal(packed.product(x), products)
    assert torch.equal(packed.rows(which), found)
    assert found.dtype == torch.float32
    assert packed.workspace.nbytes == 0, "nothing is unpacked"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_states_have_the_dtype_of_weights_elsewhere(dtype):
    assert Workspace(dtype, torch.device("cpu")).states == dtype
    packed: Packed = random_packed("Q4_0", SHAPE, "cpu", dtype)
    assert packed.product(rows(2).to(dtype)).dtype == dtype
