"""`specexec bench kernels`: compiles the kernels for graphics cards, which need not be there, and tells what
their programs take of a card."""

import argparse
import io
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from engine.bench.options import one_of
from engine.errors import MissingExtra
from engine.terminal import Commands, add_command

if TYPE_CHECKING:
    from engine.quantization.triton.sources import KernelSource


@dataclass(frozen=True, slots=True)
class CardKind:
    """An architecture of NVIDIA's cards.

    dtype: of unpacked weights there, as Triton calls it; shared: the most bytes of shared
    memory that a program may have (CUDA programming guide, technical specifications by compute capability);
    cores: whether Triton uses its cores for matrices.
    """

    capability: int
    dtype: str
    shared: int
    cores: bool = True


CARDS = {
    "sm_75": CardKind(75, "fp16", 64 << 10, cores=False),
    "sm_80": CardKind(80, "bf16", 163 << 10),
    "sm_86": CardKind(86, "bf16", 99 << 10),
    "sm_89": CardKind(89, "bf16", 99 << 10),
    "sm_90": CardKind(90, "bf16", 227 << 10),
    "sm_120": CardKind(120, "bf16", 99 << 10),
}
USUAL = ("sm_75", "sm_86", "sm_89", "sm_120")


@dataclass(frozen=True, slots=True)
class CompiledFor:
    """What the compiler says of a kernel for a card.

    registers: of each thread; spilled: bytes of each thread that are stored in slower memory, as registers
    are too few; shared: bytes of shared memory of each program; all None if the kernel does not compile.
    fits: whether the card can run it. problem: why it does not compile, or "".
    """

    kernel: str
    card: str
    registers: int | None
    spilled: int | None
    shared: int | None
    fits: bool
    problem: str = ""


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "kernels",
        run,
        "compile the kernels for graphics cards that need not be there",
        "For every Triton kernel and architecture: whether it compiles, its registers, what it spills from "
        "them, its shared memory, and whether the card has that much. Needs Triton, but no card.",
    )
    parser.add_argument(
        "--formats", metavar="NAME,…", help="formats whose kernels to compile, such as Q4_K,W4 (default: all)"
    )
    parser.add_argument(
        "--cards",
        metavar="NAME,…",
        default=",".join(USUAL),
        help=f"architectures, of {', '.join(CARDS)} (default: %(default)s)",
    )


def run(parsed: argparse.Namespace) -> int:
    if find_spec("triton") is None:
        raise MissingExtra(
            "Kernels are compiled by Triton, which is not installed.",
            "On Linux, run: pip install triton==3.7.1",
        )
    from engine.quantization.triton import sources

    known = sources.names()
    formats = one_of("formats", parsed.formats, known) if parsed.formats else known
    cards = one_of("cards", parsed.cards, CARDS)
    found = measure(formats, cards)
    if parsed.json:
        print(json.dumps({"kernels": [asdict(each) for each in found]}))
    else:
        for line in table(found):
            print(line, flush=True)
    return 0


def measure(formats: Iterable[str], cards: Sequence[str]) -> Iterator[CompiledFor]:
    """Compile every kernel of the formats for every card, and the one that adds up parts of products."""
    from engine.quantization.triton import ROWS, sources

    for card in cards:
        kind = CARDS[card]
        yield compiled_for("sum of parts", sources.sum_of_parts(kind.dtype), card)
        rows = ROWS if kind.cores else ROWS[:-1]  # as products are launched
        for name in formats:
            for kernel, source in sources.sources_of(name, kind.dtype, rows, kind.cores):
                yield compiled_for(kernel, source, card)


def compiled_for(kernel: str, source: "KernelSource", card: str) -> CompiledFor:
    """Compile one kernel for one card, without any cache."""
    from triton import knobs
    from triton.backends.compiler import GPUTarget
    from triton.errors import TritonError

    kind, log = CARDS[card], io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        knobs.cache.scope(),
        knobs.nvidia.scope(),
        redirect_stdout(log),
    ):
        knobs.cache.dir = folder
        knobs.nvidia.dump_ptxas_log = True
        try:
            made = source.compiled(GPUTarget("cuda", kind.capability, 32))
        except (TritonError, RuntimeError) as error:
            reason = str(error.__cause__ or error).strip().splitlines()
            return CompiledFor(kernel, card, None, None, None, False, reason[0] if reason else "unknown")
    registers, spilled = _said(log.getvalue())
    shared: int = made.metadata.shared
    return CompiledFor(kernel, card, registers, spilled, shared, shared <= kind.shared)


def _said(log: str) -> tuple[int, int]:
    """Return the registers of a thread, and the bytes that it spills, of what ptxas prints."""
    registers = re.search(r"Used (\d+) registers", log)
    spilled = re.search(r"(\d+) bytes spill stores", log)
    if registers is None or spilled is None:
        raise MissingExtra("This Triton does not say what a kernel takes.", "Run: pip install triton==3.7.1")
    return int(registers[1]), int(spilled[1])


def table(found: Iterable[CompiledFor]) -> Iterator[str]:
    """Yield the lines to print: a heading, then one line per kernel and card."""
    yield f"{'kernel':34} {'card':7} {'registers':>9} {'spilled':>7} {'shared':>7}  fits"
    for each in found:
        figures = [
            "-" if number is None else f"{number:,}" for number in (each.registers, each.spilled, each.shared)
        ]
        fits = "yes" if each.fits else f"no: {each.problem}" if each.problem else "no"
        yield f"{each.kernel:34} {each.card:7} {figures[0]:>9} {figures[1]:>7} {figures[2]:>7}  {fits}"
