"""Search for the best plan for a pair on a machine.

Every plan that is possible on a smaller machine is also possible on a larger one, and the best is chosen, so
more memory or bandwidth never gives a slower prediction.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from engine.planner.candidate import CUDA_VRAM, Candidate, compute_of
from engine.planner.corrections import Correction
from engine.planner.layer_placement import LayerPlacement
from engine.planner.lent_share import ROWS, Helper
from engine.planner.machines import GIB, MachineProfile
from engine.planner.outline import Outline
from engine.planner.pairs import PairOutline
from engine.planner.plan import Asked, Device, ExpertPlan, Fit, HeadsKind, Names, OtherWay, Plan, Tiers
from engine.planner.prediction import (
    PredictedIteration,
    Stream,
    growth,
    iteration,
    launching_s,
    misses,
    pass_s,
    stream,
)
from engine.planner.shared_experts import shared_misses
from engine.planner.shared_target import SharedTarget
from engine.planner.tiers import SLOTS

BUDGETS: tuple[int, ...] = tuple(2**n - 1 for n in range(1, 11))  # with the root 2^n rows
PROMPT = 1000  # tokens, for the predicted time to the first token
LEAST_CONTEXT = 512  # tokens; fewer do not suffice for a chat

UNSTEADY_RAM = 1 << 25  # bytes by which the free memory may differ at the next start

Corrections = Callable[[Device], Correction]


def uncorrected(device: Device) -> Correction:
    return Correction()


def plan_for(
    machine: MachineProfile, pair: PairOutline, asked: Asked, corrections: Corrections = uncorrected
) -> Plan:
    """Return the fastest plan; if the pair does not fit, a plan that says what is missing. corrections: a
    function that returns, for a device, what past answers of this pair have taught."""
    alone = _fastest(machine, pair, replace(asked, helper=None), corrections)
    helped = _fastest(machine, pair, asked, corrections) if asked.helper else None
    if alone is None:
        return _refusal(machine, pair, asked)
    return alone if helped is None else _with_or_without_help(helped, alone)


def _with_or_without_help(helped: Plan, alone: Plan) -> Plan:
    """Return the faster plan of both. With help, trees have few rows; without it, they may be larger."""

    def speed(plan: Plan) -> float:
        return plan.predicted_tokens_per_second or 0.0

    best, other = (alone, helped) if speed(alone) > speed(helped) else (helped, alone)
    return replace(best, other_way=OtherWay(other.device, other.budget, other.predicted_tokens_per_second))


def _fastest(
    machine: MachineProfile, pair: PairOutline, asked: Asked, corrections: Corrections
) -> Plan | None:
    """Return the fastest plan, or None if there is none. If the processor may help, only plans in which it
    does count: those where it pays, with trees of no more rows than it helps with."""
    best: Plan | None = None
    for candidate in candidates(machine, pair, asked):
        if asked.helper and candidate.budget >= ROWS and asked.budget is None:
            continue
        placement = candidate.placement()
        if placement is None:
            continue
        correction = corrections(candidate.device)
        predicted = predict(candidate, placement, correction)
        if asked.helper and not predicted.helped:
            continue
        speed = predicted.tokens_per_second * correction.choosing
        if best is None or speed > (best.predicted_tokens_per_second or 0.0):
            best = _plan(candidate, placement, predicted, speed, correction)
    return best


def candidates(machine: MachineProfile, pair: PairOutline, asked: Asked) -> Iterator[Candidate]:
    devices: list[Device] = ["cuda", "cpu"] if machine.card else ["cpu"]
    for device in devices:
        if asked.device not in (None, device) or (device == "cuda" and pair.shared):
            continue
        for budget in BUDGETS if asked.budget is None else [asked.budget]:
            of_draft = (True, False) if asked.unpacked is None else (asked.unpacked,)
            of_target = (False,) if asked.unpacked is False else (True, False)
            for draft_unpacked in _forms(machine, device, pair.draft, of_draft):
                for target_unpacked in _forms(machine, device, pair.target, of_target):
                    yield Candidate(pair, machine, asked, device, budget, target_unpacked, draft_unpacked)


def _forms(
    machine: MachineProfile, device: Device, model: Outline | None, choices: tuple[bool, ...]
) -> tuple[bool, ...]:
    """Return whether a model may be unpacked, among `choices`."""
    if model is None or not compute_of(machine, device, model).unpacks:
        return (False,)
    return choices


def predict(
    candidate: Candidate, placement: LayerPlacement, correction: Correction, missing: bool = True
) -> PredictedIteration:
    """Predict one iteration with the candidate's budget. missing: whether the cache of experts lacks
    some of those that are chosen."""
    pair, budget = candidate.pair, candidate.budget
    tokens = replace(pair.acceptance, gain=pair.acceptance.gain * correction.acceptance).tokens(budget)
    draft_s = 0.0
    if (growing := pair.growing) and budget:
        compute = candidate.compute(growing)
        draft_s = growth(growing, budget, tokens, compute, candidate.growing_unpacked).s
    target = pair.target
    compute = candidate.compute(target)
    computing_s = pass_s(target, 1 + budget, compute, candidate.target_unpacked)
    if target.packed or not compute.unpacks:
        passing = placement.streamed * target.touched(1 + budget)
        if placement.cache:
            passing = target.missed(1 + budget, placement.cache / target.experts) if missing else 0.0
        computing_s += passing * compute.moving * (1.0 if compute.unpacks else target.packing)
    launched_s = launching_s(target, placement, 1 + budget, compute, candidate.target_unpacked)
    streaming, share = moving(candidate, placement, 1 + budget), 0.0
    if placement.cache and not missing:
        streaming = Stream(0.0, 0.0, 0.0)
    if helped := shared(candidate, placement):
        most = helped.share()
        share = helped.lent(most) / placement.streamed
        if share and 1 + budget <= ROWS:
            computing_s = helped.computing_s(1 + budget, most)
            launched_s = helped.launching_s(1 + budget, most)
            streaming = helped.streaming(1 + budget, most)
    elif placement.cache and missing and (beside := _beside(candidate, experts=True)):
        streaming, share = shared_misses(target, placement, streaming, beside, 1 + budget)
        missed = target.missed(1 + budget, placement.cache / target.experts, cautious=True)
        near = share * missed / (target.experts * (1 - (1 - target.chosen) ** (1 + budget)))
        launched_s = launching_s(target, placement, 1 + budget, compute, candidate.target_unpacked, near)
    predicted = iteration(tokens, draft_s * correction.drafting, computing_s, streaming, launched_s)
    return replace(predicted, target_s=predicted.target_s * correction.verifying, helped=share)


def shared(candidate: Candidate, placement: LayerPlacement) -> SharedTarget | None:
    """Return the target as card and processor share what is streamed; None if the processor may not help with
    that."""
    beside, target = _beside(candidate, experts=False), candidate.pair.target
    if beside is None or not placement.ram or not placement.ring:
        return None
    return SharedTarget(target, placement, candidate.machine, candidate.compute(target), beside)


def _beside(candidate: Candidate, experts: bool) -> Helper | None:
    """Return the processor beside the card; None if it may not help. experts: whether with experts that the
    card lacks, or with other weights."""
    helper = candidate.asked.helper
    if helper is None or candidate.device != "cuda" or (helper.experts_only and not experts):
        return None
    return Helper.beside(helper.compute, candidate.machine.link)


def moving(candidate: Candidate, placement: LayerPlacement, rows: int) -> Stream:
    """Return the seconds that a pass over `rows` rows takes to move what is not on the device."""
    target, machine = candidate.pair.target, candidate.machine
    if placement.cache:
        packing_s = candidate.compute(target).packing_s * target.packing
        return misses(target, placement, machine, rows, candidate.device == "cuda", packing_s)
    return stream(placement, machine, candidate.device == "cuda", target.touched(rows))


def _plan(
    candidate: Candidate,
    placement: LayerPlacement,
    predicted: PredictedIteration,
    speed: float,
    correction: Correction,
) -> Plan:
    pair, on_card = candidate.pair, candidate.device == "cuda"
    limit, free = candidate.device_limit_nbytes, candidate.free_nbytes
    if limit is not None or not placement.whole:
        limit = free if limit is None else min(limit, free)
    ram_limit_nbytes = placement.ram + placement.staging if placement.ssd else None
    on_device = candidate.device_nbytes(placement)
    if on_card:
        in_ram = placement.ram + placement.staging + candidate.ram_beside_card
        memory = Tiers(on_device + CUDA_VRAM, in_ram, placement.ssd)
    else:
        memory = Tiers(0, on_device + candidate.process_ram, placement.ssd)
    device, ram, ssd = (placement.layers.count(tier) for tier in ("device", "ram", "ssd"))
    return Plan(
        pair=_names(pair),
        fit=_fit(placement, on_card),
        device=candidate.device,
        context=candidate.asked.context,
        vram_limit_nbytes=limit if on_card else None,
        ram_limit_nbytes=ram_limit_nbytes if on_card else limit,
        target_unpacked=candidate.target_unpacked,
        draft_unpacked=candidate.draft_unpacked,
        heads=_heads(pair),
        substitutes=_substitutes(pair),
        budget=candidate.budget,
        predicted_tokens_per_second=speed,
        predicted_tokens_per_pass=predicted.tokens,
        time_to_first_token_s=_first_token_s(candidate, placement, correction),
        seconds_per_pass=predicted.tokens / speed,
        draft_s=predicted.draft_s,
        limited_by=predicted.limited_by,
        memory=memory,
        layers=Tiers(device, ram, ssd) if on_card else Tiers(0, device, ssd),
        experts=_experts(pair.target, placement, on_card),
        helped=predicted.helped,
    )


def _experts(target: Outline, placement: LayerPlacement, on_card: bool) -> ExpertPlan | None:
    """Return where a mixture's experts are; None if the target is no mixture, or if its experts are streamed
    with the layers that they belong to."""
    if not target.experts or (placement.streamed and not placement.cache):
        return None
    if not placement.cache:
        return ExpertPlan(target.experts, 0, 0, 1.0, 0)
    share = placement.cache / target.experts
    hits, read = target.hit_rate(share, on_card), int(target.missed(1, share, on_card))
    return ExpertPlan(0, placement.cache, target.experts - placement.cache, hits, read, placement.ram)


def _first_token_s(candidate: Candidate, placement: LayerPlacement, correction: Correction) -> float:
    """Return the seconds until the first token. First the target reads the prompt in one pass, then what
    drafts does."""
    pair, unpacked = candidate.pair, candidate.target_unpacked
    compute = candidate.compute(pair.target)
    computing_s = pass_s(pair.target, PROMPT, compute, unpacked, logits=1)
    launched_s = launching_s(pair.target, placement, PROMPT, compute, unpacked)
    streaming = moving(candidate, placement, PROMPT)
    seconds = max(streaming.s, streaming.card_s(computing_s), launched_s) * correction.verifying
    if growing := pair.growing:
        reading_s = pass_s(growing, PROMPT, candidate.compute(growing), candidate.growing_unpacked, logits=1)
        seconds += reading_s * correction.drafting
    return seconds


def _names(pair: PairOutline) -> Names:
    return Names(pair.target.name, pair.draft.name if pair.draft else None)


def _heads(pair: PairOutline) -> HeadsKind | None:
    if pair.heads is None:
        return None
    return "own layer" if pair.layer else "other"


def _substitutes(pair: PairOutline) -> str | None:
    return pair.substitutes.name if pair.substitutes else None


def _fit(placement: LayerPlacement, on_card: bool) -> Fit:
    if placement.ssd:
        return "with SSD"
    if placement.ram:
        return "VRAM + RAM"
    return "in VRAM" if on_card else "in RAM"


def _refusal(machine: MachineProfile, pair: PairOutline, asked: Asked) -> Plan:
    """Return a plan that does not run and says what is missing on the device that lacks the least."""
    nearest = min(candidates(machine, pair, asked), key=_lacking)
    tier = "VRAM" if nearest.device == "cuda" else "RAM"
    tenths = math.ceil(10 * (_lacking(nearest) + UNSTEADY_RAM) / GIB)
    missing = f"{tenths / 10:.1f} GiB more of {tier}"
    shortest = replace(asked, context=min(LEAST_CONTEXT, asked.context))
    if any(_lacking(candidate) <= 0 for candidate in candidates(machine, pair, shortest)):
        missing += ", or a smaller context"
    if _lacking(nearest) <= 0:
        missing = "a larger limit" if asked.vram_limit_nbytes or asked.ram_limit_nbytes else "more RAM"
    return Plan(
        pair=_names(pair),
        fit="will not run",
        device=nearest.device,
        context=asked.context,
        missing=missing,
        heads=_heads(pair),
        substitutes=_substitutes(pair),
    )


def _lacking(candidate: Candidate) -> int:
    """Return the bytes that the device must have beyond those it has, so that the smallest ring fits."""
    machine = candidate.machine
    needed = candidate.overhead_nbytes + candidate.beside_streamed_nbytes
    needed += SLOTS * candidate.pair.target.piece
    if candidate.device == "cuda":
        return needed - candidate.usable_nbytes
    return machine.with_usable_ram(needed + candidate.process_ram).ram - machine.ram
