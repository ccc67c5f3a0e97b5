"""How fast packed weights are unpacked and multiplied on a device: by the engine, by plain torch, and by the
reference."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from time import perf_counter

import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize
from torch import Tensor

from engine.checkpoints import Groups
from engine.quantization import FORMATS, Packed, Workspace, format_named
from engine.quantization.blocks import Blocks
from engine.quantization.grouped import Grouped

PACKED = tuple(name for name, each in FORMATS.items() if isinstance(each, Blocks | Grouped))
ROWS = (1, 16, 64, 256)
_GROUPS = Groups(bits=4, size=128, zero_offset=1)


@dataclass(frozen=True, slots=True)
class Speed:
    """One way of doing one thing, repeated.

    Attributes: `rows` of x in a product, 0 for unpacking alone; `way`: "engine", what a model would do here;
    "torch", unpacked by plain torch; "gguf", by gguf's reference; "dense", multiplied by weights unpacked
    beforehand; "gptqmodel" and "int4", multiplied by GPTQModel's layers; `seconds` of the fastest repeat;
    `spread`, how much longer the slowest took, as a share of them; `gw_per_s`, 10^9 weights, and `gb_per_s`,
    10^9 bytes as stored, each per second.
    """

    format: str
    rows: int
    way: str
    seconds: float
    spread: float
    gw_per_s: float
    gb_per_s: float


def random_packed(
    name: str, shape: tuple[int, int], device: torch.device, dtype: torch.dtype, seed: int = 0
) -> Packed:
    """A matrix of `shape` (rows, columns), random but for finite scales, to be unpacked to `dtype`. GPTQ and
    AWQ: 4 bits, groups of 128 columns."""
    random = torch.Generator().manual_seed(seed)
    rows, columns = shape

    def bits(nbytes: int) -> Tensor:
        return torch.randint(256, (nbytes,), dtype=torch.uint8, generator=random)

    format_ = format_named(name)
    if isinstance(format_, Blocks):
        blocks = bits(rows * columns // format_.values * format_.nbytes).view(-1, format_.nbytes)
        for at in format_.scales:
            blocks[:, at + 1] &= 0xBF  # the exponent's highest bit: below 2
        parts, groups = [blocks.view(-1)], None
    else:
        assert isinstance(format_, Grouped)
        scales = torch.rand(columns // _GROUPS.size * rows, generator=random).to(format_.scales)
        index = torch.arange(columns, dtype=torch.int32) // _GROUPS.size
        parts = [bits(rows * columns // 2), bits(len(scales) // 2), scales.view(torch.uint8)]
        if not name.startswith("AWQ"):
            parts.append(index.view(torch.uint8))
        groups = _GROUPS
    return Packed(format_, shape, [part.to(device) for part in parts], Workspace(dtype, device), groups)


def measure(
    names: Iterable[str],
    device: torch.device,
    dtype: torch.dtype,
    shape: tuple[int, int] = (8192, 8192),
    rows: Sequence[int] = ROWS,
    repeats: int = 5,
) -> Iterator[Speed]:
    """Gives each Speed as soon as it is known. shape: rows and columns of the matrix, multiples of 256."""
    for name in names:
        packed = random_packed(name, shape, device, dtype)
        for n in (0, *rows):
            for way, work in _ways(packed, n).items():
                seconds = sorted(_timed(work, device, repeats))
                weights, nbytes = shape[0] * shape[1], packed.nbytes
                yield Speed(
                    name, n, way, seconds[0], seconds[-1] / seconds[0] - 1,
                    weights / seconds[0] / 1e9, nbytes / seconds[0] / 1e9,
                )  # fmt: skip


def table(speeds: Iterable[Speed]) -> Iterator[str]:
    """Lines to print, one for each speed, below a heading."""
    yield f"{'format':10} {'rows':>4} {'way':7} {'ms':>9} {'spread':>7} {'Gw/s':>8} {'GB/s':>8}"
    for each in speeds:
        yield (
            f"{each.format:10} {each.rows or '-':>4} {each.way:7} {each.seconds * 1e3:9.3f}"
            f" {each.spread:7.0%} {each.gw_per_s:8.2f} {each.gb_per_s:8.2f}"
        )


def _ways(packed: Packed, n: int) -> dict[str, Callable[[], object]]:
    if n:
        x = torch.ones(n, packed.shape[1], dtype=packed.workspace.dtype, device=packed.workspace.device)
        dense = packed.dense()
        return {
            "engine": lambda: packed.product(x),
            "dense": lambda: torch.mm(x, dense.t()),
            **{name: partial(layer, x) for name, layer in _gptqmodel_layers(packed).items()},
        }
    ways: dict[str, Callable[[], object]] = {"engine": lambda: [len(piece) for _, piece in packed.pieces()]}
    format_, dtype = packed.format, packed.workspace.dtype
    if isinstance(format_, Blocks):
        blocks, numbers = packed.parts[0].view(-1, format_.nbytes), format_.numbers
        ways["torch"] = lambda: numbers(blocks).to(dtype)
        if blocks.device.type == "cpu":
            ways["gguf"] = lambda: dequantize(blocks.numpy(), GGMLQuantizationType[format_.name])
    elif isinstance(format_, Grouped) and packed.groups:
        whole = packed.parts, packed.shape, 0, packed.shape[0], packed.groups
        numbers_of = format_.numbers
        ways["torch"] = lambda: numbers_of(*whole).to(dtype)
    return ways


def _gptqmodel_layers(packed: Packed) -> dict[str, Callable[[Tensor], object]]:
    """GPTQModel's own layers over the same bytes, where it is installed (the extra `gptq`) and knows the
    device: one that unpacks at each product, one over torch's int4 product for CPUs."""
    if packed.format.name != "GPTQ" or find_spec("gptqmodel") is None:
        return {}
    from gptqmodel.nn_modules.qlinear.torch import TorchLinear
    from gptqmodel.nn_modules.qlinear.torch_aten_kernel import TorchAtenLinear

    kinds = {"gptqmodel": TorchLinear}
    if packed.parts[0].device.type == "cpu":
        kinds["int4"] = TorchAtenLinear
    rows, columns = packed.shape
    layers: dict[str, Callable[[Tensor], object]] = {}
    for name, kind in kinds.items():
        with redirect_stdout(sys.stderr):
            kind.validate_once()
            layer = kind(
                bits=_GROUPS.bits, group_size=_GROUPS.size, sym=False, desc_act=False,
                in_features=columns, out_features=rows, bias=False,
            )  # fmt: skip
        stored = (torch.int32, torch.int32, torch.float16, torch.int32)
        for part, dtype, buffer in zip(
            packed.parts, stored, ("qweight", "qzeros", "scales", "g_idx"), strict=True
        ):
            place = getattr(layer, buffer)
            setattr(layer, buffer, part.view(dtype).view(place.shape).clone())
        layer.post_init()
        layers[name] = layer.eval()
    return layers


def _timed(work: Callable[[], object], device: torch.device, repeats: int) -> Iterator[float]:
    """Seconds of each repeat, after one that is not counted: it may compile."""
    for repeat in range(repeats + 1):
        begin = perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        if repeat:
            yield perf_counter() - begin
