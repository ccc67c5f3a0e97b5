"""The results of the Triton kernels, on a CUDA device or, with TRITON_INTERPRET=1, in Triton's interpreter on
the CPU (as tests/engine/quantization/test_triton.py runs this file)."""

import os
from dataclasses import replace

import pytest
import torch

from engine.checkpoints import Groups
from engine.checkpoints.storage import BLOCKS
from engine.formats import FORMATS, BlockFormat, NibbleFormat, ScaledFormat, format_named
from engine.quantization import grouped, operations
from engine.quantization import parts as stored_parts
from engine.quantization import triton as kernels
from engine.quantization.random_matrix import random_packed
from tests.engine.formats.made import reference
from tests.engine.quantization.grouped_reference import Matrix, stored

pytest.importorskip("triton", reason="needs Triton")
split = pytest.importorskip("engine.quantization.triton.split")

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
NAMES = [name for name, each in FORMATS.items() if isinstance(each, BlockFormat)]
CPU = torch.device("cpu")
# Triton 3.7's interpreter rounds bfloat16 incorrectly, and multiplies its bits as if they were integers.
SHORTER = (torch.float16,) if INTERPRETED else (torch.float16, torch.bfloat16)


@pytest.fixture(scope="module")
def device(request):
    return CPU if INTERPRETED else request.getfixturevalue("cuda")


def blocks(name, rows, columns):
    """Return random bytes with finite scales, uint8 [bytes], and their numbers, float32 [rows, columns]."""
    data = random_packed(name, (rows, columns), CPU, torch.float32).parts[0]
    form = FORMATS[name]
    numbers = reference(form, data.view(-1, form.nbytes).numpy())
    return data, torch.from_numpy(numbers).view(rows, columns)


def at_odd_address(data):
    return torch.cat([data.new_zeros(1), data])[1:]


# Triton compiles another kernel for addresses that are multiples of 16; its interpreter knows no alignment.
PLACES = (at_odd_address,) if INTERPRETED else (torch.clone, at_odd_address)


def unpacked(name, data, shape, dtype, device):
    out = torch.full((shape[0] * shape[1] + 7,), 9.0, dtype=dtype, device=device)
    kernels.unpack_blocks(name, data, out[:-7])
    assert out[-7:].eq(9).all()
    return out[:-7].view(shape).cpu()


def assert_is_product(product, x, weights):
    """Compare `product` with x @ weights.T, allowing for the rounding of each term and each sum in x's
    type."""
    assert product.dtype == x.dtype
    weights = weights.to(x.dtype).double()
    x = x.double()
    size = x.abs() @ weights.abs().t()
    error = torch.finfo(product.dtype).eps * 2 + torch.finfo(torch.float32).eps * x.shape[1]
    assert ((product.cpu().double() - x @ weights.t()).abs() <= error * size).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", PLACES)
def test_unpacked_blocks_equal_the_reference(name, place, device):
    shape = (13, 3 * BLOCKS[name][0])
    data, numbers = blocks(name, *shape)
    assert torch.equal(unpacked(name, place(data.to(device)), shape, torch.float32, device), numbers)


@pytest.mark.parametrize("name", ["Q4_0", "Q6_K"])
@pytest.mark.parametrize("dtype", SHORTER)
def test_shorter_types_are_rounded_from_float32(name, dtype, device):
    shape = (5, 512)
    data, numbers = blocks(name, *shape)
    assert torch.equal(unpacked(name, data.to(device), shape, dtype, device), numbers.to(dtype))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 17])
def test_products_with_blocks_equal_those_with_the_numbers(name, n, device):
    shape = (37, 3 * BLOCKS[name][0])  # neither whole tiles nor, for short blocks, whole steps
    data, numbers = blocks(name, *shape)
    x = torch.randn(n, shape[1], generator=torch.Generator().manual_seed(n))
    found = kernels.multiply_blocks(name, at_odd_address(data.to(device)), x.to(device), shape[0])
    assert_is_product(found, x, numbers)


@pytest.mark.parametrize("dtype", SHORTER)
@pytest.mark.parametrize("n", [1, 3, 64])
def test_products_in_shorter_types(n, dtype, device):
    data, numbers = blocks("Q4_K", 40, 512)
    x = torch.randn(n, 512, generator=torch.Generator().manual_seed(n)).to(dtype)
    assert_is_product(kernels.multiply_blocks("Q4_K", data.to(device), x.to(device), 40), x, numbers)


# Rows and columns.
PARTS = {
    "Q4_K": (40, 3 * 256),
    "Q8_0": (70, 800),
    "AWQ": (64, 640),
    "GPTQ": (64, 640),
    "FP8_BLOCK": (40, 600),
}


def multiplied(packed, x):
    """Return the product of x and the transpose of a packed matrix, without unpacking it first."""
    if isinstance(packed.format, ScaledFormat):
        return kernels.multiply_apart(packed.format.name, apart_parts(packed, x.device), x, packed.shape[0])
    if packed.groups is None:
        return kernels.multiply_blocks(packed.format.name, packed.parts[0], x, packed.shape[0])
    parts = stored_parts.typed_parts(packed.format, packed.parts)
    return kernels.multiply_grouped(packed.format.name, parts, packed.groups, x, packed.shape[0])


@pytest.mark.parametrize("name", PARTS)
def test_a_row_has_the_same_product_whatever_is_multiplied_beside_it(name, device):
    packed = random_packed(name, PARTS[name], device, torch.float32)
    assert PARTS[name][1] > split.part_columns(*PARTS[name])
    x = torch.randn(64, PARTS[name][1], generator=torch.Generator().manual_seed(1)).to(device)
    products = {n: multiplied(packed, x[:n]) for n in (2, 7, 16, 17, 40, 64)}
    for most, group in {16: (2, 7, 16), 64: (17, 40, 64)}.items():
        assert all(torch.equal(products[n], products[most][:n]) for n in group)
    assert_is_product(products[64], x.cpu(), random_packed(name, PARTS[name], CPU, torch.float32).dense())


def test_parts_are_added_in_their_order(device):
    parts = torch.randn(5, 3, 1000, generator=torch.Generator().manual_seed(1)).to(device)
    out = torch.empty(3, 1000, dtype=torch.float16, device=device)
    split.add(parts, out)
    assert torch.equal(out, ((((parts[0] + parts[1]) + parts[2]) + parts[3]) + parts[4]).half())


@pytest.mark.parametrize(
    ("rows", "columns"), [(1, 32), (512, 3584), (1024, 8192), (8192, 29568), (29568, 8192)]
)
def test_parts_are_whole_steps_and_enough_programs(rows, columns):
    from engine.quantization.triton.grouped import TILES as GROUP_TILES
    from engine.quantization.triton.tiles import SMALLER_TILES, TILES

    part = split.part_columns(rows, columns)
    programs, parts = -(-rows // 32), -(-columns // part)
    assert all(
        part % step == 0 for tiles in (TILES, SMALLER_TILES, GROUP_TILES) for _, step in tiles.values()
    )
    assert programs * parts <= max(256, programs)
    assert programs * parts >= 128 or part == 256


@pytest.mark.skipif(not INTERPRETED, reason="the processor stands for the card")
def test_damaged_sums_of_parts_leave_products_to_unpacking(monkeypatch):
    add = split.add

    def damaged(parts, out):
        add(parts, out)
        out[..., -1:] += 1

    monkeypatch.setattr(split, "add", damaged)
    from engine.proof import ladder
    from tests.engine.proof.fake_card import FakeCard, InProcess

    kernel = "product Q4_K float32"
    tried = ladder.prove([kernel], [], InProcess(FakeCard()))
    assert [(each.way, each.outcome) for each in tried] == [("triton", "wrong"), ("unpack", "right")]
    assert ladder.choices([kernel], tried) == {kernel: "unpack"}


@pytest.mark.parametrize("n", [0, 65])
def test_no_rows_and_many_rows_are_not_multiplied(n, device):
    data, _ = blocks("Q8_0", 2, 32)
    assert kernels.multiply_blocks("Q8_0", data.to(device), torch.zeros(n, 32, device=device), 2) is None


APART = [name for name, form in FORMATS.items() if isinstance(form, ScaledFormat | NibbleFormat)]
# Neither whole tiles nor, in FP8, whole blocks or whole sub-blocks.
APART_SHAPES = {
    name: (150, 200) if isinstance(form, ScaledFormat) else (21, 352) for name, form in FORMATS.items()
}


def apart_parts(packed, device):
    return stored_parts.typed_parts(packed.format, [part.to(device) for part in packed.parts])


def assert_unpacks(packed, device):
    """Compare the kernel's numbers with the processor's and with plain torch's, to the bit."""
    (rows, columns), numbers = packed.shape, packed.dense()
    in_torch = operations.MODULES[type(packed.format)].numbers
    assert torch.equal(in_torch(packed.format, packed.parts, packed.shape, 0, rows), numbers)
    parts = apart_parts(packed, device)
    for first in {0, rows // 3}:
        out = torch.full(((rows - first) * columns + 7,), 9.0, device=device)
        place = out[:-7].view(-1, columns)
        kernels.unpack_apart(packed.format.name, parts, packed.shape, first, place)
        assert out[-7:].eq(9).all()
        assert torch.equal(place.cpu(), numbers[first:])


@pytest.mark.parametrize("name", APART)
def test_unpacked_numbers_with_scales_apart_equal_the_reference(name, device):
    packed = random_packed(name, APART_SHAPES[name], CPU, torch.float32)
    packed.parts = [at_odd_address(packed.parts[0]), *packed.parts[1:]]
    assert_unpacks(packed, device)


@pytest.mark.parametrize("name", APART)
@pytest.mark.parametrize("n", [1, 17])
def test_products_with_scales_apart_equal_those_with_the_numbers(name, n, device):
    packed = random_packed(name, APART_SHAPES[name], CPU, torch.float32)
    rows, columns = packed.shape
    x = torch.randn(n, columns, generator=torch.Generator().manual_seed(n))
    found = kernels.multiply_apart(name, apart_parts(packed, device), x.to(device), rows)
    assert_is_product(found, x, packed.dense())


@pytest.mark.parametrize("dtype", SHORTER)
@pytest.mark.parametrize("name", ["FP8_BLOCK", "NVFP4_SCALED"])
def test_numbers_with_scales_apart_are_rounded_from_float32(name, dtype, device):
    packed = random_packed(name, (21, 352), CPU, torch.float32)
    out = torch.empty(21, 352, dtype=dtype, device=device)
    kernels.unpack_apart(name, apart_parts(packed, device), packed.shape, 0, out)
    assert torch.equal(out.cpu(), packed.dense().to(dtype))


@pytest.mark.parametrize("group", [24, 64, 384], ids=["no power of two", "64", "the whole row"])
@pytest.mark.parametrize("name", ["W4", "W4_ZEROS"])
def test_groups_have_any_size(name, group, device):
    across = 384 // group
    made = random_packed(name, (21, 32 * across), CPU, torch.float32)  # whose groups have 32 columns
    quants = random_packed(name, (21, 384), CPU, torch.float32).parts[0]
    packed = replace(made, shape=(21, 384), parts=[quants, *made.parts[1:]])
    assert_unpacks(packed, device)
    x = torch.randn(3, 384, generator=torch.Generator().manual_seed(1))
    found = kernels.multiply_apart(name, apart_parts(packed, device), x.to(device), 21)
    assert_is_product(found, x, packed.dense())


def test_every_number_of_fp8_and_every_scale_of_eight_bits(device):
    fp8 = torch.tensor([byte for byte in range(256) if byte & 127 != 127], dtype=torch.uint8)
    packed = random_packed("FP8_ROW", (16, len(fp8)), CPU, torch.float32)
    packed.parts = [fp8.repeat(16), packed.parts[1]]
    assert_unpacks(packed, device)
    exponents = random_packed("MXFP4_APART", (11, 23 * 32), CPU, torch.float32)
    exponents.parts = [exponents.parts[0], torch.arange(253, dtype=torch.uint8)]
    assert_unpacks(exponents, device)
    for name in ("NVFP4_APART", "NVFP4_SCALED"):
        scales = random_packed(name, (2, 127 * 16), CPU, torch.float32)
        scales.parts = [scales.parts[0], fp8, scales.parts[2]]
        assert_unpacks(scales, device)


MATRICES = {
    **{
        f"GPTQ, {bits} bits, v{version}": ("GPTQ", bits, version)
        for bits in (2, 3, 4, 8)
        for version in (1, 2)
    },
    "AWQ": ("AWQ", 4, 2),
}


def matrix(kind, act_order):
    """Return (name of the format, Matrix [48 or 64, 96], its bytes, Groups)."""
    name, bits, version = MATRICES[kind]
    rows = 64 if bits == 3 else 48  # whole words of zero points, but not whole tiles
    found = Matrix(bits, 64, rows, 96, act_order)  # the last group is short
    parts = stored(found.gptq(version) if name == "GPTQ" else found.awq(), odd=True)
    return name, found, parts, Groups(bits, 64, version % 2)


def typed_parts(name, parts, device):
    return stored_parts.typed_parts(format_named(name), [part.to(device) for part in parts])


@pytest.mark.parametrize("kind", MATRICES)
@pytest.mark.parametrize("act_order", [False, True])
def test_unpacked_groups_equal_the_numbers_packed(kind, act_order, device):
    act_order = act_order and kind != "AWQ"
    name, reference, parts, groups = matrix(kind, act_order)
    parts = typed_parts(name, parts if act_order else parts[:3], device)
    rows = reference.rows
    for first, count in ((0, rows), (32, rows - 32)):
        out = torch.full((96 * count + 7,), 9.0, device=device)
        kernels.unpack_grouped(name, parts, (rows, 96), first, count, groups, out[:-7])
        assert out[-7:].eq(9).all()
        assert torch.equal(out[:-7].view(96, count).t().cpu(), reference.numbers()[first : first + count])


@pytest.mark.parametrize("kind", MATRICES)
@pytest.mark.parametrize("n", [1, 17])
def test_products_with_groups_equal_those_with_the_numbers(kind, n, device):
    name, reference, parts, groups = matrix(kind, act_order=kind != "AWQ")
    x = torch.randn(n, 96, generator=torch.Generator().manual_seed(n))
    found = kernels.multiply_grouped(
        name, typed_parts(name, parts, device), groups, x.to(device), reference.rows
    )
    assert_is_product(found, x, reference.numbers())


@pytest.mark.parametrize("kind", ["GPTQ, 4 bits, v1", "AWQ"])
def test_a_row_may_be_one_group(kind, device):
    name, bits, version = MATRICES[kind]
    reference = Matrix(bits, 96, 48, 96)
    parts = stored(reference.gptq(version) if name == "GPTQ" else reference.awq())[:3]
    parts, groups = typed_parts(name, parts, device), Groups(bits, 96, version % 2)
    out = torch.empty(96, 48, device=device)
    kernels.unpack_grouped(name, parts, (48, 96), 0, 48, groups, out)
    assert torch.equal(out.t().cpu(), reference.numbers())
    x = torch.randn(3, 96, generator=torch.Generator().manual_seed(1))
    found = kernels.multiply_grouped(name, parts, groups, x.to(device), 48)
    assert_is_product(found, x, reference.numbers())


@pytest.mark.skipif(not INTERPRETED, reason="the processor stands for the card")
@pytest.mark.parametrize("variant", ["GPTQ-4-128-1-index", "GPTQ-3-row-0", "AWQ-4-64-0", "W4_ZEROS-4-32-0"])
def test_unpacked_groups_pass_the_check_of_their_variant(variant):
    from engine.proof import ladder
    from tests.engine.proof.fake_card import FakeCard, InProcess

    tried = ladder.prove([f"unpack {variant} float32"], [], InProcess(FakeCard()))
    assert [(each.way, each.outcome) for each in tried] == [("triton", "right")]


@pytest.mark.parametrize("name", ["GPTQ", "GPTQ_BF16", "GPTQ_F32", "AWQ", "AWQ_BF16", "AWQ_F32"])
def test_scales_of_every_type(name, device):
    packed = random_packed(name, (64, 256), CPU, torch.float32)
    out = torch.empty(256, 64, device=device)
    kernels.unpack_grouped(
        name, typed_parts(name, packed.parts, device), (64, 256), 0, 64, packed.groups, out
    )
    expected = grouped.numbers(packed.format, packed.parts, (64, 256), 0, 64, packed.groups)
    assert torch.equal(out.cpu(), expected)


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
def test_zero_points_overflow_as_in_plain_torch(bits, device):
    name, reference, parts, groups = matrix(f"GPTQ, {bits} bits, v1", act_order=True)
    parts[1] = torch.full_like(parts[1], 0xFF)
    shape = (reference.rows, reference.columns)
    out = torch.empty(shape[::-1], device=device)
    kernels.unpack_grouped(name, typed_parts(name, parts, device), shape, 0, shape[0], groups, out)
    assert torch.equal(out.cpu(), grouped.numbers(format_named(name), parts, shape, 0, shape[0], groups))


def test_a_damaged_index_reads_no_memory_out_of_bounds(device):
    name, _, parts, groups = matrix("GPTQ, 4 bits, v1", act_order=True)
    parts = typed_parts(name, parts, device)
    found = []
    for group in (1 << 30, 1):  # 1 is the last group
        parts[3] = torch.full_like(parts[3], group)
        found.append(torch.empty(96, 48, device=device))
        kernels.unpack_grouped(name, parts, (48, 96), 0, 48, groups, found[-1])
    assert torch.equal(*found)
