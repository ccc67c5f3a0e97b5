"""Which chunk each slot gets, pass after pass. Numbers only: nothing is moved here.

Chunks that every pass uses are planned as far ahead as there are slots. Those of a mixture's experts wait for
the mixture's choice, unless the mixture before has wanted nearly all of its own.
"""

from collections.abc import Collection, Sequence


class Schedule:
    """A ring's steps, which go on across passes: step s goes to slot s % slots. What is planned does come;
    only what is not planned yet depends on choices. Guarded by the lock of its ring.

    Attributes: `step`, what is computed with, -1 before the first; `chunks`, by step, the numbers of those
    planned, from `step` on.
    """

    def __init__(self, mixtures: Sequence[int | None], slots: int) -> None:
        """mixtures: for each chunk, in the order of use, the mixture of which only some chunks are used."""
        self.step = -1
        self.chunks: dict[int, int] = {}
        self._mixtures = mixtures
        self._slots = slots
        self._end = 0  # the first step that is not planned
        self._next = 0  # the chunk to be looked at next
        self._choice: tuple[int, Collection[int]] | None = None  # the latest: a mixture, its chunks wanted
        self._all = False  # a mixture that has not chosen is expected to want all
        self._plan()

    def expects(self, chunk: int) -> bool:
        """Whether it is planned, or the next to be."""
        planned = any(self.chunks[step] == chunk for step in range(self.step + 1, self._end))
        return planned or self._following() == chunk

    def advance(self) -> None:
        """Go on to the next step; the slot of this one is free."""
        self.chunks.pop(self.step, None)
        self.step += 1
        self._plan()

    def begin_anew(self, step: int, chunk: int) -> None:
        """Forget what is planned: `chunk` comes next, in `step`."""
        self.step = step - 1
        self.chunks = {step: chunk}
        self._end = step + 1
        self._next = chunk
        self._choice = None
        self._go_on()

    def choose(self, mixture: int, wanted: Collection[int], most: bool) -> None:
        """Of the chunks of `mixture` that are not planned yet, only `wanted` come. most: it has wanted nearly
        all of its experts, and the next is expected to."""
        self._choice = mixture, wanted
        self._all = most
        self._plan()

    def _plan(self) -> None:
        while self._end < self.step + self._slots and (chunk := self._following()) is not None:
            self.chunks[self._end] = chunk
            self._end += 1
            self._go_on()

    def _following(self) -> int | None:
        """The chunk after those planned; None as long as its mixture has not chosen."""
        while (mixture := self._mixtures[self._next]) is not None:
            if self._choice is None or self._choice[0] != mixture:
                return self._next if self._all else None
            if self._next in self._choice[1]:
                break
            self._go_on()
        return self._next

    def _go_on(self) -> None:
        mixture = self._mixtures[self._next]
        self._next = (self._next + 1) % len(self._mixtures)
        left = self._next == 0 or self._mixtures[self._next] != mixture
        if left and self._choice is not None and self._choice[0] == mixture:
            self._choice = None  # of this pass; the next one makes its own
