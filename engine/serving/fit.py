"""Fits a load to this machine: plans for its files, takes the next smaller plan if memory runs out, and
remembers measurements that correct later plans. Does not import torch."""

import logging
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

import psutil

from engine import catalog, machine, planner, protocol
from engine.checkpoints import Checkpoint
from engine.errors import OutOfMemory
from engine.planner import Asked, HeadsOutline, MachineProfile, PairOutline, Plan, TreePlan

log = logging.getLogger(__name__)

GIB = 2**30
UNPACKED = {"auto": None, "packed": False, "unpacked": True}


@dataclass(slots=True)
class Fitted:
    """A plan and the data it was made from.

    given_up: heads that were left out because memory ran out. has_unfit_heads: whether the plan counts on
    optional heads that were left out when they were loaded, since they do not fit the target. smaller: the
    smaller plan that was last switched to; None if there was none.
    """

    machine: MachineProfile
    pair: PairOutline
    asked: Asked
    plan: Plan
    given_up: HeadsOutline | None = None
    has_unfit_heads: bool = False
    smaller: protocol.SmallerPlan | None = None

    @property
    def remarks(self) -> list[protocol.SmallerPlan | protocol.LittleFreeRam]:
        """The remark about the smaller plan, or else about a limit that was asked for and is not free; empty
        if there is neither."""
        if self.smaller:
            return [self.smaller]
        asked, plan = self.asked.ram_limit_nbytes, self.plan.ram_limit_nbytes
        if asked is None or plan is None or plan >= asked or self.plan.device != "cpu":
            return []
        return [protocol.LittleFreeRam(free_nbytes=plan, limit_nbytes=asked)]

    def trees(self) -> TreePlan | None:
        """Return what the plan says of trees; None if the target does not fit."""
        return planner.tree_plan(self.machine, self.pair, self.asked, self.plan)

    def shrink(self, full: Literal["vram", "ram"]) -> protocol.SmallerPlan | None:
        """Switch to the next smaller plan because the memory of the tier `full` has run out. Return it, or
        None if there is none."""
        heads = self.pair.heads
        smaller = planner.smaller(self.plan, self.machine, self.pair, self.asked, full, planner.history())
        if smaller is None:
            return None
        self.plan, self.pair, self.machine = smaller
        if heads is not None and self.pair.heads is None and not self.has_unfit_heads:
            self.given_up = heads
        layers = self.plan.layers
        self.smaller = protocol.SmallerPlan(
            full=full,
            vram=layers.vram,
            ram=layers.ram,
            ssd=layers.ssd,
            context=self.plan.context,
            without=self._given_up_kind(),
        )
        log.warning("Memory ran out: %s", self.smaller)
        return self.smaller

    def _given_up_kind(self) -> Literal["heads", "own_layer"] | None:
        if self.given_up is None:
            return None
        return "own_layer" if self.given_up.is_layer else "heads"

    def learn(self, answer: planner.Answered) -> None:
        """Store how an answer's speed differs from the prediction. The answer's drafter must be the one that
        `auto` stands for."""
        observation = planner.observed(self.machine, self.pair, self.asked, self.plan, answer)
        if observation is not None:
            planner.remember(observation)


def fit(
    request: protocol.Load,
    target: Checkpoint,
    draft: Checkpoint | None,
    device: Literal["cuda", "cpu"] | None,
    context: int,
    own_formats: Collection[str] | None = None,
    heads: HeadsOutline | None = None,
    optional_heads: bool = False,
) -> Fitted:
    """Plan a load for this machine.

    device: compute device; None: the faster one. context: number of tokens; it is reduced if it does not fit
    and the request leaves the context open. own_formats: if the draft is the target in fewer bits, the
    formats in which the disk has substitutes, as for `planner.fastest`. heads: those beside a target without
    a draft; optional ones never cost context.

    Raises OutOfMemory if no plan fits into free memory. A limit that is too small for any plan is kept:
    streaming says what it needs.
    """
    outline = planner.checkpoint_outline(target, request.target or target.path.stem)
    drafting = planner.checkpoint_outline(draft, draft.path.stem) if draft else None
    if own_formats is not None:
        pairs = planner.self_pairs(outline)
    elif heads is not None:
        pairs = [planner.with_heads(outline, heads, optional=optional_heads)]
    else:
        pairs = [planner.pair_of(outline, drafting)]
    torch = machine.installed_torch()
    cards = planner.cards(torch is None or torch.kernel_problem is None)
    formats = {weight.format for file in (target, draft) if file for weight in file.weights.values()}
    probed = machine.probe(catalog.models_folder())
    if torch and torch.vendor:
        probed = replace(probed, gpus=torch.cards(probed.gpus))
    here = planner.profile_of(probed, cards, formats)
    here = replace(here, ram=here.ram + own_nbytes())
    helper = planner.helper_of(here, outline, request.processor_helps)
    if request.dtype != "auto" or request.weights == "unpacked":
        here = replace(here, compiled=None)
        helper = None if request.processor_helps == "auto" else helper  # it rounds to 8 bits
    if request.dtype != "auto":
        card = planner.computing_in(here.card, request.dtype) if here.card else None
        here = replace(here, card=card, cpu=planner.computing_in(here.cpu, request.dtype))
    asked = Asked(
        context,
        None if request.vram_limit is None else int(request.vram_limit * GIB),
        None if request.ram_limit is None else int(request.ram_limit * GIB),
        device=device,
        unpacked=UNPACKED[request.weights],
        cache=request.kv_cache.upper(),
        helper=helper,
    )
    history, kept = planner.history(), own_formats or ()
    plan, pair = planner.fastest(here, pairs, asked, history, kept)
    while not plan.runs and request.context is None and asked.context > planner.LEAST_CONTEXT:
        asked = replace(asked, context=asked.context // 2)
        plan, pair = planner.fastest(here, pairs, asked, history, kept)
    if not plan.runs:
        free = replace(asked, vram_limit_nbytes=None, ram_limit_nbytes=None)
        if not planner.fastest(here, pairs, free, history)[0].runs:
            raise OutOfMemory(
                f"There is not enough free memory for this model: {plan.missing} is needed.",
                "Close other programs, or load a smaller model.",
            )
        plan = replace(
            plan,
            vram_limit_nbytes=asked.vram_limit_nbytes,
            ram_limit_nbytes=asked.ram_limit_nbytes,
        )
    return Fitted(here, pair, asked, plan)


def own_nbytes() -> int:
    """Return the bytes of memory that this process and its child, which renders templates, have for
    themselves. They are not free, but plans reckon with all that both take. Return 0 if the system does not
    tell."""
    try:
        process = psutil.Process()
        own = sum(map(_private_nbytes, (process, *process.children())))
    except (psutil.Error, OSError, NotImplementedError):
        return 0
    return min(own, planner.COMPILED_RAM)


def _private_nbytes(process: psutil.Process) -> int:
    nbytes: int | None = getattr(process.memory_info(), "private", None)  # on Windows
    return process.memory_full_info().uss if nbytes is None else nbytes
