"""The layers and the output head of EAGLE-3 and P-EAGLE as compiled programs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.compiled import steps
from engine.compiled.instructions import LANES
from engine.compiled.layout import BLOCK
from engine.compiled.matrix import TiledMatrix, aligned
from engine.compiled.pool import ComputePool
from engine.compiled.program import CompiledPass, DecoderShape, Layer
from engine.compiled.seen import Seen
from engine.compiled.table import Floats, address, room
from engine.planner.run_rows import RUN_ROWS


@dataclass(frozen=True, slots=True)
class EagleWeights:
    """The weights of an EAGLE-3 or P-EAGLE head. fuse: from three states of the target to one. layers: the
    input of the first is the norm of an embedding (its `attention_norm`) beside that of a state
    (`state_norm`). normed: whether the first adds its results to that norm, in place of the state."""

    fuse: TiledMatrix
    layers: Sequence[Layer]
    state_norm: Floats
    last_norm: Floats
    head: TiledMatrix
    normed: bool


class CompiledEagle:
    """Three programs: from the target's states to one state, from states to the next states, and from those
    to logits. Each takes at most RUN_ROWS rows.

    Attributes: `rows`, RUN_ROWS; `embeddings` and `states`, float32 [rows, width], the input of `guess`;
    `bind`, as `CompiledPass.bind`.
    """

    def __init__(self, shape: DecoderShape, weights: EagleWeights, pool: ComputePool) -> None:
        matrices = [matrix for layer in weights.layers for matrix in layer.matrices]
        self._pass = one = CompiledPass(shape, [weights.fuse, weights.head, *matrices], pool)
        self.rows, self.states, self.bind = one.rows, one.states, one.bind
        self.embeddings = room(RUN_ROWS, shape.width)
        width, program, state = shape.width, one.program, address(one.state)
        self._vocabulary = weights.head.shape[0]
        self._guessed = aligned(8).view(np.int64)  # where guessed states are copied to
        self._logits = room(RUN_ROWS, weights.head.tiles * LANES)
        self._three = room(RUN_ROWS, weights.fuse.shape[1])
        self._fused = room(RUN_ROWS, width)

        first, *others = weights.layers
        both = one.records(2 * width, first.qkv)
        blocks = width // BLOCK
        one.add_norm(first.attention_norm, both, source=self.embeddings, adds=False, blocks=(0, 2 * blocks))
        replaced = aligned(8).view(np.int64)  # the states that their norms are copied to, or 0
        replaced[0] = address(one.states) if weights.normed else 0
        of_states = (blocks, 2 * blocks)
        one.add_norm(weights.state_norm, both, adds=False, copies=(None, replaced), blocks=of_states)
        one.add_layer(first, both, 2 * width)
        for layer in others:
            into_layer = one.records(width, layer.inputs)
            one.add_norm(layer.attention_norm, into_layer)
            one.add_layer(layer, into_layer, width)
        after = one.records(width, [weights.head])
        one.add_norm(weights.last_norm, after, copies=(self._guessed, None))
        self._guess = program.table()
        one.add_norm(weights.last_norm, after, adds=False)
        one.add_product(after, width, [weights.head], self._logits)
        self._choose = program.table()[len(self._guess) :].copy()
        before = one.records(weights.fuse.shape[1], [weights.fuse])
        program.add(steps.record_step, state, address(self._three), self._three.shape[1], *before.addresses)
        one.add_product(before, self._three.shape[1], [weights.fuse], self._fused, only_asked=True)
        self._fuse = program.table()[len(self._guess) + len(self._choose) :].copy()
        program.kept += [weights, before]

    def fuse(self, states: Floats) -> Floats:
        """Return one state for each row of the target's three states: float32 [rows, three states] -> [rows,
        width]."""
        fused = np.empty((len(states), self.states.shape[1]), np.float32)
        for start in range(0, len(states), RUN_ROWS):
            piece = states[start : start + RUN_ROWS]
            self._three[: len(piece)] = piece
            self._pass.begin_apart(len(piece))
            self._pass.run(self._fuse)
            fused[start : start + len(piece)] = self._fused[: len(piece)]
        return fused

    def guess(self, rows: int, seen: Seen, rotary: Floats) -> Floats:
        """Return the guessed next states, float32 [rows, width]."""
        guessed = np.empty((rows, self.states.shape[1]), np.float32)
        self._pass.begin(rows, seen, rotary, range(rows))
        self._guessed[0] = address(guessed)
        self._pass.run(self._guess)
        return guessed

    def logits(self, states: Floats) -> Floats:
        """Return the logits, float32 [rows, vocabulary of the head], of at most RUN_ROWS guessed states,
        float32 [rows, width]; they are valid until the next call."""
        rows = len(states)
        self.states[:rows] = states
        self._pass.begin_apart(rows)
        self._pass.run(self._choose)
        return self._logits[:rows, : self._vocabulary]
