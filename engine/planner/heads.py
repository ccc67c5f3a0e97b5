"""What heads take beside a target: EAGLE heads, block drafters, assistants, and the layer for drafts that
comes with a model. `engine.heads.outline` reads those in folders, `planner.outline` the target's own layer.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from engine.checkpoints.cuts import PIECE
from engine.planner.launches import numbers_in_a_layer
from engine.planner.run_rows import HEAD_ROWS, RUN_ROWS

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class HeadsOutline:
    """The sizes of heads.

    In bytes: `stored`: their weights that torch leaves as they are stored; `tiles`: all of their weights as
    compiled passes have them, None if torch runs them beside those, too.
    In numbers: `weights`: all of them; `unpacked`: those that torch unpacks at loading; `kv_row`: what they
    keep of one token; `read`: what they read of the target's states at one token; `width`: one row between
    their layers; `widest`: the widest row within a layer; `logits`: those that they compute at one row.
    In tokens: `masks`: those behind a text for which they also keep rows; `rows`: those of one run in
    compiled passes.
    `shares_head`: whether they multiply by the target's output head, which then stays in memory; `is_layer`:
    whether they are the layer for drafts that comes with the target.
    """

    stored: int
    unpacked: int
    kv_row: int
    tiles: int | None = None
    weights: int = 0
    read: int = 0
    width: int = 0
    widest: int = 0
    logits: int = 0
    masks: int = 0
    rows: int = RUN_ROWS
    shares_head: bool = False
    is_layer: bool = False

    def nbytes(self, context: int, itemsize: int) -> int:
        """Return the bytes of memory that weights and rows take with so many tokens where torch runs them.
        itemsize: bytes of a number in products."""
        return self.stored + (self.unpacked + self._slots(context) * self.kv_row) * itemsize

    def nbytes_beside_compiled(self, context: int) -> int:
        """Return the same beside a target of compiled passes: as these have them, with keys and values of 16
        bits, or else through torch in float32."""
        if self.tiles is None:
            return self.nbytes(context, 4)
        return self.tiles + self._slots(context) * self.kv_row * 2

    def states_nbytes(self, context: int, itemsize: int) -> int:
        """Return the bytes of the states of a prompt that fills the context: the target's, and what the heads
        make of them. itemsize: bytes of a number between products."""
        return context * (self.read + self.width) * itemsize

    def pass_nbytes(self, context: int, itemsize: int, halves: bool = False) -> int:
        """Return the bytes of what one run through torch computes, besides. itemsize: as for `states_nbytes`;
        halves: as in `planner.machines.Compute`."""
        rows, numbers = min(HEAD_ROWS, context), numbers_in_a_layer(self.width, self.widest, halves)
        piece = PIECE * (itemsize // 2 if halves else itemsize) if self.stored else 0
        return rows * numbers * itemsize + piece

    @property
    def rooms_nbytes(self) -> int:
        """Bytes of the memory that compiled passes share among their steps."""
        numbers = numbers_in_a_layer(self.width, self.widest, halves=False)
        return 4 * self.rows * (numbers + self.read + self.logits)

    def _slots(self, context: int) -> int:
        return context + self.masks + (1 if self.kv_row else 0)  # and a spare one


def shapes_outline(
    shapes: Shapes,
    *,
    tiles: int | None,
    read: int,
    width: int,
    logits: int,
    masks: int = 0,
    rows: int = RUN_ROWS,
    shares_head: bool = False,
) -> HeadsOutline:
    """Return the outline of heads in plain numbers, which torch unpacks. shapes: of the tensors by which they
    multiply, named as in EAGLE's files; the others as in `HeadsOutline`."""
    count = sum(map(math.prod, shapes.values()))
    return HeadsOutline(
        stored=0,
        unpacked=count,
        weights=count,
        kv_row=2 * sum(shape[0] for name, shape in shapes.items() if name.endswith(".k_proj.weight")),
        tiles=tiles,
        read=read,
        width=width,
        widest=max((shape[0] for name, shape in shapes.items() if name.endswith("_proj.weight")), default=0),
        logits=logits,
        masks=masks,
        rows=rows,
        shares_head=shares_head,
    )
