"""Plan which chunk is moved to which slot of a ring, across passes. This module itself moves nothing.

Chunks that every pass uses are planned as far ahead as there are slots. Chunks of a mixture's experts are
planned only once the mixture has chosen, unless the previous mixture chose nearly all of its experts. Chunks
that are left out are not planned at all.
"""

from collections.abc import Collection, Sequence


class RingSchedule:
    """The plan of a ring: which chunk is moved in which step. Steps are numbered across passes; step s uses
    slot s % slots. Planned chunks are always moved; only chunks not planned yet depend on choices. The ring's
    lock guards its schedule.

    Attributes: `step`: the step in use, -1 before the first; `chunks`: the number of the chunk planned for
    each step, from `step` on.
    """

    def __init__(self, mixtures: Sequence[int | None], slots: int) -> None:
        """mixtures: for each chunk, in the order of use, the number of the mixture of experts that it belongs
        to, since a pass may use only some chunks of a mixture; None for chunks that every pass uses. slots:
        number of slots of the ring."""
        self.step = -1
        self.chunks: dict[int, int] = {}
        self._mixtures = mixtures
        self._slots = slots
        self._end = 0  # the first step that is not planned
        self._next = 0  # the chunk to consider next
        self._choice: tuple[int, Collection[int]] | None = None  # the latest: a mixture and its chosen chunks
        self._all = False  # whether a mixture that has not chosen yet is expected to choose all
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
        self._choice = None
        self._to_next_chunk()

    def choose(self, mixture: int, wanted: Collection[int], most: bool) -> None:
        """Of the chunks of `mixture`, plan only the `wanted` ones in this pass; chunks already planned stay.

        most: whether the mixture chose nearly all of its experts, so that the next mixture is expected to do
        so too.
        """
        self._choice = mixture, wanted
        self._all = most
        self._plan()

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
        """Return the next chunk to plan; None if that depends on a choice that has not been made yet, or if
        all chunks are left out."""
        if len(self._left_out) == len(self._mixtures):
            return None
        while True:
            mixture = self._mixtures[self._next]
            if self._next not in self._left_out:
                if mixture is None:
                    return self._next
                if self._choice is None or self._choice[0] != mixture:
                    return self._next if self._all else None
                if self._next in self._choice[1]:
                    return self._next
            self._to_next_chunk()

    def _to_next_chunk(self) -> None:
        mixture = self._mixtures[self._next]
        self._next = (self._next + 1) % len(self._mixtures)
        left = self._next == 0 or self._mixtures[self._next] != mixture
        if left and self._choice is not None and self._choice[0] == mixture:
            self._choice = None  # the choice was for this pass; the next pass makes its own
