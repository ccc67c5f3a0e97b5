"""EAGLE-3's layer and output head as compiled programs."""

from dataclasses import dataclass

import numpy as np

from engine.compiled import steps
from engine.compiled.instructions import LANES
from engine.compiled.layout import BLOCK
from engine.compiled.matrix import TiledMatrix, aligned
from engine.compiled.pool import ComputePool
from engine.compiled.program import MOST_ROWS, CompiledPass, DecoderShape, Layer, Seen
from engine.compiled.table import Floats, address, room


@dataclass(frozen=True, slots=True)
class EagleWeights:
    """The weights of an EAGLE-3 head. fuse: from three states of the target to one. layer: its input is the
    norm of an embedding (`layer.attention_norm`) beside that of a state (`state_norm`)."""

    fuse: TiledMatrix
    layer: Layer
    state_norm: Floats
    last_norm: Floats
    head: TiledMatrix


class CompiledEagle:
    """Three programs: from the target's states to one state, from states to the next states, and from those
    to logits. Each takes at most MOST_ROWS rows.

    Attributes: `rows`, MOST_ROWS; `embeddings` and `states`, float32 [rows, width], the input of `guess`;
    `bind`, as `CompiledPass.bind`.
    """

    def __init__(self, shape: DecoderShape, weights: EagleWeights, pool: ComputePool) -> None:
        self._pass = one = CompiledPass(shape, [weights.fuse, weights.head, *weights.layer.matrices], pool)
        self.rows, self.states, self.bind = one.rows, one.states, one.bind
        self.embeddings = room(MOST_ROWS, shape.width)
        width, program, state = shape.width, one.program, address(one.state)
        self._vocabulary = weights.head.shape[0]
        self._guessed = aligned(8).view(np.int64)  # where guessed states are copied to
        self._logits = room(MOST_ROWS, weights.head.tiles * LANES)
        self._three = room(MOST_ROWS, weights.fuse.shape[1])
        self._fused = room(MOST_ROWS, width)

        both = one.records(2 * width, weights.layer.qkv)
        blocks = width // BLOCK
        one.add_norm(
            weights.layer.attention_norm, both, source=self.embeddings, adds=False, blocks=(0, 2 * blocks)
        )
        one.add_norm(weights.state_norm, both, adds=False, blocks=(blocks, 2 * blocks))
        one.add_layer(weights.layer, both, 2 * width)
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
        """Return one state for each row of the target's three states: float32 [rows, 3 width] -> [rows,
        width]."""
        fused = np.empty((len(states), self.states.shape[1]), np.float32)
        for start in range(0, len(states), MOST_ROWS):
            piece = states[start : start + MOST_ROWS]
            self._three[: len(piece)] = piece
            self._start(len(piece))
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
        """Return the logits, float32 [rows, vocabulary of the head], of at most MOST_ROWS guessed states,
        float32 [rows, width]; they are valid until the next call."""
        rows = len(states)
        self.states[:rows] = states
        self._start(rows)
        self._pass.run(self._choose)
        return self._logits[:rows, : self._vocabulary]

    def _start(self, rows: int) -> None:
        self._pass.state[steps.ROWS] = self._pass.state[steps.ASKED] = rows
        self._pass.state[steps.ASKED_FIRST] = 0
        self._pass.program.counters[:] = 0
