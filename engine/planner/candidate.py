"""One way to run a pair on a machine: what it takes in memory, and where the target's layers go."""

from bisect import bisect_right
from dataclasses import dataclass, replace

from engine.checkpoints.cuts import PIECE
from engine.checkpoints.recurrent import SAVEPOINTS, WORKING
from engine.checkpoints.storage import stored_nbytes
from engine.planner.launches import numbers_in_a_layer, recordings_nbytes
from engine.planner.layer_placement import LayerPlacement, place, resident_layers
from engine.planner.machines import GIB, Compute, MachineProfile
from engine.planner.node_records import ahead_records_nbytes, records_nbytes, takes_turns
from engine.planner.outline import Outline
from engine.planner.pairs import PairOutline
from engine.planner.plan import Asked, Device, HelpingProcessor
from engine.planner.run_rows import OWN_ROWS, PROMPT_ROWS, RUN_ROWS, STREAMED_ROWS
from engine.planner.tiers import MAX_SLOT_NBYTES, SLOTS
from engine.protocol.requests import MAX_BUDGET, Helps

# Memory that the process takes besides models: COMPILED_RAM if compiled passes run both models; PROCESS_RAM
# with torch; CUDA_RAM and CUDA_VRAM with CUDA.
COMPILED_RAM = GIB // 2
PROCESS_RAM = 3 * GIB // 4
CUDA_RAM = 3 * GIB // 2
CUDA_VRAM = 5 * GIB // 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to run a pair, whose speed is not known yet."""

    pair: PairOutline
    machine: MachineProfile
    asked: Asked
    device: Device
    budget: int
    target_unpacked: bool
    draft_unpacked: bool

    def compute(self, model: Outline) -> Compute:
        """Return the speed at which the device runs a model of the pair."""
        return compute_of(self.machine, self.device, model)

    @property
    def growing_unpacked(self) -> bool:
        """Whether the weights of what grows trees are unpacked once, at loading."""
        layer = self.pair.layer
        return layer.unpacked > 0 if layer else self.draft_unpacked

    @property
    def process_ram(self) -> int:
        """Bytes of RAM that the process takes besides models, without a graphics card."""
        models = [model for model in (self.pair.target, self.pair.draft) if model]
        compiled = self.machine.compiled is not None and all(model.compiled for model in models)
        heads = self.pair.heads
        compiled = compiled and (heads is None or heads.tiles is not None)
        return COMPILED_RAM if compiled else PROCESS_RAM

    @property
    def apart(self) -> bool:
        """Whether the device has memory of its own, beside RAM."""
        return self.device == "cuda"

    @property
    def usable_nbytes(self) -> int:
        """Bytes on the device available for planning."""
        if self.apart:
            return self.machine.usable_vram - CUDA_VRAM
        return self.machine.usable_ram - self.process_ram

    @property
    def overhead_nbytes(self) -> int:
        """Bytes on the device for everything but the target's weights."""
        target, draft = self.pair.target, self.pair.draft
        taken = 0
        for model in [target, *([draft] if draft else [])]:
            compute = self.compute(model)
            taken += self._cache_nbytes(model)
            if (model.packed or compute.halves) and compute.unpacks:
                taken += PIECE * compute.itemsize
        compute = self.compute(target)
        at_once = PROMPT_ROWS if compute.unpacks else STREAMED_ROWS
        rows = target.pass_rows(at_once, self.asked.context, self.apart)
        in_a_layer = rows * _in_a_layer(target, compute)
        in_a_layer += rows * target.answers if compute.unpacks else 0
        # The logits as they are computed, and as they are processed, in float32.
        logits = (1 + self.budget) * target.vocabulary * 5
        taken += max(in_a_layer, logits) * compute.state_itemsize
        taken += 0 if compute.unpacks else rows * (target.choices + target.uneven)
        if draft:
            taken += loaded_nbytes(draft, self.draft_unpacked, self.compute(draft).itemsize)
            taken += self._draft_rooms_nbytes(draft)
            taken += self._recordings_nbytes(draft)
        taken += self._heads_nbytes
        if self.device == "cpu" and self.machine.compiled:
            taken += draft.tiling if draft and not self.draft_unpacked else 0
        return taken

    @property
    def _heads_nbytes(self) -> int:
        """Bytes on the device for heads: their weights and rows, and what they compute from a prompt."""
        heads, compute, context = self.pair.heads, self.compute(self.pair.target), self.asked.context
        if heads is None:
            return 0
        if compute.unpacks:
            size = compute.state_itemsize
            taken = heads.nbytes(context, compute.itemsize) + heads.states_nbytes(context, size)
            return taken + heads.pass_nbytes(context, size, compute.halves)
        within = heads.pass_nbytes(context, 4) if heads.tiles is None else heads.rooms_nbytes
        return heads.nbytes_beside_compiled(context) + within + heads.states_nbytes(context, 4)

    def _draft_rooms_nbytes(self, draft: Outline) -> int:
        """Return the bytes that a draft's compiled passes have for themselves, whether they run or not."""
        if self.compute(draft).unpacks:
            return 0
        rows = STREAMED_ROWS if draft.experts else RUN_ROWS
        return rows * (4 * _in_a_layer(draft, self.compute(draft)) + draft.choices + draft.uneven)

    @property
    def beside_streamed_nbytes(self) -> int:
        """Bytes on the device that are taken only beside a target that is streamed: a copy of its output
        head, for heads; and for a draft that goes on meanwhile (`--overlap`), what it computes from a prompt,
        and the records of nodes that grow then."""
        target, draft, heads = self.pair.target, self.pair.draft, self.pair.heads
        taken = int(self.expansion * target.head) if heads and heads.shares_head else 0
        if draft and not takes_turns(self.apart, target.states):
            taken += ahead_records_nbytes(draft.state_row, anew=self.compute(draft).unpacks)
        if draft and not self.pair.shared and self.compute(draft).unpacks:
            rows = draft.pass_rows(PROMPT_ROWS, self.asked.context, self.apart)
            compute = self.compute(draft)
            taken += rows * (_in_a_layer(draft, compute) + draft.answers) * compute.state_itemsize
        return taken

    def _recordings_nbytes(self, model: Outline) -> int:
        """Return the bytes of a card that the recorded passes of a model take if all of it is there; 0 if its
        passes are not recorded."""
        if self.device != "cuda" or model.experts or model.states:
            return 0
        heads, compute = self.pair.heads, self.compute(model)
        read = heads.read if heads and model is self.pair.target else 0
        a_row = model.vocabulary, _in_a_layer(model, compute), read
        return recordings_nbytes(self.asked.context, *a_row, compute.state_itemsize)

    @property
    def expansion(self) -> float:
        """How many bytes each stored byte of the target's takes that stays on the device."""
        in_tiles = self.device == "cpu" and self.machine.compiled and not self.target_unpacked
        return self.pair.target.expansion if in_tiles else 1.0

    @property
    def lent(self) -> float:
        """The share of each resident byte of the target's that the draft need not have: it is lent."""
        target, draft = self.pair.target, self.pair.draft
        return draft.multiplied / target.multiplied if draft and self.pair.shared else 0.0

    @property
    def free_nbytes(self) -> int:
        """Bytes on the device for the target's weights."""
        free, target = self.usable_nbytes - self.overhead_nbytes, self.pair.target
        if recorded := self._recordings_nbytes(target):  # if it is there as a whole
            whole = loaded_nbytes(target, self.target_unpacked, self.compute(target).itemsize)
            free = free - recorded if free >= whole + recorded else min(free, whole - 1)
        limit = self.device_limit_nbytes
        if (free if limit is None else min(free, limit)) < self.expansion * target.multiplied:
            free -= self.beside_streamed_nbytes
        if not self.lent or free >= self.expansion * target.nbytes:
            return free
        ring = SLOTS * max(MAX_SLOT_NBYTES, target.piece)  # at most; nothing of it is lent
        return int(max(0.0, free - self.lent * ring) / (1 - self.lent))

    def _cache_nbytes(self, model: Outline) -> int:
        """Return the bytes of a model's KV cache, and of the states of layers that have no rows."""
        context, own = self.asked.context, self.pair.shared
        if own and model is self.pair.draft:  # the rows of the text are the target's
            context = min(context, OWN_ROWS)
        shapes = model.kept(context, self.apart, whole=own)
        kept = sum(self._rows_nbytes(model, *shape) for shape in shapes)
        if not self.apart:
            kept += self._saved_nbytes(model)
        drafts, anew = model is self.pair.draft, self.compute(model).unpacks
        return kept + WORKING * model.states + records_nbytes(model.state_row, self.budget, drafts, anew)

    def _saved_nbytes(self, model: Outline) -> int:
        """Return the bytes of RAM that savepoints take, of states and of rows in layers with a window."""
        states = SAVEPOINTS * model.states
        saved = model.saved(self.asked.context, self.apart)
        return states if self.pair.shared else states + self._rows_nbytes(model, *saved)

    def _rows_nbytes(self, model: Outline, rows: int, numbers: int) -> int:
        """Return the bytes of so many rows of a model's KV cache, each of so many numbers."""
        compute = self.compute(model)
        if compute.unpacks:
            return rows * numbers * compute.itemsize
        return stored_nbytes(self.asked.cache, (rows, numbers))

    @property
    def ram_beside_card(self) -> int:
        """Bytes of RAM that are taken beside a card, without those of the target's weights."""
        models = [model for model in (self.pair.target, self.pair.draft) if model]
        return CUDA_RAM + sum(map(self._saved_nbytes, models))

    def placement(self) -> LayerPlacement | None:
        """Return where the target's layers go; None if the target does not fit."""
        target, asked = self.pair.target, self.asked
        free, in_ram = self.free_nbytes, None
        if self.device == "cuda":
            in_ram = self.machine.usable_ram - self.ram_beside_card
            if in_ram < 0:
                return None
            in_ram = in_ram if asked.ram_limit_nbytes is None else min(in_ram, asked.ram_limit_nbytes)
        if self.target_unpacked:
            nbytes = loaded_nbytes(target, True, self.compute(target).itemsize)
            if nbytes > free or self.device_limit_nbytes is not None:
                return None
            return LayerPlacement(resident_layers(target), nbytes, 0, 0, whole=True)
        limit = self.device_limit_nbytes
        device = free if limit is None else min(free, limit)
        return place(target, int(device / self.expansion), in_ram)

    def device_nbytes(self, placement: LayerPlacement) -> int:
        """Return the bytes on the device that the pair takes, with the target's layers as placed."""
        taken = placement.device + placement.ring + placement.table + self.overhead_nbytes
        taken += placement.packing - int(self.lent * placement.device)
        taken += self.beside_streamed_nbytes if placement.ram or placement.ssd else 0
        taken += self._recordings_nbytes(self.pair.target) if placement.whole else 0
        tiled = placement.device + placement.table + placement.packing
        return taken + int((self.expansion - 1) * tiled)

    def most_budget(self, placement: LayerPlacement) -> int:
        """Return the budget of the largest tree for which there is memory, at least this candidate's."""
        free = self.usable_nbytes - self.device_nbytes(placement)
        most = self.overhead_nbytes + max(0, free)
        larger = range(self.budget + 1, MAX_BUDGET + 1)
        return self.budget + bisect_right(
            larger, most, key=lambda budget: replace(self, budget=budget).overhead_nbytes
        )

    @property
    def device_limit_nbytes(self) -> int | None:
        """The user's limit for the compute device: of VRAM on a card, of RAM on the CPU."""
        return self.asked.vram_limit_nbytes if self.device == "cuda" else self.asked.ram_limit_nbytes


def _in_a_layer(model: Outline, compute: Compute) -> int:
    return numbers_in_a_layer(model.hidden, model.widest, compute.halves)


def compute_of(machine: MachineProfile, device: Device, model: Outline) -> Compute:
    """Return the speed at which a device runs a model."""
    if device == "cuda" and machine.card:
        return machine.card
    return machine.compiled if machine.compiled and model.compiled else machine.cpu


def helper_of(machine: MachineProfile, target: Outline, helps: Helps) -> HelpingProcessor | None:
    """Return the processor if it may multiply by a target's weights beside a card, as in `Asked`. helps: as
    in `Load`."""
    if helps == "never" or machine.compiled is None or (helps == "auto" and not target.experts):
        return None
    return HelpingProcessor(machine.compiled, helps)


def loaded_nbytes(model: Outline, unpacked: bool, itemsize: int) -> int:
    """Return the bytes that a model's weights take in memory."""
    return model.weights * itemsize if unpacked else model.nbytes
