"""Which chunks in RAM are lent to the processor, so that they cross no link to a graphics card."""

import logging
from collections.abc import Callable, Mapping

from engine.planner.even import spread
from engine.planner.lent_share import ROWS, try_shares
from engine.streaming.streamer import Streamer

_log = logging.getLogger(__name__)


class Lending:
    """Lends chunks to the processor, in passes of at most ROWS rows.

    Which chunks stays the same from pass to pass: the processor rounds otherwise than a card does, and a text
    must not depend on how many nodes a tree had. So trees are not larger, either (`Model.tree_rows`).

    Attributes: `nbytes`: the bytes that a pass moves without the processor.
    """

    def __init__(
        self, streamer: Streamer, sizes: Mapping[int, int], turn: Callable[[int, bool], None]
    ) -> None:
        """sizes: bytes of each chunk that can be lent, by its number, which is one of the streamer's lendable
        ones. turn: called with such a number, and whether the processor multiplies by the chunk from now
        on."""
        self._streamer = streamer
        self._sizes = sizes
        self._turn_chunk = turn
        self._lent: frozenset[int] = frozenset()
        self._on = False
        self.nbytes = streamer.pass_nbytes

    @property
    def share(self) -> float:
        """The share of `nbytes` that is lent."""
        return sum(self._sizes[number] for number in self._lent) / self.nbytes

    def use(self, share: float) -> None:
        """Lend chunks of at most this share of `nbytes`, in 0..1, spread evenly among those that can be
        lent."""
        self._turn(False)
        stay = spread(list(self._sizes.values()), int(share * self.nbytes))
        self._lent = frozenset(number for number, is_lent in zip(self._sizes, stay, strict=True) if is_lent)

    def begin(self, rows: int) -> None:
        """Lend for a pass over this many rows, or do not."""
        self._turn(rows <= ROWS)

    def choose(self, run: Callable[[], float], processor: float) -> None:
        """Use the share with which passes of ROWS rows are fastest, or none if the processor does not
        make them faster (`engine.planner.lent_share`).

        run: runs such a pass and returns its seconds. Of each share, a first pass brings the ring into step,
        and the second is timed. processor: the bytes that the processor multiplies by in a second.
        """

        def timed(share: float) -> float:
            self.use(share)
            run()
            return run()

        with self._streamer.trial():
            tried = try_shares(timed, self.nbytes, processor)
        self.use(tried.share)
        _log.info(
            "Passes of %d rows take %.3f s if all weights cross the link, and %.3f s if the processor "
            "multiplies by %.0f %% of them in RAM: %s.",
            *(ROWS, tried.alone_s, tried.best_s, 100 * tried.best),
            "so it does" if tried.share else "so it does not",
        )

    def _turn(self, on: bool) -> None:
        if on == self._on:
            return
        self._on = on
        for number in self._lent:
            self._turn_chunk(number, on)
        self._streamer.lend(self._lent if on else ())
