"""Plan which chunk is moved to which slot of a ring, across passes. This module itself moves nothing.

Chunks are planned as far ahead as there are slots, in the order in which every pass uses them. Chunks that
are left out are not planned at all.
"""

from collections.abc import Collection


class RingSchedule:
    """The plan of a ring: which chunk is moved in which step. Steps are numbered across passes; step s uses
    slot s % slots. Planned chunks are always moved. The ring's lock guards its schedule.

    Attributes: `step`: the step in use, -1 before the first; `chunks`: the number of the chunk planned for
    each step, from `step` on.
    """

    def __init__(self, count: int, slots: int) -> None:
        """count: number of chunks, which are numbered in the order of use. slots: number of slots of the
        ring."""
        self.step = -1
        self.chunks: dict[int, int] = {}
        self._count = count
        self._slots = slots
        self._end = 0  # the first step that is not planned
        self._next = 0  # the chunk to consider next
        self._left_out: Collection[int] = ()
        self._plan()

    def expects(self, chunk: int) -> bool:
        """Return whether `chunk` is planned for a later step than this one, or is the next chunk to plan."""
        planned = any(self.chunks[step] == chunk for step in range(self.step + 1, self._end))
        return planned or self._following() == chunk

    def advance(self) -> None:
        """Advance to the next step, which frees the slot of this one."""
        self.chunks.pop(self.step, None)
        self.step += 1
        self._plan()

    def restart(self, step: int, chunk: int) -> None:
        """Discard the plan and start a new one, with `chunk` as the chunk of step number `step`."""
        self.step = step - 1
        self.chunks = {step: chunk}
        self._end = step + 1
        self._next = chunk
        self._to_next_chunk()

    def leave_out(self, chunks: Collection[int]) -> None:
        """Plan these chunks no more, until the next call; chunks already planned stay."""
        self._left_out = chunks
        self._plan()

    def _plan(self) -> None:
        while self._end < self.step + self._slots and (chunk := self._following()) is not None:
            self.chunks[self._end] = chunk
            self._end += 1
            self._to_next_chunk()

    def _following(self) -> int | None:
        """Return the next chunk to plan; None if all chunks are left out."""
        if len(self._left_out) == self._count:
            return None
        while self._next in self._left_out:
            self._to_next_chunk()
        return self._next

    def _to_next_chunk(self) -> None:
        self._next = (self._next + 1) % self._count
