"""What models of given shapes cost on this machine, against what bounds it, with random weights: a streamed
target's passes and iterations, a resident draft's rounds. And whether the device says what the CPU says."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch

from engine.bench.bounds import copy_speed, in_place, memory_speed, unpack
from engine.bench.made_up import Preset, checkpoint
from engine.bench.same import Sameness, compare
from engine.bench.timing import CONTEXT, Pass, Timed, finish, in_turns, seconds, text_pass, timed
from engine.checkpoints import Checkpoint
from engine.errors import BadOption, ModelNotFound
from engine.loading import load_model, prepare
from engine.model import Model, no_watch
from engine.quantization import packed_in
from engine.sequence import Sequence
from engine.streaming import Limits, Streamer

Say = Callable[[str], None]

PARTS = ("passes", "plain", "round", "iteration", "same")
PACKED = "Q4_K"
DRAFT_CONTEXT = 2048  # tokens the draft's cache holds
BEAMS = 16  # rows of a draft's round, and best tokens taken at each
ROUNDS = 8  # of an iteration
TREE = 65  # rows of an iteration's target pass: the root and a budget of 64


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure. parts: some of PARTS. rows: of each pass."""

    preset: Preset
    parts: tuple[str, ...]
    rows: tuple[int, ...]
    repeats: int
    device: torch.device
    dtype: torch.dtype


@dataclass(frozen=True, slots=True)
class Iteration:
    """ROUNDS rounds of the draft, then a target pass over TREE rows. `bound_s`: max(link, draft + max((B -
    ring) / link, resident target pass))."""

    whole_s: Timed
    draft_s: Timed
    bound_s: float

    @property
    def ratio(self) -> float:
        return self.whole_s.s / self.bound_s


@dataclass(frozen=True, slots=True)
class Streamed:
    """A target of `layers` layers, its matrices stored in `format`, under a limit. `unpack_s`: unpacking what
    is streamed in a pass, and nothing else."""

    format: str
    layers: int
    limit_gib: float
    pass_nbytes: int
    ring_nbytes: int
    link_gb_per_s: float
    unpack_s: Timed
    passes: list[Pass]
    iteration: Iteration | None


@dataclass(frozen=True, slots=True)
class Round:
    """A round of the resident draft, until the best tokens at its rows are known to the host. `launched_s`:
    the same, each kernel launched by itself; `reading_s`: its weights read once from the device's memory."""

    rows: int
    round_s: Timed
    launched_s: Timed
    reading_s: float

    @property
    def ratio(self) -> float:
        return self.round_s.s / self.reading_s


@dataclass(frozen=True, slots=True)
class Report:
    """`device_gb_per_s`: reading and writing the device's memory; `copy_gb_per_s`: copying from pinned memory
    to the device and nothing else, None where the device computes in RAM."""

    device: str
    device_gb_per_s: float
    copy_gb_per_s: float | None
    targets: list[Streamed]
    rounds: list[Round]
    same: Sameness | None


def measure(plan: Plan, say: Say) -> Report:
    """say: told what is being measured. Raises BadOption where nothing would be streamed."""
    preset, parts = plan.preset, set(plan.parts)
    report = Report(plan.device.type, memory_speed(plan.device), copy_speed(plan.device), [], [], None)
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
            for limit in preset.limits_gib:
                report.targets.append(_streamed(plan, target, limit, beside, say))
        if "plain" in parts:
            shape = replace(preset.target, layers=preset.plain_layers)
            limit = preset.limits_gib[0] * shape.layers / preset.target.layers
            stored = "BF16" if plan.dtype == torch.bfloat16 else "F16"
            report.targets.append(_streamed(plan, checkpoint(shape, stored, folder), limit, None, say))
    if "same" in parts:
        say("the embedded model on both devices")
        try:
            return replace(report, same=compare(plan.device))
        except ModelNotFound as error:
            say(f"{error.message} {error.hint}")
    return report


def _load(plan: Plan, file: Checkpoint, limits: Limits | None) -> Model:
    prepare(file, plan.dtype)
    return load_model(
        file, plan.dtype, plan.device, no_watch, CONTEXT + max(TREE, *plan.rows), packed=True, limits=limits
    )


def _streamed(plan: Plan, file: Checkpoint, limit: float, draft: Sequence | None, say: Say) -> Streamed:
    stored_as, layers = file.weights["lm_head.weight"].format, file.config["num_hidden_layers"]
    name = f"{layers} layers of {stored_as}, {limit:g} GiB"
    say(f"{name}: loading")
    model = _load(plan, file, Limits(int(limit * 2**30)))
    try:
        if not isinstance(streamer := model.mover, Streamer) or not streamer.pass_nbytes:
            raise BadOption(f"Nothing is streamed: the target fits {limit:g} GiB.", "Give a smaller limit.")
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
            stored_as, layers, limit, streamer.pass_nbytes, streamer.nbytes,
            streamer.pass_nbytes / link_s / 1e9, unpack_s, passes, iteration,
        )  # fmt: skip
    finally:
        model.close()


def _iteration(
    draft: Sequence, target: Callable[[], None], link_s: float, rest_s: float, resident_s: float, repeats: int
) -> Iteration:
    """rest_s: bringing what the ring does not hold already; resident_s: of the target's pass."""
    grow_s: list[float] = []

    def whole() -> None:
        grow_s.append(sum(seconds(lambda: _grow(draft, BEAMS)) for _ in range(ROUNDS)))
        target()

    whole_s = timed(whole, repeats)
    draft_s = Timed(median(grow_s[1:]), min(grow_s[1:]), max(grow_s[1:]))
    return Iteration(whole_s, draft_s, max(link_s, draft_s.s + max(rest_s, resident_s)))


def _round(draft: Sequence, rows: int, reading_s: float, repeats: int) -> Round:
    round_s = timed(lambda: _grow(draft, rows), 4 * repeats)
    graphs, draft.model.graphs = draft.model.graphs, None
    launched_s = timed(lambda: _grow(draft, rows), 4 * repeats)
    draft.model.graphs = graphs
    return Round(rows, round_s, launched_s, reading_s)


def _grow(draft: Sequence, rows: int) -> None:
    """What a drafter does in a round, but for the choice of nodes: `rows` children of the root."""
    draft.rewind(CONTEXT)
    output = draft.consider([2] * rows, [CONTEXT] * rows, torch.eye(rows, dtype=torch.bool))
    output.logits.float().log_softmax(-1).topk(BEAMS).indices.cpu()


def _read_nbytes(model: Model) -> int:
    """Bytes of the matrices that a pass multiplies by."""
    module: Any = model.module
    return sum(matrix.nbytes for part in (module.model.layers, module.lm_head) for matrix in packed_in(part))


def _finished(work: Callable[[], None], device: torch.device) -> Callable[[], None]:
    def run() -> None:
        work()
        finish(device)

    return run


def table(report: Report) -> Iterator[str]:
    """Lines to print."""
    copy = "" if report.copy_gb_per_s is None else f", copying to it {report.copy_gb_per_s:.1f} GB/s"
    yield f"{report.device}: its memory {report.device_gb_per_s:.0f} GB/s{copy}"
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
            f"draft, {round_.rows} rows: {round_.round_s.s * 1e3:.2f} ms a round, launched "
            f"{round_.launched_s.s * 1e3:.2f} ms, reading its weights {round_.reading_s * 1e3:.2f} ms: "
            f"{round_.ratio:.2f} of that"
        )
    if report.same:
        same = report.same
        margin = "" if same.margin is None else f", where the best two lie {same.margin:.1e} apart"
        yield (
            f"embedded model in float32: logits differ by {same.max_difference:.1e} of {same.largest:.0f}, "
            f"{same.equal} of {same.tokens} tokens equal the CPU's{margin}"
        )
