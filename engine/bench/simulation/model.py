"""A target in virtual time: the sizes of its matrices, which the engine's own streamer moves, and the seconds
that a described card computes with each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from engine.bench.simulation.card import SimulatedCard, SimulatedDisk
from engine.bench.simulation.clock import VirtualClock
from engine.catalog import CatalogModel, Variant, sizes
from engine.checkpoints import Groups, Span, Weight
from engine.checkpoints.cuts import cut_rows, unpacked_rows
from engine.checkpoints.storage import stored_nbytes
from engine.formats import Format, PlainFormat, format_named
from engine.model.interface import Progress, no_progress
from engine.model.reader import layer_of, order_of_use
from engine.planner import Compute
from engine.planner.launches import HALVED, RESTORED
from engine.planner.tiers import slot_nbytes
from engine.streaming import Bytes, Mover, StoredMatrix, Streamer, WeightLimits

_NAMES = {
    **{name: f"self_attn.{name}_proj" for name in ("q", "k", "v", "o")},
    **{name: f"mlp.{name}_proj" for name in ("gate", "up", "down")},
}


@dataclass(slots=True, eq=False)
class SizedMatrix:
    """A matrix without numbers. Attributes: `name`, of its weight; `layer`, the number of its layer, or ""
    for the head; the others are those of `Packed`."""

    name: str
    shape: tuple[int, int]
    format: Format
    nbytes: int
    mover: Mover | None = None

    @property
    def layer(self) -> str:
        return layer_of(self.name)

    def give(self, parts: Sequence[Bytes]) -> None:
        pass


def catalogued_weights(model: CatalogModel, variant: Variant) -> dict[str, Weight]:
    """Return the matrices that a pass of a model of the catalogue needs, by name, as if they lay one after
    another in one file. The model is no mixture of experts."""
    file, at = Path(variant.id), 0
    weights: dict[str, Weight] = {}

    def add(
        name: str, kind: str, shape: tuple[int, int], parts: Sequence[int], groups: Groups | None
    ) -> None:
        nonlocal at
        spans = []
        for nbytes in parts:
            spans.append(Span(file, at, nbytes, shape, kind))
            at += nbytes
        weights[name] = Weight(shape, kind, tuple(spans), groups=groups)

    for layer in range(model.layers):
        for name, rows, columns in sizes.layer_matrices(model, variant):
            kind, groups = variant.format.upper(), None
            if variant.format == "gguf":
                kind = sizes.storage(model, variant, name, layer, columns)
                parts = [stored_nbytes(kind, (rows, columns))]
            elif variant.bits:
                parts = sizes.grouped_nbytes(variant, rows, columns)
                size = columns if variant.group_size == -1 else variant.group_size
                groups = Groups(variant.bits, size, 0, indexed=variant.format == "gptq")
            else:
                kind, parts = "BF16", [2 * rows * columns]
            add(f"model.layers.{layer}.{_NAMES[name]}.weight", kind, (rows, columns), parts, groups)
    table = model.vocabulary, model.hidden
    kind = sizes.storage(model, variant, "head", 0, model.hidden) if variant.format == "gguf" else "BF16"
    add("lm_head.weight", kind, table, [stored_nbytes(kind, table)], None)
    return weights


def matrices_of(weights: Mapping[str, Weight]) -> dict[str, Weight]:
    """Return those weights of a checkpoint that a pass multiplies by, by name; a tied embedding as the
    head."""
    found = {name: each for name, each in weights.items() if len(each.shape) == 2 and layer_of(name)}
    head = weights.get("lm_head.weight") or weights["model.embed_tokens.weight"]
    return {**found, "lm_head.weight": head}


def stored(weights: Mapping[str, Weight], limits: WeightLimits | None) -> list[StoredMatrix[SizedMatrix]]:
    """Return the matrices in the order of use, cut as the builder of torch models cuts them."""
    found = []
    for name in sorted(weights, key=order_of_use):
        weight = weights[name]
        for piece in [weight] if limits is None else weight.cut(slot_nbytes(limits.device_nbytes)):
            rows, columns = piece.shape
            matrix = SizedMatrix(name, (rows, columns), format_named(piece.format), piece.nbytes)
            found.append(StoredMatrix(matrix, piece.spans))
    return found


def kernels(matrix: SizedMatrix, rows: int, compute: Compute) -> Iterator[float]:
    """Yield the seconds of the kernels that multiply `rows` rows by a matrix, one for each piece that
    is launched, by the arithmetic of `engine.planner.prediction.pass_s`."""
    height, columns = matrix.shape
    if not isinstance(matrix.format, PlainFormat) and rows <= compute.fused_rows:
        flops = compute.flops * compute.fused_share
        yield matrix.nbytes / compute.memory + 2 * height * columns * rows / flops
        return
    for count in cut_rows(height, unpacked_rows(columns)):
        weights = count * columns
        unpacking_s = 0.0 if isinstance(matrix.format, PlainFormat) else weights / compute.unpack
        nbytes = weights * compute.itemsize
        if compute.halves:
            nbytes += rows * (RESTORED * count + HALVED * columns * count // height)
        yield unpacking_s + nbytes / compute.memory + 2 * weights * rows / compute.flops


class SimulatedTarget:
    """A target on a simulated card.

    Attributes: `matrices`, in the order of use; `streamer`, None if everything is resident.
    """

    def __init__(
        self,
        weights: Mapping[str, Weight],
        limits: WeightLimits | None,
        compute: Compute,
        clock: VirtualClock,
        card: SimulatedCard,
        disk: SimulatedDisk,
    ) -> None:
        """weights: as of a checkpoint, by name; limits: None if everything is resident; compute: the card's
        speed. Raises BadOption if a limit is too small."""
        matrices = stored(weights, limits)
        self.matrices = [each.matrix for each in matrices]
        self._compute = compute
        self._clock = clock
        self._card = card
        self.streamer: Streamer | None = None
        if limits is not None:
            files = {span.file: disk for each in matrices for span in each.spans}
            self.streamer = Streamer(matrices, limits, files, card, clock)
            self.streamer.start(lambda done, total: None)

    def run(self, rows: int, progress: Progress = no_progress) -> None:
        """Run one pass over `rows` rows: launch its kernels in the order of use, each chunk's after its
        arrival, and wait until the card has done them."""
        for layer, matrices in groupby(self.matrices, lambda matrix: matrix.layer):
            progress(0, 1)
            if layer:
                self.attend()
            for matrix in matrices:
                self.multiply(matrix, rows)
        self._card.wait(self._card.used())

    def attend(self) -> None:
        """Launch what a layer does besides its products."""
        self._card.compute(self._compute.layer_s)

    def multiply(self, matrix: SizedMatrix, rows: int) -> None:
        """Launch a matrix's products, after its arrival."""
        if matrix.mover is not None:
            matrix.mover.fetch(matrix)
        for seconds in kernels(matrix, rows, self._compute):
            self._clock.sleep(self._compute.launch_s)
            self._card.compute(seconds)

    def close(self) -> None:
        if self.streamer is not None:
            self.streamer.close()
