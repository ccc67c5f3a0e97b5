"""`specexec bench recurrent`: times passes of a made-up Qwen 3.5 or Granite 4 hybrid, whose layers have
states, as a compiled program on the processor, and through torch beside it. Weights are random: speed depends
on the shape alone.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from engine.bench.made_hybrids import HYBRIDS, made_hybrid
from engine.bench.options import add_repeats_option, numbers, one_of, say
from engine.bench.timings import CONTEXT, Timings, milliseconds, text_pass, timed
from engine.errors import BadOption
from engine.terminal import Commands, add_command

if TYPE_CHECKING:
    from engine.checkpoints import Checkpoint
    from engine.model.interface import Model


ENGINES = ("compiled", "torch")


@dataclass(frozen=True, slots=True)
class PassTimes:
    """The times of a pass over a tree of `rows` rows; of a text, if `text`."""

    engine: str
    rows: int
    text: bool
    s: Timings


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "recurrent",
        run,
        "time passes of a model whose layers have states, compiled and through torch",
        "Needs no model files: a Qwen 3.5 or a Granite 4 hybrid of random weights is made up. Passes over "
        "rows of a tree, and one over a text as long as a run of a streamed prompt, are timed on the "
        "processor.",
    )
    parser.add_argument(
        "--shape", metavar="NAME", default="0.8b", help=f"{', '.join(HYBRIDS)} (default: %(default)s)"
    )
    parser.add_argument(
        "--format", metavar="NAME", default="Q4_K", help="format of the matrices (default: %(default)s)"
    )
    parser.add_argument(
        "--rows", metavar="N,…", default="1,4,16,64", help="numbers of rows (default: %(default)s)"
    )
    parser.add_argument(
        "--text", metavar="N", type=int, default=512, help="tokens of the text (default: %(default)s)"
    )
    parser.add_argument(
        "--engines", metavar="NAME,…", default=",".join(ENGINES), help="(default: %(default)s)"
    )
    add_repeats_option(parser, 5)


def run(parsed: argparse.Namespace) -> int:
    from engine.compiled.layout import LAYOUTS

    shape = HYBRIDS[one_of("shape", parsed.shape, HYBRIDS)[0]]
    form = one_of("format", parsed.format, [name for name in LAYOUTS if name != "F32"])[0]
    engines = one_of("engines", parsed.engines, ENGINES)
    rows = numbers("rows", parsed.rows, int)
    if min(*rows, parsed.text, parsed.repeats) < 1:
        raise BadOption("All numbers must be greater than 0.", "Omit them to use the defaults.")
    with TemporaryDirectory(prefix="specexec-") as folder:
        file = made_hybrid(shape, form, Path(folder))
        found = [each for name in engines for each in measure(file, name, rows, parsed.text, parsed.repeats)]
    if parsed.json:
        print(json.dumps({"shape": asdict(shape), "format": form, "times": [asdict(each) for each in found]}))
    else:
        print("\n".join(table(found)))
    return 0


def measure(file: "Checkpoint", engine: str, rows: list[int], text: int, repeats: int) -> Iterator[PassTimes]:
    """Time the passes of a model through one of ENGINES."""
    from engine.model.sequence import Sequence

    say(f"{engine}: loading")
    model = _load(file, engine, CONTEXT + max(text, *rows))
    try:
        for count in rows:
            say(f"{engine}: {count} rows")
            yield PassTimes(engine, count, False, timed(text_pass(model, count), repeats))
        say(f"{engine}: a text of {text}")
        sequence = Sequence(model, text)

        def read() -> None:
            sequence.rewind(0)
            sequence.extend([1] * text)

        yield PassTimes(engine, text, True, timed(read, repeats))
    finally:
        model.close()


def _load(file: "Checkpoint", engine: str, context: int) -> "Model":
    from engine.model.interface import no_progress

    if engine == "compiled":
        from engine.model.loader import load_compiled, prepare_compiled

        prepare_compiled(file)
        compiled = load_compiled(file, no_progress, context)
        assert compiled is not None
        return compiled
    from engine.torch_model.loader import choose_dtype, load_model, prepare

    dtype = choose_dtype("auto", "cpu")
    prepare(file, dtype)
    return load_model(file, dtype, "cpu", no_progress, context)


def table(found: list[PassTimes]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield "| engine | rows | pass, ms | rows/s |"
    yield "|---|---:|---:|---:|"
    for each in found:
        what = f"{each.rows}, a text" if each.text else f"{each.rows}"
        yield f"| {each.engine} | {what} | {milliseconds(each.s)} | {each.rows / each.s.s:.4g} |"
