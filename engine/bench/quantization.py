"""`specexec bench quantization`: measures how fast a device unpacks and multiplies packed weights with the
engine, with plain torch and with the reference implementations."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from time import perf_counter
from typing import TYPE_CHECKING

from engine.bench.options import one_of, require_package
from engine.bench.timings import finish
from engine.errors import BadOption
from engine.terminal import Commands, add_command, add_compute_options

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from engine.model.interface import Device
    from engine.quantization import Packed

ROWS = (1, 16, 64, 256)
_WITHOUT_REFERENCE = ("Q1_0",)  # formats of which gguf 0.19 knows only the sizes


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "quantization",
        run,
        "measure unpacking and multiplying packed weights",
        "For every format: unpacking a random matrix, and multiplying it by 1, 16, 64 and 256 rows. On the "
        "CPU, the reference of GGUF's formats needs the extra “bench”; GPTQModel is measured too if "
        "installed.",
    )
    parser.add_argument(
        "--formats", metavar="NAME,…", help="formats to measure, such as Q4_K,GPTQ (default: all)"
    )
    add_compute_options(parser)
    parser.add_argument(
        "--size",
        type=int,
        default=4096,
        metavar="N",
        help="rows and columns of the matrix, a multiple of 256 (default: %(default)s)",
    )


def run(parsed: argparse.Namespace) -> int:
    from engine.model.devices import choose_device
    from engine.quantization.random_matrix import PACKED
    from engine.torch_model.loader import choose_dtype

    formats = one_of("formats", parsed.formats, PACKED) if parsed.formats else PACKED
    if parsed.size < 256 or parsed.size % 256:
        raise BadOption("--size must be a multiple of 256.", "Example: 4096.")
    device = choose_device(parsed.device)
    dtype = choose_dtype(parsed.dtype, device)
    speeds = measure(formats, device, dtype, (parsed.size, parsed.size))
    if parsed.json:
        print(json.dumps({"speeds": [asdict(speed) for speed in speeds]}))
    else:
        for line in table(speeds):
            print(line, flush=True)
    return 0


@dataclass(frozen=True, slots=True)
class Throughput:
    """The speed of one way to unpack or to multiply.

    `rows`: number of rows that are multiplied; 0 for unpacking alone. `way`: "engine", as this engine's
    models do it; "torch", unpacked by plain torch; "gguf", unpacked by gguf's reference; "dense", multiplied
    with weights that were unpacked beforehand; "gptqmodel" and "int4", multiplied by GPTQModel's layers.
    `seconds`: time of the fastest repeat. `spread`: how much longer the slowest repeat took, as a share of
    `seconds`. `gw_per_s`: 10^9 weights per second. `gb_per_s`: 10^9 stored bytes per second.
    """

    format: str
    rows: int
    way: str
    seconds: float
    spread: float
    gw_per_s: float
    gb_per_s: float


def measure(
    names: Iterable[str],
    device: "Device",
    dtype: "torch.dtype",
    shape: tuple[int, int] = (8192, 8192),
    rows: Sequence[int] = ROWS,
    repeats: int = 5,
) -> Iterator[Throughput]:
    """Measure every way for each format in `names`; yield each speed as soon as it is measured.

    shape: rows and columns of the matrix, multiples of 256. rows: numbers of rows to multiply. Raises
    MissingExtra on the CPU if gguf is not installed.
    """
    from engine.quantization.random_matrix import random_packed

    if device == "cpu":
        require_package("gguf", "The reference of GGUF's formats")
    for name in names:
        packed = random_packed(name, shape, device, dtype)
        for n in (0, *rows):
            for way, work in _ways(packed, n).items():
                seconds = sorted(_timed(work, device, repeats))
                weights, nbytes = shape[0] * shape[1], packed.nbytes
                yield Throughput(
                    name, n, way, seconds[0], seconds[-1] / seconds[0] - 1,
                    weights / seconds[0] / 1e9, nbytes / seconds[0] / 1e9,
                )  # fmt: skip


def table(speeds: Iterable[Throughput]) -> Iterator[str]:
    """Yield the lines to print: a heading, then one line per speed."""
    yield f"{'format':10} {'rows':>4} {'way':7} {'ms':>9} {'spread':>7} {'Gw/s':>8} {'GB/s':>8}"
    for each in speeds:
        yield (
            f"{each.format:10} {each.rows or '-':>4} {each.way:7} {each.seconds * 1e3:9.3f}"
            f" {each.spread:7.0%} {each.gw_per_s:8.2f} {each.gb_per_s:8.2f}"
        )


def _ways(packed: "Packed", n: int) -> dict[str, Callable[[], object]]:
    """Return, by name, the ways to multiply `packed` by `n` rows, or to unpack it if `n` is 0."""
    import torch

    from engine.formats import BlockFormat, GroupedFormat
    from engine.quantization import operations

    if n:
        x = torch.ones(n, packed.shape[1], dtype=packed.workspace.states, device=packed.workspace.device)
        dense = packed.dense()
        rounded = x.to(dense.dtype)
        return {
            "engine": lambda: packed.product(x),
            "dense": lambda: torch.mm(rounded, dense.t()),
            **{name: partial(layer, rounded) for name, layer in _gptqmodel_layers(packed).items()},
        }
    ways: dict[str, Callable[[], object]] = {"engine": lambda: [len(piece) for _, piece in packed.pieces()]}
    format_, (rows, columns), workspace = packed.format, packed.shape, packed.workspace
    if isinstance(format_, BlockFormat | GroupedFormat):
        out = torch.empty(rows * columns, dtype=workspace.dtype, device=workspace.device)
        whole = format_, packed.parts, packed.shape, 0, rows, out, packed.groups
        ways["torch"] = lambda: operations.unpack(*whole, way="torch")
    if isinstance(format_, BlockFormat):
        stored = packed.parts[0].view(-1, format_.nbytes)
        if stored.device.type == "cpu" and format_.name not in _WITHOUT_REFERENCE:
            from gguf import GGMLQuantizationType
            from gguf.quants import dequantize

            ways["gguf"] = lambda: dequantize(stored.numpy(), GGMLQuantizationType[format_.name])
    return ways


def _gptqmodel_layers(packed: "Packed") -> "dict[str, Callable[[Tensor], object]]":
    """Return GPTQModel's layers with the same bytes as `packed`, by name: one that unpacks at each product,
    and on the CPU one that uses torch's int4 product. Return none if the format is not GPTQ or GPTQModel (the
    extra `gptq`) is not installed."""
    if packed.format.name != "GPTQ" or find_spec("gptqmodel") is None:
        return {}
    import torch
    from gptqmodel.nn_modules.qlinear.torch import TorchLinear
    from gptqmodel.nn_modules.qlinear.torch_aten_kernel import TorchAtenLinear

    from engine.checkpoints import USUAL_GROUPS

    kinds = {"gptqmodel": TorchLinear}
    if packed.parts[0].device.type == "cpu":
        kinds["int4"] = TorchAtenLinear
    rows, columns = packed.shape
    layers: dict[str, Callable[[Tensor], object]] = {}
    for name, kind in kinds.items():
        with redirect_stdout(sys.stderr):
            kind.validate_once()
            layer = kind(
                bits=USUAL_GROUPS.bits, group_size=USUAL_GROUPS.size, sym=False, desc_act=False,
                in_features=columns, out_features=rows, bias=False,
            )  # fmt: skip
        stored = (torch.int32, torch.int32, torch.float16, torch.int32)
        device = packed.parts[0].device
        index = torch.arange(columns, dtype=torch.int32, device=device) // USUAL_GROUPS.size
        parts = *packed.parts, index.view(torch.uint8)
        for part, dtype, buffer in zip(parts, stored, ("qweight", "qzeros", "scales", "g_idx"), strict=True):
            place = getattr(layer, buffer)
            setattr(layer, buffer, part.view(dtype).view(place.shape).clone())
        layer.post_init()
        layers[name] = layer.eval()
    return layers


def _timed(work: Callable[[], object], device: "Device", repeats: int) -> Iterator[float]:
    """Yield the seconds of each repeat, after a first run that is not counted because it may compile."""
    for repeat in range(repeats + 1):
        begin = perf_counter()
        work()
        finish(device)
        if repeat:
            yield perf_counter() - begin
