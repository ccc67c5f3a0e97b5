"""A load fitted to this machine: what the planner says of these files here, the next smaller plan where
memory runs out, and what answers teach for the next one. Free of torch."""

import logging
from dataclasses import dataclass, replace
from typing import Literal

from engine import catalog, machine, planner, protocol
from engine.checkpoints import Checkpoint
from engine.errors import OutOfMemory
from engine.planner import Asked, Machine, Pair, Plan

log = logging.getLogger(__name__)

GIB = 2**30
UNPACKED = {"auto": None, "packed": False, "unpacked": True}


@dataclass(slots=True)
class Fitted:
    """A plan, and what it was made of."""

    machine: Machine
    pair: Pair
    asked: Asked
    plan: Plan

    def shrink(self, full: Literal["vram", "ram"]) -> str | None:
        """Go on to the next smaller plan, because that tier is full; says so in a sentence for a person.
        None: there is no smaller one."""
        learned = planner.learned(planner.history(), self.pair)
        found = planner.smaller(self.plan, self.machine, self.pair, self.asked, full, learned)
        if found is None:
            return None
        self.plan, self.machine = found
        where = {"vram": "the graphics card", "ram": "RAM"}[full]
        said = f"Memory ran out on {where}; now {describe(self.plan)}."
        log.warning("%s", said)
        return said

    def learn(self, answer: protocol.Answer) -> None:
        """Keep what the figures of an answer by the drafter that `auto` stands for say of the prediction."""
        if answer.tokens_per_pass is None:
            return
        seconds = answer.seconds
        answered = planner.Answered(
            answer.budgets,
            answer.tokens - 1,
            seconds.draft,
            seconds.target + seconds.stream_wait + seconds.other,
        )
        found = planner.observed(self.machine, self.pair, self.asked, self.plan, answered)
        if found is not None:
            planner.remember(found)


def fit(
    request: protocol.Load,
    target: Checkpoint,
    draft: Checkpoint | None,
    device: Literal["cuda", "cpu"] | None,
    itemsize: int | None,
    context: int,
) -> Fitted:
    """device: to compute on; None: the faster. itemsize: bytes of a number computed with; None: as the device
    likes. context: tokens; fewer where these do not fit and the request leaves it open.

    Raises OutOfMemory where nothing fits; limits that the request names are believed.
    """
    outline = planner.of_checkpoint(target, request.target or target.path.stem)
    drafting = planner.of_checkpoint(draft, draft.path.stem) if draft else None
    pair = planner.pair_of(outline, drafting)
    here = planner.of_probed(machine.probe(catalog.models_folder()), planner.cards())
    if itemsize is not None:
        card = replace(here.card, itemsize=itemsize) if here.card else None
        here = replace(here, card=card, cpu=replace(here.cpu, itemsize=itemsize))
    asked = Asked(
        context,
        None if request.vram_limit is None else int(request.vram_limit * GIB),
        None if request.ram_limit is None else int(request.ram_limit * GIB),
        device=device,
        unpacked=UNPACKED[request.weights],
    )
    learned = planner.learned(planner.history(), pair)
    plan = planner.plan_for(here, pair, asked, learned)
    while not plan.runs and request.context is None and asked.context > planner.LEAST_CONTEXT:
        asked = replace(asked, context=asked.context // 2)
        plan = planner.plan_for(here, pair, asked, learned)
    if not plan.runs and (asked.vram_limit or asked.ram_limit):
        plan = replace(plan, vram_limit=asked.vram_limit, ram_limit=asked.ram_limit)
    elif not plan.runs:
        raise OutOfMemory(
            f"There is not enough free memory for this: {plan.missing} is needed.",
            "Close other programs, or load a smaller model.",
        )
    return Fitted(here, pair, asked, plan)


def describe(plan: Plan) -> str:
    """Where the target's layers are."""
    tiers = {"in VRAM": plan.layers.vram, "in RAM": plan.layers.ram, "on the SSD": plan.layers.ssd}
    layers = ", ".join(f"{number} {where}" for where, number in tiers.items() if number)
    return f"{layers} of its layers, a context of {plan.context:,} tokens"
