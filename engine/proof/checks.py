"""The checks of a card, one for each kind of kernel in `engine.ways`: the card's result on small inputs is
compared with the processor's, in double precision where numbers are rounded.

Each takes the card, the kernel's subject and the way, which this process takes already, and returns the
kernel's speed where the card measures. It raises `Differs` if the results differ.
"""

from collections.abc import Callable, Iterator
from math import gcd

import torch
from torch import Tensor

from engine import ways
from engine.checkpoints import Groups
from engine.formats import BlockFormat, GroupedFormat, format_named
from engine.model.rows import Output
from engine.proof.card import TestedCard, launch_seconds, seconds
from engine.proof.inputs import NUMBERS, SUMS, dtype_named, random_numbers
from engine.proof.layer_checks import check_attention, check_scores, check_states
from engine.proof.link_checks import check_copies, check_streams
from engine.proof.speed import Slow, Speed, expect
from engine.quantization import Packed, halves, operations
from engine.quantization.random_matrix import random_packed
from engine.sampling import gumbel_noise, uniforms

_ROWS, _COLUMNS = 192, 512
# Columns of a matrix that a kernel multiplies whole, which writes other sums than that of parts; and rows of
# one that it multiplies whole whatever its columns are.
_UNSPLIT, _TALL = 256, 4128
_LEFT, _STEP = 16, 32  # rows and columns beyond whole tiles and steps, for which no other kernel is compiled
# Random matrices of the formats with two levels of scales hold numbers of some thousands: their products with
# numbers of this size stay far below 65,504, the largest number of float16.
_INPUTS = 2.0**-6
_COPIED = 1 << 28  # bytes of a copy within the card's memory that is timed
_MEASURED = 4096  # rows and columns of a matrix that is timed, which no cache of a card holds unpacked
_FEW = 16  # rows of a product that a pass over a tree takes, in which reading the weights takes the time
_UNFUSED = 256  # rows of a product for which weights are unpacked in any case

Check = Callable[[TestedCard, list[str], str], Speed | None]


def check_memory(card: TestedCard, subject: list[str], way: str) -> Speed | None:
    source = random_numbers(1, 1 << 16)
    copied = source.to(card.device).clone()
    expect(copied, source, torch.zeros(()), "a copy")
    return Speed(_memory(card), None, "B/s") if card.measures else None


def check_dense(card: TestedCard, subject: list[str], way: str) -> Speed | None:
    dtype = subject[0]
    x, weights = (
        random_numbers(48, _COLUMNS).to(dtype_named(dtype)),
        random_numbers(_ROWS, _COLUMNS, seed=1).to(dtype_named(dtype)),
    )
    product = torch.mm(x.to(card.device), weights.to(card.device).t())
    _expect_product(product, x, weights, dtype)
    if not card.measures:
        return None
    large = torch.randn(_MEASURED, _MEASURED, device=card.device, dtype=dtype_named(dtype))
    return Speed(2 * _MEASURED**3 / seconds(card, lambda: torch.mm(large, large.t())), None, "FLOP/s")


def check_halves(card: TestedCard, subject: list[str], way: str) -> Speed | None:
    """Rows whose numbers are too large for float16, and such as would be zeros in it. Cards before Ampere
    that have no cores for matrices take longer for products of many rows than in float32 (GTX 16: measured in
    pytorch/pytorch#121957 and #195716). With few rows, where reading the weights takes the time, float16 may
    still be faster. So float32 replaces it only if it is faster with many rows and with few."""
    sizes = 2.0 ** torch.arange(-48, 48, 2)
    x, weights = (
        random_numbers(len(sizes), _COLUMNS) * sizes[:, None],
        random_numbers(_ROWS, _COLUMNS, seed=1).half(),
    )
    _expect_product(_of_halves(x.to(card.device), weights.to(card.device)), x, weights, "float16")
    if not card.measures:
        return None
    large = torch.randn(_MEASURED, _MEASURED, device=card.device)
    matrix = large.half()

    def timed() -> tuple[float, float]:
        many_s = seconds(card, lambda: _of_halves(large, matrix))
        return many_s, seconds(card, lambda: _of_halves(large[:_FEW], matrix))

    taken_s, few_s = timed()
    if (safer := ways.LADDERS["halves"].after(way)) is not None:
        with ways.taking({"halves": safer.name}):
            safer_s, safer_few_s = timed()
        if safer_s < taken_s and safer_few_s < few_s:
            raise Slow(f"It takes {taken_s / safer_s:.1f} times as long as in {safer.name}.")
    return Speed(2 * _MEASURED**3 / taken_s, None, "FLOP/s")


def check_unpacking(card: TestedCard, subject: list[str], way: str) -> Speed | None:
    name, dtype = subject
    usual = _usual(name)
    for shape in filter(None, (usual, _edge(name))):
        expected = _reference(_packed(name, dtype, torch.device("cpu"), *shape)).double()
        with torch.inference_mode(False):
            out = torch.empty(expected.numel(), dtype=dtype_named(dtype), device=card.device)
        shown = _unpacked(_packed(name, dtype, card.device, *shape), out, way)
        expect(shown, expected, NUMBERS[dtype] * expected.abs(), "unpacked numbers")
    if not card.measures:
        return None
    large = _packed(name, dtype, card.device, _MEASURED, _whole(name, _MEASURED))
    count = large.shape[0] * large.shape[1]
    out = torch.empty(count, dtype=dtype_named(dtype), device=card.device)
    possible = _memory(card) / (large.nbytes / count + out.itemsize)
    rate = count / seconds(card, lambda: _unpacked(large, out, way))
    launch_s = _launching(card, _packed(name, dtype, card.device, *usual))
    return Speed(rate, possible, "weights/s", launch_s=launch_s)


def check_product(card: TestedCard, subject: list[str], way: str) -> Speed | None:
    name, dtype = subject
    for shape, counts in _multiplied(name):
        weights, on_card = (
            _packed(name, dtype, device, *shape) for device in (torch.device("cpu"), card.device)
        )
        numbers = _reference(weights)
        if way == "triton" and not _is_fused(on_card):
            raise RuntimeError("There is no kernel for this card.")
        for rows in counts:
            x = (_INPUTS * random_numbers(rows, weights.shape[1], seed=rows)).to(weights.workspace.states)
            _expect_product(on_card.product(x.to(card.device)), x, numbers, dtype)
    if not card.measures:
        return None
    large = _packed(name, dtype, card.device, _MEASURED, _whole(name, _MEASURED))
    x = torch.randn(1, large.shape[1], device=card.device).to(large.workspace.states)
    return Speed(large.nbytes / seconds(card, lambda: large.product(x)), _memory(card), "B/s")


def check_noise(card: TestedCard, subject: list[str], way: str) -> Speed | None:
    tokens = torch.arange(4096)
    for position in (0, 12345, (1 << 32) + 7):
        random = uniforms(2**63 + 5, position, tokens.numpy())
        shown = uniforms(2**63 + 5, position, tokens.to(card.device))
        expect(shown, torch.from_numpy(random), torch.zeros(()), "random numbers")
        noise = torch.from_numpy(gumbel_noise(3, position, tokens.numpy()))
        shown = gumbel_noise(3, position, tokens.to(card.device))
        expect(shown, noise, torch.tensor(1e-9), "noise")
    return None


def check_graphs(card: TestedCard, subject: list[str], way: str) -> Speed | None:
    """A recorded product, and its replays with other inputs."""
    if way != "replay":
        return None  # launching kernels is what all other checks do
    weights = random_numbers(_ROWS, _COLUMNS, seed=1)
    on_card = weights.to(card.device)
    x = torch.zeros(16, _COLUMNS, device=card.device)
    replay, output = card.recorder()(lambda: Output((x @ on_card.t()).relu(), {}))
    for seed in (2, 3, 4):
        given = random_numbers(16, _COLUMNS, seed=seed)
        x.copy_(given)
        replay()
        expected = (given.double() @ weights.double().t()).relu()
        expect(output.logits, expected, torch.tensor(SUMS["float32"] * 2 * _COLUMNS), "a replayed pass")
    return None


CHECKS: dict[str, Check] = {
    "memory": check_memory,
    "dense": check_dense,
    "halves": check_halves,
    "unpack": check_unpacking,
    "product": check_product,
    "attention": check_attention,
    "scores": check_scores,
    "states": check_states,
    "copies": check_copies,
    "streams": check_streams,
    "noise": check_noise,
    "graphs": check_graphs,
}


def _of_halves(x: Tensor, weights: Tensor) -> Tensor:
    """Return the product of x, float32 [n, columns], and float16 weights [rows, columns]."""
    output = x.new_empty(len(x), len(weights))
    halves.multiplier(x)(weights.t(), output)
    return output


def _unpacked(packed: Packed, out: Tensor, way: str) -> Tensor:
    """Unpack a whole matrix to `out`."""
    rows = packed.shape[0]
    return operations.unpack(packed.format, packed.parts, packed.shape, 0, rows, out, packed.groups, way)


def _reference(packed: Packed) -> Tensor:
    """Return a matrix in RAM as the processor unpacks it."""
    rows, columns = packed.shape
    with torch.inference_mode(False):  # other threads write to it
        out = torch.empty(rows * columns, dtype=packed.workspace.dtype)
    return _unpacked(packed, out, "processor")


def _expect_product(product: Tensor, x: Tensor, weights: Tensor, dtype: str) -> None:
    """x [n, columns], weights [rows, columns]: the factors, rounded as they were multiplied."""
    x, weights = x.double(), weights.double()
    norms = x.norm(dim=1)[:, None] * weights.norm(dim=1)[None, :]
    expect(product, x @ weights.t(), SUMS[dtype] * norms, "a product")


def _launching(card: TestedCard, packed: Packed) -> float:
    """Return the seconds in which the program launches the product of a matrix of one piece."""
    x = torch.zeros(_UNFUSED, packed.shape[1], dtype=packed.workspace.states, device=card.device)
    return launch_seconds(card, lambda: packed.product(x))


def _is_fused(packed: Packed) -> bool:
    """Return whether a product with one row does without unpacking the matrix."""
    of = packed.workspace
    x = torch.zeros(1, packed.shape[1], dtype=of.states, device=of.device)
    fused = operations.product(packed.format, packed.parts, packed.shape, x, packed.groups, of.dtype)
    return fused is not None


def _packed(name: str, dtype: str, device: torch.device, rows: int, columns: int) -> Packed:
    """Return a random matrix. name: as `engine.checkpoints.packing_name` makes it."""
    form, groups = name.partition("-")[0], _groups(name, columns)
    return random_packed(form, (rows, columns), device, dtype_named(dtype), groups=groups)


def _multiplied(name: str) -> Iterator[tuple[tuple[int, int], tuple[int, ...]]]:
    """Yield the shapes of the matrices by which to multiply, each with the numbers of rows of x."""
    yield _usual(name), (1, 16, 64, 200)
    unsplit = _whole(name, _UNSPLIT)
    yield (_ROWS if unsplit == _UNSPLIT else _TALL, unsplit), (1, 16, 64)
    if edge := _edge(name):
        yield edge, (1, 5, 33)


def _usual(name: str) -> tuple[int, int]:
    """Return the shape of a matrix whose columns are split. Where a format has no groups, it fills neither
    the tiles of kernels nor, unless a block is a whole step, the last one, as gpt-oss's experts do not."""
    if _groups(name, 0) is not None:
        return _ROWS, _whole(name, _COLUMNS)
    form = format_named(name)
    return _ROWS + _LEFT, _COLUMNS + (form.values if isinstance(form, BlockFormat) else _STEP)


def _whole(name: str, columns: int) -> int:
    """Return a number of columns, `columns` at least, that are whole groups, and several where a row has
    several."""
    groups = _groups(name, 0)
    if groups is None or not groups.size:
        return columns
    return max(2, -(-columns // groups.size)) * groups.size


def _edge(name: str) -> tuple[int, int] | None:
    """Return the shape of a matrix with groups that fills neither the tiles of kernels nor, if the format
    allows that, its last group; None for other formats. Kernels are compiled anew for it, as for a head with
    an odd number of rows."""
    groups = _groups(name, 0)
    if groups is None:
        return None
    unit, columns = 32 // gcd(32, groups.bits), _whole(name, _COLUMNS)  # rows or columns in whole words
    if isinstance(format_named(name.partition("-")[0]), GroupedFormat):
        return _ROWS + unit, columns + unit
    return _ROWS + 1, columns + (groups.size or unit)


def _groups(name: str, columns: int) -> Groups | None:
    """Return the groups that a name tells, of a matrix with so many columns; None if it tells none."""
    return Groups.named(name, columns) if "-" in name else None


def _memory(card: TestedCard) -> float:
    """Return the bytes per second that the card's memory reads and writes in a copy."""
    source = torch.ones(_COPIED, dtype=torch.uint8, device=card.device)
    target = torch.empty_like(source)
    return 2 * len(source) / seconds(card, lambda: target.copy_(source))
