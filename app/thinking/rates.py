"""How fast an answer went, from its iterations: tokens/s over time, lengths accepted, use of the link.
Numbers in, numbers out."""

from collections import Counter
from dataclasses import dataclass

from engine.protocol.messages import IterationDone

RECENT_S = 30.0


@dataclass(frozen=True, slots=True)
class Moment:
    """`t`: seconds since the first token; `recent`: tokens/s of the last 30 s, `whole`: since the start."""

    t: float
    recent: float
    whole: float


class Rates:
    """Attributes: `moments`, one per iteration seen; `lengths`, how often so many nodes were accepted."""

    def __init__(self) -> None:
        self.moments: list[Moment] = []
        self.lengths: Counter[int] = Counter()
        self._tokens: list[tuple[float, int]] = [(0.0, 1)]
        self._first_recent = 0

    def add(self, done: IterationDone) -> None:
        self.lengths[len(done.accepted)] += 1
        if done.tokens_per_second <= 0:
            return
        t = (done.tokens - 1) / done.tokens_per_second
        self._tokens.append((t, done.tokens))
        while self._tokens[self._first_recent][0] < t - RECENT_S:
            self._first_recent += 1
        then, before = self._tokens[self._first_recent]
        recent = (done.tokens - before) / (t - then) if t > then else done.tokens_per_second
        self.moments.append(Moment(t, recent, done.tokens_per_second))


def seconds_of(done: IterationDone) -> float:
    spent = done.seconds
    return spent.draft + spent.target + spent.stream_wait + spent.other


def link_gb_per_s(done: IterationDone) -> float | None:
    """What the link carried during an iteration; None where nothing was streamed."""
    seconds = seconds_of(done)
    return done.bytes_streamed / 1e9 / seconds if done.bytes_streamed and seconds > 0 else None
