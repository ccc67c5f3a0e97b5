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

from engine.bench.hybrid import HYBRIDS, HybridShape, made_up_hybrid
from engine.bench.options import add_repeats_option, numbers, one_of, say
from engine.bench.timings import CONTEXT, Timings, milliseconds, text_pass, timed
from engine.errors import BadOption
from engine.terminal import Commands, add_command

if TYPE_CHECKING:
    from engine.checkpoints import Checkpoint
    from engine.model.interface import Model


@dataclass(frozen=True, slots=True)
class RecurrentShape:
    """The shape of a Qwen 3.5: three layers with states, whose heads are 128 wide, before each that attends,
    whose heads are 256 wide. key_heads, value_heads: of layers with states."""

    layers: int
    hidden: int
    mlp: int
    heads: int
    kv_heads: int
    key_heads: int
    value_heads: int
    vocabulary: int


# Near those of the published models; the vocabulary, whose head is a product like others, is smaller.
SHAPES = {
    "0.8b": RecurrentShape(24, 1024, 3584, 8, 2, 16, 16, 65536),
    "2b": RecurrentShape(24, 2048, 6144, 8, 2, 16, 16, 65536),
    "4b": RecurrentShape(32, 2560, 9216, 16, 4, 16, 32, 65536),
    "tiny": RecurrentShape(4, 256, 512, 1, 1, 8, 16, 512),
}
EVERY: dict[str, RecurrentShape | HybridShape] = {**SHAPES, **HYBRIDS}
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
        "--shape", metavar="NAME", default="0.8b", help=f"{', '.join(EVERY)} (default: %(default)s)"
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

    shape = EVERY[one_of("shape", parsed.shape, EVERY)[0]]
    form = one_of("format", parsed.format, [name for name in LAYOUTS if name != "F32"])[0]
    engines = one_of("engines", parsed.engines, ENGINES)
    rows = numbers("rows", parsed.rows, int)
    if min(*rows, parsed.text, parsed.repeats) < 1:
        raise BadOption("All numbers must be greater than 0.", "Omit them to use the defaults.")
    with TemporaryDirectory(prefix="specexec-") as folder:
        if isinstance(shape, HybridShape):
            file = made_up_hybrid(shape, form, Path(folder))
        else:
            file = made_up(shape, form, Path(folder))
        found = [each for name in engines for each in measure(file, name, rows, parsed.text, parsed.repeats)]
    if parsed.json:
        print(json.dumps({"shape": asdict(shape), "format": form, "times": [asdict(each) for each in found]}))
    else:
        print("\n".join(table(found)))
    return 0


def made_up(shape: RecurrentShape, form: str, folder: Path) -> "Checkpoint":
    """Write a checkpoint of `shape`, its matrices stored in the format `form`. Layers of a kind share the
    same bytes."""
    import torch

    from engine.bench.random_weights import random_bytes
    from engine.checkpoints import Checkpoint, Generation, Span, TokenizerFolder, Weight

    path = folder / "recurrent.bin"
    width, keys, values = shape.hidden, 128 * shape.key_heads, 128 * shape.value_heads
    channels, queries, kv = 2 * keys + values, 256 * shape.heads, 256 * shape.kv_heads
    with path.open("wb") as file:

        def write(size: tuple[int, ...], stored_as: str, data: torch.Tensor) -> Weight:
            span = Span(path, file.tell(), data.nbytes, size, stored_as)
            data.numpy().tofile(file)
            return Weight.of(span)

        def matrix(rows: int, columns: int = width) -> Weight:
            return write((rows, columns), form, random_bytes(form, rows * columns, "cpu"))

        def vector(*size: int) -> Weight:
            return write(size, "F32", torch.randn(size).flatten().mul_(0.1).view(torch.uint8))

        norm, embedding = vector(width), matrix(shape.vocabulary)
        feed = {
            "input_layernorm.weight": norm,
            "post_attention_layernorm.weight": norm,
            "mlp.gate_proj.weight": matrix(shape.mlp),
            "mlp.up_proj.weight": matrix(shape.mlp),
            "mlp.down_proj.weight": matrix(width, shape.mlp),
        }
        attention = {
            "self_attn.q_proj.weight": matrix(2 * queries),
            "self_attn.k_proj.weight": matrix(kv),
            "self_attn.v_proj.weight": matrix(kv),
            "self_attn.o_proj.weight": matrix(width, queries),
            "self_attn.q_norm.weight": vector(256),
            "self_attn.k_norm.weight": vector(256),
        }
        delta = {
            "linear_attn.in_proj_qkv.weight": matrix(channels),
            "linear_attn.in_proj_z.weight": matrix(values),
            "linear_attn.in_proj_b.weight": matrix(shape.value_heads),
            "linear_attn.in_proj_a.weight": matrix(shape.value_heads),
            "linear_attn.out_proj.weight": matrix(width, values),
            "linear_attn.conv1d.weight": vector(channels, 1, 4),
            "linear_attn.norm.weight": vector(128),
            "linear_attn.A_log": vector(shape.value_heads),
            "linear_attn.dt_bias": vector(shape.value_heads),
        }
    weights = {"model.embed_tokens.weight": embedding, "model.norm.weight": norm}
    for number in range(shape.layers):
        parts = feed | (delta if (number + 1) % 4 else attention)
        weights |= {f"model.layers.{number}.{name}": weight for name, weight in parts.items()}
    config = dict(
        vocab_size=shape.vocabulary,
        hidden_size=width,
        intermediate_size=shape.mlp,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        head_dim=256,
        linear_num_key_heads=shape.key_heads,
        linear_num_value_heads=shape.value_heads,
        full_attention_interval=4,
        max_position_embeddings=8192,
        rms_norm_eps=1e-6,
        rope_parameters=dict(rope_type="default", rope_theta=1e7, partial_rotary_factor=0.25),
        tie_word_embeddings=True,
    )
    return Checkpoint(path, "random", "qwen3_5_text", config, weights, TokenizerFolder(folder), Generation())


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

    dtype = choose_dtype("auto", "cpu", file.architecture)
    prepare(file, dtype)
    return load_model(file, dtype, "cpu", no_progress, context)


def table(found: list[PassTimes]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield "| engine | rows | pass, ms | rows/s |"
    yield "|---|---:|---:|---:|"
    for each in found:
        what = f"{each.rows}, a text" if each.text else f"{each.rows}"
        yield f"| {each.engine} | {what} | {milliseconds(each.s)} | {each.rows / each.s.s:.4g} |"
