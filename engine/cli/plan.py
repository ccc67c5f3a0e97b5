"""`specexec plan`: predict what would run on this machine or on a described one, and how fast."""

import argparse
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import msgspec

from engine import catalog, machine, planner
from engine.checkpoints import gguf, open_checkpoint
from engine.cli.disk import add_disk_options, with_disk_measured
from engine.cli.emit import add_emit_options, run_emit
from engine.cli.own_draft import about_own_draft
from engine.errors import BadOption, ModelNotFound
from engine.files import named_path
from engine.planner import Asked, MachineProfile, Plan, RatedPlan, Recommendation
from engine.planner.paper import Compared, comparison
from engine.protocol.requests import Helps
from engine.terminal import Commands, add_cache_option, add_command, add_helps_option, say

GIB = 2**30
DESCRIBING = ("vram", "ram", "link_gbps", "disk_gbps", "machine")


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "plan",
        run,
        "predict what would run on a machine, and how fast",
        "Prints where the layers of target and draft would go, and the predicted speed. Without --target, "
        "recommends a pair of models. Nothing is loaded or downloaded.",
    )
    parser.add_argument("--table", action="store_true", help="print the README's tables, as Markdown")
    _add_model_options(parser)
    _add_machine_options(parser)
    add_emit_options(parser)


def _add_model_options(parser: argparse.ArgumentParser) -> None:
    pair = parser.add_argument_group("models")
    pair.add_argument(
        "--target",
        metavar="ID|PATH",
        help="target model: ID of a catalogue model, a GGUF file or a folder (default: the recommended one)",
    )
    pair.add_argument(
        "--draft",
        metavar="ID|PATH|mtp|self|none",
        default="auto",
        help="draft model; mtp: the layer for drafts that comes with the target, whose memory is counted; "
        "self: on the processor, the target itself in fewer bits; none: no draft (default: auto, the draft "
        "that the catalogue pairs with the target if it is installed, or the fastest of its drafts if the "
        "target is not installed, or else the target's layer for drafts if it fits beside the whole target "
        "or promises more)",
    )
    pair.add_argument(
        "--context",
        type=count,
        metavar="N",
        help="maximum number of tokens of prompt and answer together (default: 8192, or fewer if the model "
        "allows no more)",
    )
    pair.add_argument(
        "--budget",
        type=count,
        metavar="N",
        help="maximum number of nodes of a token tree (default: the fastest)",
    )
    pair.add_argument(
        "--vram-limit",
        type=size,
        metavar="GiB",
        help="maximum VRAM for the target's weights, in GiB (default: what fits)",
    )
    pair.add_argument(
        "--ram-limit",
        type=size,
        metavar="GiB",
        help="maximum RAM for the target's weights, in GiB (default: what fits)",
    )
    add_cache_option(pair)
    add_helps_option(pair)


def _add_machine_options(parser: argparse.ArgumentParser) -> None:
    described = parser.add_argument_group("machine", "Describe another machine, wholly or in part.")
    described.add_argument(
        "--machine",
        metavar="ID",
        help=f"a known machine: {', '.join(planner.named_machines())} (default: this one)",
    )
    described.add_argument(
        "--vram",
        type=size_or_none,
        metavar="GiB",
        help="VRAM of the graphics card, in GiB; 0: no graphics card (default: the machine's)",
    )
    described.add_argument("--ram", type=size, metavar="GiB", help="RAM, in GiB (default: the machine's)")
    described.add_argument(
        "--link-gbps",
        type=size,
        metavar="GB/s",
        help="speed from RAM to the graphics card, in GB/s (default: the machine's)",
    )
    described.add_argument(
        "--disk-gbps",
        type=size,
        metavar="GB/s",
        help="read speed of the disk, in GB/s (default: the machine's)",
    )
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
        return _table(parsed.json, parsed.processor_helps)
    there = _machine(parsed)
    if parsed.emit:
        return run_emit(parsed, there)
    is_here = all(vars(parsed)[name] is None for name in DESCRIBING)
    history = planner.history() if is_here else ()
    asked = partial(_asked, parsed, there)
    found = own = None
    if parsed.target is None:
        found = planner.recommend(there, catalog.catalog(), history, parsed.processor_helps)
        plan = found.plan
    else:
        pairs = named_pairs(parsed.target, parsed.draft)
        kept = _kept_shares(parsed.target) if parsed.draft == planner.SELF else {}
        plan, pair = planner.fastest(there, pairs, asked(pairs[0].target), history, kept if is_here else ())
        if parsed.draft == "auto" and plan.streams:
            with suppress(BadOption):  # the target cannot draft for itself
                kept = _kept_shares(parsed.target) if is_here else {}
                own = planner.own_draft(there, pair, asked(pair.target), plan, history, kept)
    if parsed.json:
        chosen = _recommended(found) if found else {"why": None, "own_draft": own}
        say(msgspec.json.encode({**_fields(plan), **_told(plan), **chosen, "machine": there}).decode())
    else:
        say(*_lines(plan), *_about(plan))
        if found is not None:
            say(*_reasons(found))
        if own is not None:
            say(f"Alternative  {about_own_draft(own)}")
    return 0


def named_pairs(target: str, draft: str) -> list[planner.PairOutline]:
    """Return the pairs that the names can mean, as `planner.pairs_named` does, and with the heads or the
    companion that a chat would load; if `draft` is "auto", only where they fit, as in a chat.

    The errors are those of `planner.pairs_named`, and of `open_heads` and `heads_outline` for a folder that
    `draft` names."""
    if not _may_be_heads(target, draft):
        return planner.pairs_named(target, draft)
    from engine.heads import open_heads
    from engine.serving.load import default_draft, own_companion, planned_heads

    file, auto = open_checkpoint(catalog.resolve(target)), draft == "auto"
    if auto:
        name = default_draft(target)
        heads = own_companion(target, file) or (open_heads(catalog.resolve(name)) if name else None)
    else:
        heads = open_heads(catalog.resolve(draft))
    if heads is None:
        return planner.pairs_named(target, draft)
    outline, found = planner.outline_named(target), planned_heads(heads, file, auto)
    return [planner.with_heads(outline, found, optional=auto)]


def _may_be_heads(target: str, draft: str) -> bool:
    """Return whether a draft can be heads in a folder, or is an assistant in a GGUF file, beside a target
    that exists locally."""
    with suppress(ModelNotFound):
        catalog.resolve(target)
        if draft == "auto":
            return bool(catalog.companion_for(target) or catalog.heads_for(target))
        if draft not in (planner.SELF, planner.OWN_LAYER, "none"):
            path = catalog.resolve(draft)
            return path.is_dir() or gguf.is_assistant(path)
    return False


def _kept_shares(target: str) -> Mapping[str, float]:
    """Return the formats in which the disk has substitutes of a target that drafts for itself, each with the
    share of weights that it has. Raises BadOption if it cannot, as loading does."""
    from engine.model.self_draft import check_self_draft
    from engine.model.substitute_files import kept_shares

    try:
        path = catalog.resolve(target)
    except ModelNotFound:  # it is known from the catalogue only
        return {}
    file = open_checkpoint(path)
    check_self_draft(file)
    return kept_shares(file)


def _fields(plan: Plan) -> dict[str, Any]:
    """Return the plan's fields for JSON. Limits have the names of their options, but are in bytes."""
    return {name.removesuffix("_nbytes"): value for name, value in asdict(plan).items()}


def _asked(parsed: argparse.Namespace, there: MachineProfile, target: planner.Outline) -> Asked:
    if parsed.context is not None and parsed.context > target.context:
        raise BadOption(
            f"The model's context is at most {target.context:,} tokens.",
            f"Give --context {target.context} or less.",
        )
    return Asked(
        parsed.context or planner.asked_for(there, target).context,
        None if parsed.vram_limit is None else int(parsed.vram_limit * GIB),
        None if parsed.ram_limit is None else int(parsed.ram_limit * GIB),
        parsed.budget,
        device=None if parsed.kv_cache == "f16" else "cpu",
        cache=parsed.kv_cache.upper(),
        helper=planner.helper_of(there, target, parsed.processor_helps),
    )


def _machine(parsed: argparse.Namespace) -> MachineProfile:
    """Return the machine that the options describe. Raises BadOption if --machine is unknown, and the errors
    from probing this machine."""
    if parsed.machine is not None:
        named = planner.named_machines()
        if parsed.machine not in named:
            raise BadOption(f"Unknown machine {parsed.machine!r}.", f"Choose from: {', '.join(named)}.")
        base = named[parsed.machine][1]
    else:
        base = _here(parsed)
    usual = planner.usual_card(parsed.vram or 0)
    free = planner.described_machine(parsed.vram or 0, parsed.ram or 1, 1, 1, base.card or usual, base.cpu)
    if parsed.vram is not None:
        base = replace(base, vram=free.vram, card=free.card)
    if parsed.ram is not None:
        base = replace(base, ram=free.ram)
    link = base.link if parsed.link_gbps is None else parsed.link_gbps * 1e9
    disk = base.disk if parsed.disk_gbps is None else parsed.disk_gbps * 1e9
    return replace(base, link=link, disk=disk)


def _here(parsed: argparse.Namespace) -> MachineProfile:
    folder = named_path(parsed.models or catalog.models_folder())
    here = machine.probe(folder)
    torch = machine.installed_torch()
    here = replace(here, gpus=torch.cards(here.gpus) if torch else ())  # the engine uses no others
    if parsed.disk_gbps is None or parsed.measure:
        here = with_disk_measured(here, folder, parsed.measure)
    return planner.profile_of(here, planner.cards(torch is None or torch.kernel_problem is None))


# -- text output
# ----------------------------------------------------------------------------------------------


def _lines(plan: Plan) -> Iterator[str]:
    """Yield the plan as text."""
    yield f"Pair         {_pair(plan)}"
    if not plan.runs:
        yield f"Fit          will not run: needs {plan.missing}"
    else:
        yield f"Fit          {plan.fit}: {_layers(plan)}"
        yield (
            f"Speed        {plan.predicted_tokens_per_second:.2f} tokens/s, limited by {_limit(plan)}: "
            f"{plan.predicted_tokens_per_pass:.1f} tokens per pass of {plan.seconds_per_pass:.2f} s "
            f"with a budget of {plan.budget}"
        )
        if plan.other_way is not None:
            yield f"Processor    {_help(plan, plan.other_way)}"
        yield f"First token  {plan.time_to_first_token_s:.1f} s after a prompt of {planner.PROMPT:,} tokens"
        memory = {"VRAM": plan.memory.vram, "RAM": plan.memory.ram, "SSD": plan.memory.ssd}
        if plan.experts is not None:
            yield f"Experts      {_experts(plan.experts)}"
        yield "Memory       " + ", ".join(f"{tier} {n / GIB:.1f} GiB" for tier, n in memory.items() if n)


def _help(plan: Plan, other: planner.OtherWay) -> str:
    """Return what the processor does beside the card, and what the plan that decides otherwise promises."""
    promised = f"at most {other.predicted_tokens_per_second:.2f} tokens/s, with a budget of {other.budget}"
    if plan.helped:
        without = "alone" if other.device == "cpu" else "without its help"
        return f"multiplies by {plan.helped:.0%} of {_lent(plan)} where they lie; {without}, {promised}"
    if plan.device == "cpu":
        return f"is faster alone than beside the card; with the card, {promised}"
    reason = f"a budget of {plan.budget} is faster without its help"
    return f"does not help the card, because {reason}; with it, {promised}"


THOUGHTS = {
    "always": "It thinks before it answers.",
    "optional": "It thinks before it answers, unless it is told not to.",
    "asked": "It thinks before it answers if it is told to.",
}
RUN_HERE = "This project has run its architecture with real weights."
TINY_ONLY = "This project has run its architecture with tiny random models only."


def _about(plan: Plan) -> Iterator[str]:
    """Yield what the catalogue says about the target, if it knows it."""
    model = catalog.model_for(plan.pair.target)
    if model is not None:
        notes = (THOUGHTS.get(model.thinking), RUN_HERE if model.run_here else TINY_ONLY)
        yield f"Model        {' '.join(filter(None, (model.about, *notes)))}"


def _reasons(found: Recommendation) -> Iterator[str]:
    """Yield why the recommended model is, and its alternatives."""
    yield f"Why          {_why(found)}"
    for name, other in (("Larger", found.larger), ("Smaller", found.smaller)):
        if other is not None:
            yield f"{name:12} {_alternative(other)}"


def _why(found: Recommendation) -> str:
    name = catalog.catalog().models[catalog.entries()[found.plan.pair.target].model].name
    match found.reason:
        case "fluent":
            return (
                f"{name} is the largest model for all purposes that reliably begins to answer within "
                f"{planner.PATIENCE_S:.0f} s here, at {planner.READING_SPEED:.0f} tokens/s or more, without "
                "reading from the disk."
            )
        case "mixture":
            why = (
                f"{name} is a mixture of experts: it answers faster here than the largest other model that "
                f"reliably begins within {planner.PATIENCE_S:.0f} s, because each token needs few of its "
                "experts."
            )
            lent = "experts" if found.plan.experts else "streamed weights"
            beside = f" Beside the card, the processor multiplies by {lent} where they lie."
            return why + beside if found.plan.helped else why
        case "fastest":
            return f"{name} is the fastest model for this machine."
        case "none":
            return f"Not even the smallest model runs: it needs {found.plan.missing}."


def _alternative(other: RatedPlan) -> str:
    return (
        f"{_pair(other.plan)}: {other.speed:.1f} tokens/s, first token after "
        f"{other.plan.time_to_first_token_s:.0f} s. {other.model.about}"
    )


def _told(plan: Plan) -> dict[str, Any]:
    """Return for JSON what the catalogue says about the target; nothing if it does not know it."""
    model = catalog.model_for(plan.pair.target)
    return {"about": model.about, "run_with_real_weights": model.run_here} if model else {}


def _recommended(found: Recommendation) -> dict[str, Any]:
    """Return the recommendation's fields for JSON, beside those of its plan."""
    others = {"larger": found.larger, "smaller": found.smaller}
    return {
        "why": _why(found),
        **{
            name: other and {**_fields(other.plan), "about": other.model.about}
            for name, other in others.items()
        },
    }


def _pair(plan: Plan) -> str:
    if plan.heads == "own layer":
        return f"{plan.pair.target} with its own layer for drafts, whose gain is an estimate"
    if plan.heads:
        return f"{plan.pair.target} with its heads or assistant, whose speed is not predicted"
    if plan.substitutes:
        return f"{plan.pair.target} with itself as its draft, streamed matrices in {plan.substitutes}"
    return f"{plan.pair.target} with {plan.pair.draft}" if plan.pair.draft else f"{plan.pair.target} alone"


def _layers(plan: Plan) -> str:
    tiers = {"in VRAM": plan.layers.vram, "in RAM": plan.layers.ram, "on the SSD": plan.layers.ssd}
    return ", ".join(f"{number} layers {where}" for where, number in tiers.items() if number)


def _places(plan: Plan, there: MachineProfile) -> str:
    """Return where the layers are, and what the processor does beside a card, or instead of it."""
    if plan.helped:
        return f"{_layers(plan)}; the processor multiplies by {plan.helped:.0%} of {_lent(plan)}"
    return f"{_layers(plan)}, on the processor" if plan.device == "cpu" and there.card else _layers(plan)


def _lent(plan: Plan) -> str:
    return "the experts that the card lacks" if plan.experts else "the streamed weights"


def _experts(experts: planner.ExpertPlan) -> str:
    if not experts.cached:
        return f"all in memory, {experts.resident / GIB:.1f} GiB"
    others = f"{experts.streamed / GIB:.1f} GiB on the SSD"
    if experts.in_ram:
        others = f"{experts.in_ram / GIB:.1f} GiB in RAM"
        others += ", the others on the SSD" if experts.in_ram < experts.streamed else ""
    return (
        f"{experts.cached / GIB:.1f} GiB cached, {others}: "
        f"{experts.hit_rate:.0%} of a token's experts in the cache, {experts.read / 2**20:.0f} MiB read"
    )


def _limit(plan: Plan) -> str:
    return {"disk": "the disk", "draft": "the draft"}.get(plan.limited_by or "", plan.limited_by or "")


def _table(as_json: bool, helps: Helps) -> int:
    """Print the README's tables: recommendations for known machines, and the paper's measurements."""
    recommended = [
        (name, there, planner.recommend(there, catalog.catalog(), helps=helps))
        for name, there in planner.named_machines().values()
    ]
    compared = list(comparison())
    if as_json:
        rows: list[dict[str, Any]] = [
            {"machine": name, "plan": _fields(each.plan), **_recommended(each)}
            for name, _, each in recommended
        ]
        comparisons = [{**asdict(one), "ours": _fields(one.ours)} for one in compared]
        say(msgspec.json.encode({"machines": rows, "published": comparisons}).decode())
        return 0
    say("| machine | recommended pair | where its layers go | tokens/s | first token, s | limited by |")
    say("|---|---|---|---|---|---|")
    for name, there, each in recommended:
        plan = each.plan
        say(
            f"| {name} | {_pair(plan)} | {_places(plan, there)} | {plan.predicted_tokens_per_second:.1f} "
            f"| {plan.time_to_first_token_s:.1f} | {_limit(plan)} |"
        )
    say("")
    say("| published | budget | tokens per pass | s per pass: published | predicted | this engine |")
    say("|---|---|---|---|---|---|")
    for one in compared:
        say(_compared(one))
    say("")
    for published in (one.published for one in compared):
        if published.note:
            say(f"{published.name}: {published.note}")
    say(
        "The published engine keeps no layer resident and transfers nothing while it drafts; this engine "
        "keeps the layers that fit."
    )
    return 0


def _compared(one: Compared) -> str:
    published, ours = one.published, one.ours
    tokens = f"{one.tokens_per_pass:.1f}" + ("" if published.tokens_per_pass else " (predicted)")
    own = f"{ours.seconds_per_pass:.2f}, {ours.layers.vram} layers resident" if ours.runs else "will not run"
    return (
        f"| {published.name}, {published.link_from} | {published.budget} | {tokens} | {one.published_s:.2f} "
        f"| {one.predicted_s:.2f} ({one.ratio - 1:+.0%}) | {own} |"
    )
