"""The best of all plans for a pair on a machine.

What a smaller machine could do, a larger one could do too, and the best is chosen: so more memory or
bandwidth never predicts slower.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from engine.planner.corrections import Correction
from engine.planner.machines import GIB, RAM_MARGIN, VRAM_MARGIN, Compute, Machine
from engine.planner.outlines import Outline, Pair
from engine.planner.placing import SECTOR, SLOTS, Placement, place, resident_layers
from engine.planner.plan import Asked, Device, Fit, Names, Plan, Tiers
from engine.planner.timing import Iteration, growth_s, iteration, pass_s, stream

BUDGETS: tuple[int, ...] = tuple(2**n for n in range(2, 11))
PROMPT = 1000  # tokens, of the time to the first one
PROMPT_ROWS = 2048  # of a prompt that room is left for
LEAST_CONTEXT = 512  # tokens; nobody can chat in fewer

# What the process takes beside models: torch and its libraries; with CUDA, on both sides.
PROCESS_RAM = 3 * GIB // 4
CUDA_RAM = 3 * GIB // 2
CUDA_VRAM = 5 * GIB // 8
_PIECE = 1 << 24  # numbers unpacked at a time, as in engine.quantization

Corrections = Callable[[Device], Correction]


def uncorrected(device: Device) -> Correction:
    return Correction()


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to run a pair, before its speed is known."""

    pair: Pair
    machine: Machine
    asked: Asked
    device: Device
    budget: int
    target_unpacked: bool
    draft_unpacked: bool

    @property
    def compute(self) -> Compute:
        return self.machine.card if self.device == "cuda" and self.machine.card else self.machine.cpu

    @property
    def room(self) -> int:
        """Bytes on the device that may be planned with."""
        if self.device == "cuda":
            return self.machine.vram_room - CUDA_VRAM
        return self.machine.ram_room - PROCESS_RAM

    @property
    def beside(self) -> int:
        """Bytes on the device that are not the target's weights."""
        models = [self.pair.target, *([self.pair.draft] if self.pair.draft else [])]
        itemsize = self.compute.itemsize
        taken = sum(model.kv_row * self.asked.context * itemsize for model in models)
        taken += sum(_PIECE * itemsize for model in models if model.packed)
        target = self.pair.target
        in_a_layer = min(PROMPT_ROWS, self.asked.context) * (6 * target.hidden + 3 * target.widest)
        logits = (1 + self.budget) * target.vocabulary * 5  # as computed, and processed in float32
        taken += max(in_a_layer, logits) * itemsize
        if self.pair.draft:
            taken += loaded_nbytes(self.pair.draft, self.draft_unpacked, itemsize)
        return taken

    def placement(self) -> Placement | None:
        """None: it does not fit."""
        target, asked = self.pair.target, self.asked
        room, in_ram = self.room - self.beside, None
        if self.device == "cuda":
            in_ram = self.machine.ram_room - CUDA_RAM
            if in_ram < 0:
                return None
            in_ram = in_ram if asked.ram_limit is None else min(in_ram, asked.ram_limit)
        if self.target_unpacked:
            nbytes = loaded_nbytes(target, True, self.compute.itemsize)
            if nbytes > room or self.limit is not None:
                return None
            return Placement(resident_layers(target), nbytes, 0, 0, whole=True)
        return place(target, room if self.limit is None else min(room, self.limit), in_ram)

    @property
    def limit(self) -> int | None:
        return self.asked.vram_limit if self.device == "cuda" else self.asked.ram_limit


def plan_for(machine: Machine, pair: Pair, asked: Asked, corrections: Corrections = uncorrected) -> Plan:
    """The fastest plan; where there is none, one that says what is missing. corrections: what was learned of
    this pair, by device."""
    best: Plan | None = None
    for candidate in candidates(machine, pair, asked):
        placement = candidate.placement()
        if placement is None:
            continue
        correction = corrections(candidate.device)
        predicted = predict(candidate, placement, correction)
        speed = predicted.tokens_per_second * correction.choosing
        if best is None or speed > (best.predicted_tokens_per_second or 0.0):
            best = _plan(candidate, placement, predicted, speed, correction)
    return best or _refusal(machine, pair, asked)


def candidates(machine: Machine, pair: Pair, asked: Asked) -> Iterator[Candidate]:
    forms = (True, False) if asked.unpacked is None else (asked.unpacked,)
    devices: list[Device] = ["cuda", "cpu"] if machine.card else ["cpu"]
    for device in devices:
        if asked.device not in (None, device):
            continue
        for budget in BUDGETS if asked.budget is None else [asked.budget]:
            for draft_unpacked in forms if pair.draft else (False,):
                for target_unpacked in (True, False) if True in forms else (False,):
                    yield Candidate(pair, machine, asked, device, budget, target_unpacked, draft_unpacked)


def predict(candidate: Candidate, placement: Placement, correction: Correction) -> Iteration:
    """Of one iteration with the candidate's budget."""
    pair, compute, budget = candidate.pair, candidate.compute, candidate.budget
    tokens = replace(pair.acceptance, gain=pair.acceptance.gain * correction.acceptance).tokens(budget)
    draft_s = 0.0
    if pair.draft:
        draft_s = growth_s(pair.draft, budget, tokens, compute, candidate.draft_unpacked)
    target = pair.target
    computing_s = pass_s(target, 1 + budget, compute, candidate.target_unpacked)
    if target.packed:
        computing_s += placement.streamed * compute.moving
    streaming = stream(placement, candidate.machine, candidate.device == "cuda", target.touched(1 + budget))
    found = iteration(tokens, draft_s * correction.drafting, computing_s, streaming)
    return replace(found, target_s=found.target_s * correction.verifying)


def loaded_nbytes(model: Outline, unpacked: bool, itemsize: int) -> int:
    """Of its weights in memory."""
    return model.weights * itemsize if unpacked else model.nbytes


def _plan(
    candidate: Candidate, placement: Placement, predicted: Iteration, speed: float, correction: Correction
) -> Plan:
    pair, on_card = candidate.pair, candidate.device == "cuda"
    limit, room = candidate.limit, candidate.room - candidate.beside
    if limit is not None or not placement.whole:
        limit = room if limit is None else min(limit, room)
    ram_limit = placement.ram + placement.staging if placement.ssd else None
    on_device = placement.device + placement.ring + placement.table + candidate.beside
    if on_card:
        memory = Tiers(on_device + CUDA_VRAM, placement.ram + placement.staging + CUDA_RAM, placement.ssd)
    else:
        memory = Tiers(0, on_device + PROCESS_RAM, placement.ssd)
    device, ram, ssd = (placement.layers.count(tier) for tier in ("device", "ram", "ssd"))
    return Plan(
        pair=_names(pair),
        fit=_fit(placement, on_card),
        device=candidate.device,
        context=candidate.asked.context,
        vram_limit=limit if on_card else None,
        ram_limit=ram_limit if on_card else limit,
        target_unpacked=candidate.target_unpacked,
        draft_unpacked=candidate.draft_unpacked,
        budget=candidate.budget,
        predicted_tokens_per_second=speed,
        predicted_tokens_per_pass=predicted.tokens,
        time_to_first_token_s=_first_token_s(candidate, placement, correction),
        seconds_per_pass=predicted.tokens / speed,
        draft_s=predicted.draft_s,
        limited_by=predicted.limited_by,
        memory=memory,
        layers=Tiers(device, ram, ssd) if on_card else Tiers(0, device, ssd),
    )


def _first_token_s(candidate: Candidate, placement: Placement, correction: Correction) -> float:
    """The target reads the prompt in one pass, then the draft."""
    pair, compute = candidate.pair, candidate.compute
    computing_s = pass_s(pair.target, PROMPT, compute, candidate.target_unpacked, logits=1)
    streaming = stream(placement, candidate.machine, candidate.device == "cuda", 1.0)
    seconds = max(streaming.s, computing_s) * correction.verifying
    if pair.draft:
        reading_s = pass_s(pair.draft, PROMPT, compute, candidate.draft_unpacked, logits=1)
        seconds += reading_s * correction.drafting
    return seconds


def _names(pair: Pair) -> Names:
    return Names(pair.target.name, pair.draft.name if pair.draft else None)


def _fit(placement: Placement, on_card: bool) -> Fit:
    if placement.ssd:
        return "with SSD"
    if placement.ram:
        return "VRAM + RAM"
    return "in VRAM" if on_card else "in RAM"


def _refusal(machine: Machine, pair: Pair, asked: Asked) -> Plan:
    """Says what the device that comes nearest lacks."""
    smallest_ring = SLOTS * max(SECTOR, pair.target.uncut)

    def lacking(candidate: Candidate) -> int:
        return candidate.beside + smallest_ring - candidate.room

    nearest = min(candidates(machine, pair, asked), key=lacking)
    tier = "VRAM" if nearest.device == "cuda" else "RAM"
    missing = f"{lacking(nearest) / GIB:.1f} GiB more of {tier}, or a smaller context"
    if lacking(nearest) <= 0:
        missing = "a larger limit" if asked.vram_limit or asked.ram_limit else "more RAM"
    return Plan(_names(pair), "will not run", nearest.device, asked.context, missing)


def smaller(
    plan: Plan,
    machine: Machine,
    pair: Pair,
    asked: Asked,
    full: Literal["vram", "ram"],
    corrections: Corrections = uncorrected,
) -> tuple[Plan, Machine] | None:
    """What to try after `plan` was too large, and the machine as that showed it to be: with an eighth less
    than was planned in the tier that was `full`. Where nothing runs there, half the context. None: nothing is
    left to try."""
    if full == "vram":
        machine = replace(machine, vram=plan.memory.vram * 7 // 8 + VRAM_MARGIN)
    else:
        room = plan.memory.ram * 7 // 8
        machine = replace(machine, ram=max(room + RAM_MARGIN, room * 10 // 9))
    context = plan.context
    while True:
        found = plan_for(machine, pair, replace(asked, context=context), corrections)
        if found.runs:
            return found, machine
        context //= 2
        if context < LEAST_CONTEXT:
            return None
