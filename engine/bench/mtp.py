"""`specexec bench mtp`: times rounds of the layer for multi-token prediction beside a made-up Qwen 3.5 on the
processor, as a compiled program and through torch. Weights are random: speed depends on the shape alone.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from engine.bench.made_hybrids import QWENS, made_hybrid
from engine.bench.options import add_repeats_option, numbers, one_of, say
from engine.bench.timings import CONTEXT, Timings, in_turns, milliseconds
from engine.errors import BadOption
from engine.terminal import Commands, add_command

if TYPE_CHECKING:
    from engine.checkpoints import Checkpoint
    from engine.heads import CachedHead
    from engine.model.compiled import CompiledModel

_LAYERS = 4  # of the target, the last of which attends: only its embedding and output head take part


@dataclass(frozen=True, slots=True)
class RoundTimes:
    """The times of a round that guesses behind `rows` nodes of a tree. s: as a clock on the wall has it;
    processor_s: of all cores together."""

    engine: str
    rows: int
    s: Timings
    processor_s: Timings


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "mtp",
        run,
        "time rounds of a layer for drafts (MTP), compiled and through torch",
        "Needs no model files: a Qwen 3.5 of random weights with such a layer is made up. Rounds are timed "
        "on the processor, in turns; each ends with the output head and the choice of the best tokens.",
    )
    parser.add_argument(
        "--shape", metavar="NAME", default="4b", help=f"{', '.join(QWENS)} (default: %(default)s)"
    )
    parser.add_argument(
        "--format", metavar="NAME", default="Q4_K", help="format of the matrices (default: %(default)s)"
    )
    parser.add_argument(
        "--rows", metavar="N,…", default="1,10", help="numbers of nodes (default: %(default)s)"
    )
    add_repeats_option(parser, 15)


def run(parsed: argparse.Namespace) -> int:
    from engine.compiled.layout import LAYOUTS

    shape = QWENS[one_of("shape", parsed.shape, QWENS)[0]]
    form = one_of("format", parsed.format, [name for name in LAYOUTS if name != "F32"])[0]
    rows = numbers("rows", parsed.rows, int)
    if min(*rows, parsed.repeats) < 1:
        raise BadOption("All numbers must be greater than 0.", "Omit them to use the defaults.")
    with TemporaryDirectory(prefix="specexec-") as folder:
        file = with_layer(made_hybrid(replace(shape, layers=_LAYERS), form, Path(folder)))
        found = list(measure(file, rows, parsed.repeats))
    if parsed.json:
        print(json.dumps({"shape": asdict(shape), "format": form, "times": [asdict(each) for each in found]}))
    else:
        print("\n".join(table(found)))
    return 0


def with_layer(file: "Checkpoint") -> "Checkpoint":
    """Return a made-up model with a layer for drafts, which shares the bytes of the model's last layer."""
    from engine.checkpoints import Weight
    from engine.checkpoints.drafts import EMBEDDING_NORM, JOIN, LAST_NORM, LAYER, STATE_NORM
    from engine.checkpoints.storage import stored_nbytes

    last = f"model.layers.{_LAYERS - 1}."
    layer = {
        name.replace(last, LAYER): weight for name, weight in file.weights.items() if name.startswith(last)
    }
    norm, matrix = layer[f"{LAYER}input_layernorm.weight"], layer[f"{LAYER}mlp.gate_proj.weight"]
    layer |= {f"{name}.weight": norm for name in (EMBEDDING_NORM, STATE_NORM, LAST_NORM)}
    # The first bytes of a larger matrix.
    size = (norm.shape[0], 2 * norm.shape[0])
    nbytes = stored_nbytes(matrix.format, size)
    assert nbytes <= matrix.nbytes
    layer[f"{JOIN}.weight"] = Weight.of(replace(matrix.spans[0], nbytes=nbytes, shape=size))
    return replace(file, draft=layer)


def measure(file: "Checkpoint", rows: list[int], repeats: int) -> Iterator[RoundTimes]:
    """Time rounds of a model's layer for drafts."""
    from engine.heads import CachedHead, built_in_heads, load_compiled_heads
    from engine.model.interface import no_progress
    from engine.model.loader import load_compiled, prepare_compiled
    from engine.torch_model.heads import load_heads

    say("loading")
    context = CONTEXT + max(rows)
    prepare_compiled(file)
    target, layer = load_compiled(file, no_progress, context), built_in_heads(file)
    assert target is not None
    assert layer is not None
    try:
        compiled = load_compiled_heads(layer, target, context)
        through_torch = load_heads(layer, target, context)
        assert isinstance(compiled, CachedHead)
        assert isinstance(through_torch, CachedHead)
        for count in rows:
            say(f"{count} rows")
            rounds = _round(compiled, target, count), _round(through_torch, target, count)
            times = zip(
                ("compiled", "torch"),
                in_turns(*rounds, repeats),
                in_turns(*rounds, repeats, time.process_time),
                strict=True,
            )
            for engine, s, processor_s in times:
                yield RoundTimes(engine, count, s, processor_s)
    finally:
        target.close()


def _round(head: "CachedHead", target: "CompiledModel", count: int) -> Callable[[], None]:
    """Return a function that guesses behind `count` nodes after CONTEXT tokens, and finds the best tokens.
    Each call first drops the rows of the previous call."""
    from engine.drafting.eagle import BRANCH
    from engine.heads import EagleHead
    from engine.model.rows import Rows

    assert isinstance(head, EagleHead)
    text = [1] * CONTEXT
    hidden = target.forward(
        Rows.text(text, 0), target.new_cache(CONTEXT), hidden_layers=head.hidden_layers
    ).hidden
    states, cache = head.fuse(hidden), head.new_cache()
    head.forward(Rows.text(text, 0), states, cache)
    cache.keep(range(CONTEXT))
    nodes = Rows(np.full(count, 2), np.full(count, CONTEXT), np.eye(count, dtype=np.bool_))

    def run() -> None:
        cache.keep([])
        head.best(head.forward(nodes, states[[0] * count], cache), BRANCH)

    return run


def table(found: list[RoundTimes]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield "| engine | rows | round, ms | of all cores, ms |"
    yield "|---|---:|---:|---:|"
    for each in found:
        yield f"| {each.engine} | {each.rows} | {milliseconds(each.s)} | {milliseconds(each.processor_s)} |"
