"""`specexec plan`: what would run here, or on a machine that is described, and how fast."""

import argparse
import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import msgspec

from engine import catalog, machine, planner
from engine.cli.common import Commands, add_disk_options, with_disk_measured
from engine.errors import BadOption
from engine.planner import Asked, Machine, Plan
from engine.planner.paper import Compared, comparison

GIB = 2**30
DESCRIBING = ("vram", "ram", "link_gbps", "disk_gbps", "machine")


def add(commands: Commands) -> None:
    plan = commands.add_parser(
        "plan",
        help="what would run here, or on a machine that is described, and how fast",
        description="Without --target: what is recommended for the machine. Nothing is loaded or downloaded.",
        allow_abbrev=False,
    )
    plan.set_defaults(run=run)
    plan.add_argument("--json", action="store_true", help="print one JSON object")
    plan.add_argument("--table", action="store_true", help="make the README's tables")
    pair = plan.add_argument_group("the pair")
    pair.add_argument("--target", metavar="ID|PATH")
    pair.add_argument("--draft", metavar="ID|PATH|none", default="auto")
    pair.add_argument("--context", type=count, metavar="N", help="most tokens of prompt and answer together")
    pair.add_argument("--budget", type=count, metavar="N", help="most nodes in a tree; default: the best")
    pair.add_argument(
        "--vram-limit", type=size, metavar="GiB", help="what the target's weights may take on the card"
    )
    pair.add_argument("--ram-limit", type=size, metavar="GiB", help="and in RAM")
    described = plan.add_argument_group("the machine", "What is not described is as it is here.")
    described.add_argument("--machine", metavar="ID", help=f"one of {', '.join(planner.named_machines())}")
    described.add_argument("--vram", type=size_or_none, metavar="GiB", help="of the graphics card; 0: none")
    described.add_argument("--ram", type=size, metavar="GiB")
    described.add_argument("--link-gbps", type=size, metavar="GB/s", help="from RAM to the graphics card")
    described.add_argument("--disk-gbps", type=size, metavar="GB/s")
    add_disk_options(described)


def size(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value


def size_or_none(text: str) -> float:
    return 0.0 if float(text) == 0 else size(text)


def count(text: str) -> int:
    return int(size(str(int(text))))


def run(parsed: argparse.Namespace) -> int:
    if parsed.table:
        return _table(parsed.json)
    there = _machine(parsed)
    history = () if any(vars(parsed)[name] is not None for name in DESCRIBING) else planner.history()
    if parsed.target is None:
        found = planner.recommend(there, catalog.catalog(), history)
        plan, why = found.plan, found.why
    else:
        pair = planner.pair_named(parsed.target, parsed.draft)
        plan = planner.plan_for(there, pair, _asked(parsed, pair.target), planner.learned(history, pair))
        why = None
    if parsed.json:
        print(msgspec.json.encode({**asdict(plan), "why": why, "machine": there}).decode())
    else:
        print("\n".join(_lines(plan, why)))
    return 0


def _asked(parsed: argparse.Namespace, target: planner.Outline) -> Asked:
    if parsed.context is not None and parsed.context > target.context:
        raise BadOption(
            f"The model holds at most {target.context:,} tokens of context.",
            f"Ask for {target.context} or fewer.",
        )
    return Asked(
        parsed.context or planner.asked_for(target).context,
        None if parsed.vram_limit is None else int(parsed.vram_limit * GIB),
        None if parsed.ram_limit is None else int(parsed.ram_limit * GIB),
        parsed.budget,
    )


def _machine(parsed: argparse.Namespace) -> Machine:
    """Raises BadOption, and what probing raises."""
    if parsed.machine is not None:
        named = planner.named_machines()
        if parsed.machine not in named:
            raise BadOption(f"There is no machine {parsed.machine!r}.", f"Known: {', '.join(named)}.")
        base = named[parsed.machine][1]
    else:
        base = _here(parsed)
    usual = planner.usual_card(parsed.vram or 0)
    free = planner.described(parsed.vram or 0, parsed.ram or 1, 1, 1, base.card or usual, base.cpu)
    if parsed.vram is not None:
        base = replace(base, vram=free.vram, card=free.card)
    if parsed.ram is not None:
        base = replace(base, ram=free.ram)
    link = base.link if parsed.link_gbps is None else parsed.link_gbps * 1e9
    disk = base.disk if parsed.disk_gbps is None else parsed.disk_gbps * 1e9
    return replace(base, link=link, disk=disk)


def _here(parsed: argparse.Namespace) -> Machine:
    folder = (parsed.models or catalog.models_folder()).expanduser()
    here = machine.probe(folder)
    torch = machine.installed_torch()
    if torch is None or not (torch.cuda or torch.rocm):
        here = replace(here, gpus=())  # the engine cannot use them
    if parsed.disk_gbps is None or parsed.measure:
        here = with_disk_measured(here, folder, parsed.measure)
    return planner.of_probed(here, planner.cards())


# -- for a person --------------------------------------------------------------------------------------------


def _lines(plan: Plan, why: str | None) -> Iterator[str]:
    yield f"Pair         {_pair(plan)}"
    if not plan.runs:
        yield f"Fit          will not run: {plan.missing} is needed"
    else:
        yield f"Fit          {plan.fit}: {_layers(plan)}"
        yield (
            f"Speed        {plan.predicted_tokens_per_second:.2f} tokens/s, limited by {_limit(plan)}: "
            f"{plan.predicted_tokens_per_pass:.1f} tokens in each {plan.seconds_per_pass:.2f} s "
            f"with a budget of {plan.budget}"
        )
        yield f"First token  {plan.time_to_first_token_s:.1f} s after a prompt of {planner.PROMPT:,} tokens"
        memory = {"VRAM": plan.memory.vram, "RAM": plan.memory.ram, "SSD": plan.memory.ssd}
        yield "Memory       " + ", ".join(f"{tier} {n / GIB:.1f} GiB" for tier, n in memory.items() if n)
    if why is not None:
        yield f"Why          {why}"


def _pair(plan: Plan) -> str:
    return f"{plan.pair.target} with {plan.pair.draft}" if plan.pair.draft else f"{plan.pair.target} alone"


def _layers(plan: Plan) -> str:
    tiers = {"in VRAM": plan.layers.vram, "in RAM": plan.layers.ram, "on the SSD": plan.layers.ssd}
    return ", ".join(f"{number} layers {where}" for where, number in tiers.items() if number)


def _limit(plan: Plan) -> str:
    return {"disk": "the disk", "draft": "the draft"}.get(plan.limited_by or "", plan.limited_by or "")


def _table(as_json: bool) -> int:
    """The README's: machines with what is recommended for them, and the paper's measurements."""
    found = [
        (name, planner.recommend(there, catalog.catalog()))
        for name, there in planner.named_machines().values()
    ]
    compared = list(comparison())
    if as_json:
        rows: list[dict[str, Any]] = [{"machine": name, **asdict(each)} for name, each in found]
        print(msgspec.json.encode({"machines": rows, "published": compared}).decode())
        return 0
    print("| machine | recommended pair | where its layers go | tokens/s | first token, s | limited by |")
    print("|---|---|---|---|---|---|")
    for name, each in found:
        plan = each.plan
        print(
            f"| {name} | {_pair(plan)} | {_layers(plan)} | {plan.predicted_tokens_per_second:.1f} "
            f"| {plan.time_to_first_token_s:.1f} | {_limit(plan)} |"
        )
    print()
    print("| published | budget | tokens per pass | s per pass: published | predicted | this engine |")
    print("|---|---|---|---|---|---|")
    for one in compared:
        print(_compared(one))
    print()
    for said in (one.published for one in compared):
        if said.note:
            print(f"{said.name}: {said.note}")
    print("That engine keeps no layer resident and moves nothing while it drafts; this one keeps what fits.")
    return 0


def _compared(one: Compared) -> str:
    said, ours = one.published, one.ours
    tokens = f"{one.tokens_per_pass:.1f}" + ("" if said.tokens_per_pass else " (predicted)")
    own = f"{ours.seconds_per_pass:.2f}, {ours.layers.vram} layers resident" if ours.runs else "will not run"
    return (
        f"| {said.name}, {said.link_from} | {said.budget} | {tokens} | {one.published_s:.2f} "
        f"| {one.predicted_s:.2f} ({one.ratio - 1:+.0%}) | {own} |"
    )
