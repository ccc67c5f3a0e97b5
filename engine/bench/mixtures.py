"""`specexec bench mixtures`: times passes of a made-up mixture whose experts are on the device, in RAM or on
the SSD, beside the seconds that a plan's arithmetic expects of them."""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from engine.bench.made_routing import Routing
from engine.bench.options import numbers, one_of, say
from engine.bench.timings import finish, seconds, timed
from engine.errors import BadOption
from engine.planner.expert_times import ExpertTimes
from engine.terminal import Commands, add_command, add_compute_options

if TYPE_CHECKING:
    import torch

    from engine.bench.made_mixtures import MadeMixture
    from engine.bench.noted_loan import NotedLoan
    from engine.checkpoints import Checkpoint
    from engine.model.interface import Device
    from engine.streaming import WeightLimits
    from engine.torch_model.forward import TorchModel

Say = Callable[[str], None]

_SWEEPS = 2  # of all experts, to time the link and the disk


@dataclass(frozen=True, slots=True)
class MixtureHome:
    """Where the experts of a mixture are, and who multiplies by those that the device lacks.

    Attributes: `name`; `limited`: whether the device holds a share of them only; `on_disk`: whether RAM does,
    too; `near`: which of those in RAM the processor multiplies by, beside a card: none, those that the
    engine's rule lends it, or all.
    """

    name: str
    limited: bool = True
    on_disk: bool = False
    near: Literal["none", "lent", "all"] = "none"


RESIDENT = MixtureHome("on the device", limited=False)
IN_RAM = MixtureHome("in RAM, copied")
ON_DISK = MixtureHome("on the SSD, copied", on_disk=True)
ON_CARD = (
    RESIDENT,
    IN_RAM,
    MixtureHome("in RAM, by the processor", near="all"),
    MixtureHome("in RAM, divided", near="lent"),
    ON_DISK,
    MixtureHome("on the SSD, divided", on_disk=True, near="lent"),
)
ON_PROCESSOR = RESIDENT, replace(ON_DISK, name="on the SSD")


@dataclass(frozen=True, slots=True)
class MixturePlan:
    """What to measure. `share`, `in_ram`: of all experts, that the device and that RAM hold at most; `rows`:
    the numbers of rows to time passes with; `passes`, of each number; `before`: rows of the passes before,
    which are not counted."""

    shape: "MadeMixture"
    share: float
    in_ram: float
    rows: tuple[int, ...]
    passes: int
    before: int
    device: "Device"
    dtype: "torch.dtype"

    @property
    def tokens(self) -> int:
        """The longest text that is read."""
        return self.before + self.passes * max(self.rows)


@dataclass(frozen=True, slots=True)
class HomePasses:
    """The passes over `rows` consecutive tokens with experts in `home`.

    `mean_s`, `fastest_s`, `slowest_s`: of a pass; `predicted_s`: the mean to be expected from the passes with
    all experts on the device, the measured speeds, and what was counted; None with all of them there. Of the
    experts that the passes used, by layer: `there`, the share that was on the device or on its way; `near`,
    the one by which the processor multiplied; all others were missed. Bytes per token: `moved_nbytes` to the
    device, `read_nbytes` from the SSD.
    """

    home: str
    rows: int
    mean_s: float
    fastest_s: float
    slowest_s: float
    predicted_s: float | None
    there: float
    near: float
    moved_nbytes: float
    read_nbytes: float

    @property
    def missed(self) -> float:
        return 1 - self.there - self.near

    @property
    def ratio(self) -> float | None:
        return None if self.predicted_s is None else self.mean_s / self.predicted_s


@dataclass(slots=True)
class MixtureReport:
    """All results. `expert_nbytes`: of one expert; `link_s`, `disk_s`: seconds of a byte that is copied to
    the device, and of one that is read from the SSD and copied there; None if that was not measured; `times`:
    of an expert, as the trial at loading measured them beside a card."""

    device: str
    expert_nbytes: int
    passes: list[HomePasses] = field(default_factory=list)
    link_s: float | None = None
    disk_s: float | None = None
    times: ExpertTimes | None = None


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "mixtures",
        run,
        "time passes of a mixture whose experts are on the device, in RAM and on the SSD",
        "Needs no model files: a mixture of random weights is written to the folder for temporary files, "
        "which has to be on the SSD; its tokens choose experts as a made-up routing does, with a skew and an "
        "overlap. Beside each time stands the one that is predicted from the passes with all experts on the "
        "device, the speeds of the link and the SSD measured in the same run, and the experts that were "
        "missed. On the processor, passes run through torch and not as in a chat: there, it only tries the "
        "command.",
    )
    parser.add_argument(
        "--shape",
        metavar="NAME",
        default="qwen3",
        help="qwen3 (layers of Qwen3-30B-A3B, experts in Q4_K), gpt-oss (experts as those of gpt-oss-20b, in "
        "MXFP4) or tiny (default: %(default)s)",
    )
    parser.add_argument(
        "--layers", metavar="N", type=int, help="number of layers (default: those of the shape, 8, 6 or 2)"
    )
    parser.add_argument(
        "--share",
        metavar="S",
        type=float,
        default=0.25,
        help="share of the experts that the device holds (default: %(default)s)",
    )
    parser.add_argument(
        "--in-ram",
        metavar="S",
        type=float,
        default=0.5,
        help="share of the experts that RAM holds where the others are on the SSD (default: %(default)s)",
    )
    parser.add_argument(
        "--rows", metavar="N,…", default="1,8", help="numbers of rows of a pass (default: %(default)s)"
    )
    parser.add_argument(
        "--passes",
        metavar="N",
        type=int,
        default=40,
        help="timed passes of each number of rows (default: %(default)s)",
    )
    parser.add_argument(
        "--before",
        metavar="N",
        type=int,
        default=64,
        help="tokens before these, with which caches are filled (default: %(default)s)",
    )
    add_compute_options(parser)


def run(parsed: argparse.Namespace) -> int:
    from engine.bench.made_mixtures import SHAPES
    from engine.model.devices import choose_device
    from engine.torch_model.loader import choose_dtype

    shape = SHAPES[one_of("shape", parsed.shape, SHAPES)[0]]
    if parsed.layers is not None:
        shape = replace(shape, layers=parsed.layers)
    rows = tuple(numbers("rows", parsed.rows, int))
    device = choose_device(parsed.device)
    plan = MixturePlan(
        *(shape, parsed.share, parsed.in_ram, rows, parsed.passes, parsed.before),
        *(device, choose_dtype(parsed.dtype, device)),
    )
    report = measure(plan, say)
    print(json.dumps(asdict(report)) if parsed.json else "\n".join(table(plan, report)))
    return 0


def _check(plan: MixturePlan) -> None:
    if min(*plan.rows, plan.passes, plan.before, plan.shape.layers) < 1:
        raise BadOption("All numbers must be greater than 0.", "Omit them to use the defaults.")
    if plan.before < max(plan.rows):
        raise BadOption("The passes before the counted ones need a row at least.", "Give a larger --before.")
    if not (0 < plan.share < 1 and 0 < plan.in_ram < 1):
        raise BadOption("A share of the experts lies between 0 and 1.", "Change --share or --in-ram.")
    if plan.tokens >= min(plan.shape.hidden, plan.shape.vocabulary):
        most = min(plan.shape.hidden, plan.shape.vocabulary) - 1
        raise BadOption(
            f"The passes take {plan.tokens} tokens; experts are made up for {most} at most.",
            "Give smaller --passes, --rows or --before.",
        )


def measure(plan: MixturePlan, say: Say) -> MixtureReport:
    """Measure the passes with experts in each home that the device has. Raises BadOption if the plan's
    numbers are out of range."""
    from engine.bench.made_mixtures import made_mixture

    _check(plan)
    shape = plan.shape
    routing = Routing(shape.layers, shape.experts, shape.chosen, passes=plan.tokens)
    with TemporaryDirectory(prefix="specexec-") as folder:
        file = made_mixture(shape, routing, Path(folder))
        report = MixtureReport(plan.device, _expert_nbytes(file))
        for home in ON_PROCESSOR if plan.device == "cpu" else ON_CARD:
            say(f"experts {home.name}: loading")
            model = _load(plan, file, home)
            try:
                _measure_home(plan, model, home, report, say)
            finally:
                model.close()
    return report


def _load(plan: MixturePlan, file: "Checkpoint", home: MixtureHome) -> "TorchModel":
    from engine.model.interface import no_progress
    from engine.torch_model.loader import load_model, prepare

    prepare(file, plan.dtype)
    return load_model(
        file,
        plan.dtype,
        plan.device,
        no_progress,
        plan.tokens,
        packed=True,
        limits=_limits(plan, file, home) if home.limited else None,
        processor_helps="never" if home.near == "none" else "auto",
    )


def _limits(plan: MixturePlan, file: "Checkpoint", home: MixtureHome) -> "WeightLimits":
    """Return the limits under which the device holds the plan's share of the experts, and, if some are on
    the SSD, RAM its own."""
    from engine.machine.disk_reads import SECTOR
    from engine.streaming import WeightLimits

    matrices = {name: weight for name, weight in file.weights.items() if len(weight.shape) == 2}
    del matrices["model.embed_tokens.weight"]  # whose rows stay in the file
    always = sum(each.nbytes + 2 * SECTOR for name, each in matrices.items() if ".experts." not in name)
    count, slot = plan.shape.layers * plan.shape.experts, _expert_nbytes(file) + 2 * SECTOR
    in_ram = int(plan.in_ram * count) * slot if home.on_disk and plan.device != "cpu" else None
    return WeightLimits(always + int(plan.share * count) * slot, in_ram)


def _expert_nbytes(file: "Checkpoint") -> int:
    return sum(weight.nbytes for name, weight in file.weights.items() if "layers.0.mlp.experts.0." in name)


def _measure_home(
    plan: MixturePlan, model: "TorchModel", home: MixtureHome, report: MixtureReport, say: Say
) -> None:
    """Add the passes of a loaded model to the report, and what was measured with it of link, SSD and
    processor."""
    from engine.bench.noted_loan import NotedLoan

    loan = None
    if home.near != "none":
        if model.near_experts is None:
            say(f"experts {home.name}: the processor cannot multiply by them")
            return
        report.times = model.near_experts.loan.times
        model.near_experts.loan = loan = NotedLoan(report.times, takes_all=home.near == "all")
    elif streamer := model.streamer:

        def sweep() -> None:
            streamer.sweep()
            finish(plan.device)

        byte_s = timed(sweep, _SWEEPS).s / streamer.pass_nbytes
        if home.on_disk:
            report.disk_s = byte_s
        else:
            report.link_s = byte_s
    resident = {each.rows: each.mean_s for each in report.passes if each.home == RESIDENT.name}
    for rows in plan.rows:
        say(f"experts {home.name}: {rows} rows")
        report.passes.append(_passes(plan, model, home, rows, resident, loan, report))


def _passes(
    plan: MixturePlan,
    model: "TorchModel",
    home: MixtureHome,
    rows: int,
    resident: Mapping[int, float],
    loan: "NotedLoan | None",
    report: MixtureReport,
) -> HomePasses:
    """Time passes. resident: seconds of a pass with all experts on the device, by number of rows."""
    from engine.model.sequence import Sequence

    text = Sequence(model, plan.tokens)

    def step() -> None:
        begin = len(text.ids)
        text.extend(range(begin, begin + rows))
        finish(plan.device)

    for _ in range(plan.before // rows):
        step()
    counts, moved = model.experts, model.moved
    if loan:
        loan.expected_s = 0.0
    taken = [seconds(step) for _ in range(plan.passes)]
    times = home.name, rows, mean(taken), min(taken), max(taken)
    if counts is None or model.experts is None:
        return HomePasses(*times, None, 1.0, 0.0, 0.0, 0.0)
    done = model.experts - counts
    moved = model.moved - moved
    copying_s = loan.expected_s if loan else moved * (report.link_s or 0.0)
    moving_s = max(copying_s, done.from_disk * (report.disk_s or 0.0)) / plan.passes
    # A card gets what it lacks once routers have chosen; the processor reads it while it computes.
    computing_s = resident[rows]
    predicted_s = max(computing_s, moving_s) if plan.device == "cpu" else computing_s + moving_s
    tokens = plan.passes * rows
    return HomePasses(
        *(*times, predicted_s),
        *((done.hits + done.late) / done.used, done.near / done.used),
        *(moved / tokens, done.from_disk / tokens),
    )


def table(plan: MixturePlan, report: MixtureReport) -> Iterator[str]:
    """Yield the lines to print."""
    shape = plan.shape
    yield (
        f"{report.device}: {shape.layers} layers, {shape.chosen} of {shape.experts} experts in {shape.form}, "
        f"{report.expert_nbytes / 1e6:.3g} MB each; the device holds {plan.share:.0%} of them"
    )
    speeds = {"copied to the device": report.link_s, "read from the SSD": report.disk_s}
    if any(speeds.values()):
        yield ", ".join(f"{name} at {1e-9 / each:.3g} GB/s" for name, each in speeds.items() if each)
    if of := report.times:
        yield (
            f"an expert: copied in {_ms(of.link_s)} ms, multiplied by in RAM in {_ms(of.products_s([1]))} ms "
            f"for one row and {_ms(of.products_s([8]))} for eight; rows and results cross the link in "
            f"{_ms(of.exchange_s)} ms"
        )
    yield (
        f"{'experts':>24} {'rows':>4} {'pass ms':>8} {'spread':>11} {'predicted':>9} {'ratio':>5} "
        f"{'there':>6} {'near':>6} {'missed':>6} {'MB/token':>8} {'of SSD':>6}"
    )
    for each in report.passes:
        predicted = "" if each.predicted_s is None else _ms(each.predicted_s)
        ratio = "" if each.ratio is None else f"{each.ratio:.2f}"
        spread = f"{_ms(each.fastest_s)}–{_ms(each.slowest_s)}"
        yield (
            f"{each.home:>24} {each.rows:>4} {_ms(each.mean_s):>8} {spread:>11} {predicted:>9} {ratio:>5} "
            f"{each.there:>6.1%} {each.near:>6.1%} {each.missed:>6.1%} {each.moved_nbytes / 1e6:>8.3g} "
            f"{each.read_nbytes / 1e6:>6.3g}"
        )


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.0f}" if seconds > 0.1 else f"{1e3 * seconds:.3g}"
