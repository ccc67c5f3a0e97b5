"""`specexec bench shapes`: measures models of given shapes, with random weights: the passes and iterations of
a streamed target, and the rounds of a resident draft. Their times are compared with what bounds them on this
machine. It also checks whether the device computes what the CPU computes."""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.bench.options import add_repeats_option, numbers, one_of, say
from engine.bench.timings import CONTEXT, Pass, Timings, finish, in_turns, seconds, text_pass, timed
from engine.errors import BadOption, ModelNotFound
from engine.terminal import Commands, add_command, add_compute_options

if TYPE_CHECKING:
    import torch

    from engine.bench.device import Sameness
    from engine.bench.random_weights import ShapePreset
    from engine.checkpoints import Checkpoint
    from engine.model.interface import Device, Model
    from engine.model.sequence import Sequence
    from engine.streaming import WeightLimits
    from engine.torch_model.forward import TorchModel

Say = Callable[[str], None]

PARTS = ("passes", "plain", "round", "iteration", "same")
PACKED = "Q4_K"
DRAFT_CONTEXT = 2048  # capacity of the draft's KV cache, in tokens
BEAMS = 16  # number of rows in a draft's round; also the number of best tokens taken at each row
ROUNDS = 8  # rounds per iteration
TREE = 65  # rows of an iteration's target pass: the root and a budget of 64


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "shapes",
        run,
        "measure models of given shapes, with random weights, against their bounds",
        "Needs no model files: speed depends on the shape of a model and not on its weights. Each result is "
        "compared with its bound, the speed of memory or of the link measured in the same run.",
    )
    parser.add_argument(
        "--shape",
        metavar="NAME",
        default="70b",
        help="shape of target and draft: 70b (Llama 3 70B and 8B) or tiny (default: %(default)s)",
    )
    parser.add_argument(
        "--layers", metavar="N", type=int, help="number of layers of the target (default: those of the shape)"
    )
    parser.add_argument(
        "--plain-layers",
        type=int,
        metavar="N",
        help="number of layers of the target of 16-bit weights (default: those of the shape)",
    )
    parser.add_argument(
        "--limits",
        metavar="GiB,…",
        help="limits for the target's weights on the device, in GiB (default: those of the shape)",
    )
    parser.add_argument(
        "--rows",
        metavar="N,…",
        default="1,64,256,1024",
        help="numbers of rows of the timed passes (default: %(default)s)",
    )
    parser.add_argument(
        "--parts",
        metavar="NAME,…",
        help="parts to measure: passes, plain (passes over 16-bit weights), round (of the draft), iteration, "
        "same (the embedded model on the device and on the CPU) (default: all)",
    )
    add_repeats_option(parser, 5)
    add_compute_options(parser)


def run(parsed: argparse.Namespace) -> int:
    from engine.bench.random_weights import PRESETS
    from engine.model.devices import choose_device
    from engine.torch_model.loader import choose_dtype

    parts = one_of("parts", parsed.parts or ",".join(PARTS), PARTS)
    preset = PRESETS[one_of("shape", parsed.shape, PRESETS)[0]]
    rows = tuple(numbers("rows", parsed.rows, int))
    changes: dict[str, Any] = {}
    if parsed.limits:
        changes["limits_gib"] = tuple(numbers("limits", parsed.limits, float))
    if parsed.plain_layers is not None:
        changes["plain_layers"] = parsed.plain_layers
    if parsed.layers is not None:
        changes["target"] = replace(preset.target, layers=parsed.layers)
    preset = replace(preset, **changes)
    if min(parsed.repeats, preset.target.layers, preset.plain_layers, *rows, *preset.limits_gib) <= 0:
        raise BadOption("All numbers must be greater than 0.", "Omit them to use the defaults.")
    device = choose_device(parsed.device)
    plan = ShapesPlan(preset, parts, rows, parsed.repeats, device, choose_dtype(parsed.dtype, device))
    report = measure(plan, say)
    if parsed.json:
        print(json.dumps(asdict(report)))
    else:
        print("\n".join(table(report)))
    return 0


@dataclass(frozen=True, slots=True)
class ShapesPlan:
    """What to measure. `parts`: some of PARTS; `rows`: the numbers of rows to time passes with."""

    preset: "ShapePreset"
    parts: tuple[str, ...]
    rows: tuple[int, ...]
    repeats: int
    device: "Device"
    dtype: "torch.dtype"


@dataclass(frozen=True, slots=True)
class IterationTimes:
    """The times of iterations: ROUNDS rounds of the draft, then a target pass over TREE rows.

    `bound_s` = max(B / link, draft + max((B - ring) / link, resident target pass)). B: bytes streamed per
    pass; ring: bytes of the ring; link: the link's speed in bytes per second; draft, resident target pass:
    the seconds that each takes.
    """

    whole_s: Timings
    draft_s: Timings
    bound_s: float

    @property
    def ratio(self) -> float:
        return self.whole_s.s / self.bound_s


@dataclass(frozen=True, slots=True)
class Streamed:
    """The results for a target of `layers` layers, with matrices stored in `format`, that is streamed under a
    limit of `limit_gib`.

    `pass_nbytes`: bytes streamed per pass. `ring_nbytes`: bytes of the ring. `unpack_s`: time only to unpack
    the weights that a pass streams.
    """

    format: str
    layers: int
    limit_gib: float
    pass_nbytes: int
    ring_nbytes: int
    link_gb_per_s: float
    unpack_s: Timings
    passes: list[Pass]
    iteration: IterationTimes | None


@dataclass(frozen=True, slots=True)
class Round:
    """The times of a round of the resident draft, which ends when the host has the best tokens of all `rows`
    rows.

    `round_s`: time of the round. `launched_s`: its time if every kernel is launched separately. `reading_s`:
    time to read the draft's weights once from the device's memory.
    """

    rows: int
    round_s: Timings
    launched_s: Timings
    reading_s: float

    @property
    def ratio(self) -> float:
        return self.round_s.s / self.reading_s


@dataclass(frozen=True, slots=True)
class ShapesReport:
    """All results of the benchmark. Speeds are in 10^9 bytes per second.

    `device_gb_per_s`: speed of reading and writing the device's memory. `copy_gb_per_s`: speed of copying
    from pinned memory to the device; None if the device computes in RAM. `same`: the comparison with the CPU;
    None if it was not made.
    """

    device: str
    device_gb_per_s: float
    copy_gb_per_s: float | None
    targets: list[Streamed]
    rounds: list[Round]
    same: "Sameness | None"


def measure(plan: ShapesPlan, say: Say) -> ShapesReport:
    """Measure the parts in `plan`. Raises BadOption if a target would not be streamed."""
    import torch

    from engine.bench.device import compare, copy_speed, memory_speed
    from engine.bench.random_weights import checkpoint
    from engine.model.sequence import Sequence

    preset, parts = plan.preset, set(plan.parts)
    report = ShapesReport(plan.device, memory_speed(plan.device), copy_speed(plan.device), [], [], None)
    with TemporaryDirectory(prefix="specexec-") as name:
        folder = Path(name)
        draft = None
        if parts & {"round", "iteration"}:
            say("the draft: loading")
            draft = Sequence(_load(plan, checkpoint(preset.draft, PACKED, folder), None), DRAFT_CONTEXT)
            draft.extend([1] * CONTEXT)
        if draft and "round" in parts:
            say("the draft: rounds")
            reading_s = _read_nbytes(draft.model) / report.device_gb_per_s / 1e9
            report.rounds.extend(_round(draft, rows, reading_s, plan.repeats) for rows in (1, BEAMS))
        if parts & {"passes", "iteration"}:
            target = checkpoint(preset.target, PACKED, folder)
            beside = draft if "iteration" in parts else None
            for limit_gib in preset.limits_gib:
                report.targets.append(_streamed(plan, target, limit_gib, beside, say))
        if "plain" in parts:
            shape = replace(preset.target, layers=preset.plain_layers)
            limit_gib = preset.limits_gib[0] * shape.layers / preset.target.layers
            stored = "BF16" if plan.dtype == torch.bfloat16 else "F16"
            report.targets.append(_streamed(plan, checkpoint(shape, stored, folder), limit_gib, None, say))
    if "same" in parts:
        say("the embedded model on both devices")
        try:
            return replace(report, same=compare(plan.device))
        except ModelNotFound as error:
            say(f"{error.message} {error.hint}")
    return report


def _load(plan: ShapesPlan, file: "Checkpoint", limits: "WeightLimits | None") -> "TorchModel":
    from engine.model.interface import no_progress
    from engine.torch_model.loader import load_model, prepare

    prepare(file, plan.dtype)
    return load_model(
        file,
        plan.dtype,
        plan.device,
        no_progress,
        CONTEXT + max(TREE, *plan.rows),
        packed=True,
        limits=limits,
    )


def _streamed(
    plan: ShapesPlan, file: "Checkpoint", limit_gib: float, draft: "Sequence | None", say: Say
) -> Streamed:
    """Measure passes of the target `file` under a limit of `limit_gib`, and iterations too if there is a
    `draft`."""
    from engine.bench.device import in_place, unpack
    from engine.streaming import WeightLimits

    stored_as, layers = file.weights["lm_head.weight"].format, file.config["num_hidden_layers"]
    name = f"{layers} layers of {stored_as}, {limit_gib:g} GiB"
    say(f"{name}: loading")
    model = _load(plan, file, WeightLimits(int(limit_gib * 2**30)))
    try:
        if not (streamer := model.streamer) or not streamer.pass_nbytes:
            raise BadOption(
                f"Nothing is streamed, because the target fits {limit_gib:g} GiB.", "Give smaller --limits."
            )
        runs = {rows: text_pass(model, rows) for rows in (TREE, *plan.rows)}
        with in_place(model) as moved:
            say(f"{name}: computing")
            unpack_s = timed(lambda: unpack(moved, plan.device), plan.repeats)
            resident = {rows: timed(run, plan.repeats) for rows, run in runs.items()}
        passes = []
        sweep = _finished(streamer.sweep, plan.device)
        for rows in plan.rows:
            say(f"{name}: {rows} rows")
            link, streamed = in_turns(sweep, runs[rows], plan.repeats)
            passes.append(Pass(rows, resident[rows], link, streamed, max(link.s, resident[rows].s)))
        link_s = median(each.link_s.s for each in passes)
        iteration = None
        if draft:
            say(f"{name}: iterations")
            behind_ring_s = link_s * max(0.0, 1 - streamer.nbytes / streamer.pass_nbytes)
            iteration = _iteration(draft, runs[TREE], link_s, behind_ring_s, resident[TREE].s, plan.repeats)
        return Streamed(
            stored_as, layers, limit_gib, streamer.pass_nbytes, streamer.nbytes,
            streamer.pass_nbytes / link_s / 1e9, unpack_s, passes, iteration,
        )  # fmt: skip
    finally:
        model.close()


def _iteration(
    draft: "Sequence",
    target: Callable[[], None],
    link_s: float,
    rest_s: float,
    resident_s: float,
    repeats: int,
) -> IterationTimes:
    """Time iterations.

    target: runs the target's pass. link_s: seconds to transfer all bytes of a pass. rest_s: seconds to
    transfer those that do not fit the ring. resident_s: seconds of the target's pass with resident weights.
    """
    grow_s: list[float] = []

    def whole() -> None:
        grow_s.append(sum(seconds(lambda: _grow(draft, BEAMS)) for _ in range(ROUNDS)))
        target()

    whole_s = timed(whole, repeats)
    draft_s = Timings(median(grow_s[1:]), min(grow_s[1:]), max(grow_s[1:]))
    return IterationTimes(whole_s, draft_s, max(link_s, draft_s.s + max(rest_s, resident_s)))


def _round(draft: "Sequence", rows: int, reading_s: float, repeats: int) -> Round:
    round_s = timed(lambda: _grow(draft, rows), 4 * repeats)
    model: Any = draft.model  # a `TorchModel`
    graphs, model.graphs = model.graphs, None
    launched_s = timed(lambda: _grow(draft, rows), 4 * repeats)
    model.graphs = graphs
    return Round(rows, round_s, launched_s, reading_s)


def _grow(draft: "Sequence", rows: int) -> None:
    """Run a drafter's round over `rows` children of the root, without choosing nodes from its result."""
    from engine.arrays import as_float, log_softmax, on_host, top

    draft.rewind(CONTEXT)
    output = draft.consider([2] * rows, [CONTEXT] * rows, np.eye(rows, dtype=np.bool_))
    on_host(top(log_softmax(as_float(output.logits)), BEAMS)[1])


def _read_nbytes(model: "Model") -> int:
    """Return the number of bytes of the matrices that a pass reads."""
    from engine.quantization import packed_in

    module: Any = model.module  # type: ignore[attr-defined]  # a `TorchModel`
    return sum(matrix.nbytes for part in (module.model.layers, module.lm_head) for matrix in packed_in(part))


def _finished(work: Callable[[], None], device: "Device") -> Callable[[], None]:
    def run() -> None:
        work()
        finish(device)

    return run


def table(report: ShapesReport) -> Iterator[str]:
    """Yield the lines to print."""
    copy = "" if report.copy_gb_per_s is None else f", copying to the device {report.copy_gb_per_s:.1f} GB/s"
    yield f"{report.device}: memory {report.device_gb_per_s:.0f} GB/s{copy}"
    for each in report.targets:
        yield (
            f"{each.layers} layers of {each.format} in {each.limit_gib:g} GiB: "
            f"{each.pass_nbytes / 1e9:.2f} GB streamed at {each.link_gb_per_s:.2f} GB/s, "
            f"ring {each.ring_nbytes / 1e9:.2f} GB, unpacking {each.unpack_s.s:.3f} s"
        )
        yield (
            f"{'rows':>10} {'resident s':>11} {'link s':>9} {'streamed s':>11} {'spread':>13} {'/ bound':>8}"
        )
        for one in each.passes:
            spread = f"{one.streamed_s.fastest_s:.3f}–{one.streamed_s.slowest_s:.3f}"
            yield (
                f"{one.rows:>10} {one.resident_s.s:>11.3f} {one.link_s.s:>9.3f} {one.streamed_s.s:>11.3f}"
                f" {spread:>13} {one.ratio:>8.2f}"
            )
        if each.iteration:
            yield (
                f"{'iteration':>10} {each.iteration.whole_s.s:>43.3f} {'draft':>7}"
                f" {each.iteration.draft_s.s:.3f} {each.iteration.ratio:>8.2f}"
            )
    for round_ in report.rounds:
        yield (
            f"draft, {round_.rows} rows: {round_.round_s.s * 1e3:.2f} ms per round, launched separately "
            f"{round_.launched_s.s * 1e3:.2f} ms, reading the weights {round_.reading_s * 1e3:.2f} ms: "
            f"{round_.ratio:.2f} times that"
        )
    if report.same:
        same = report.same
        margin = "" if same.margin is None else f"; the best two logits then differ by {same.margin:.1e}"
        yield (
            f"embedded model in float32: logits differ by {same.max_difference:.1e}, the largest is "
            f"{same.largest:.0f}; the first {same.equal} of {same.tokens} tokens equal the CPU's{margin}"
        )
