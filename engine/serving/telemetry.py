"""Telemetry about an answer, sent only when `telemetry` is set: trees, judgements, alternatives."""

import time

from engine import protocol
from engine.decoding.judgement import Judgement
from engine.decoding.verdict import LogProbs

ALTERNATIVES = 8  # number of best tokens reported beside each committed one
MAX_JUDGED = 256  # maximum number of best nodes to judge per tree; no window has space to label as many


class Pace:
    """Limits how often an event is sent during decoding: at most 30 times a second, and so rarely that
    producing it takes at most 1 % of the time. A `Pace` is a context manager: the event is produced inside
    its `with` block."""

    INTERVAL_S = 1 / 30  # no window repaints faster
    SHARE = 0.01

    def __init__(self) -> None:
        self._started = self._next = 0.0

    @property
    def is_due(self) -> bool:
        return time.perf_counter() >= self._next

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        now = time.perf_counter()
        self._next = now + max(self.INTERVAL_S, (now - self._started) / self.SHARE)


def judged(judgement: Judgement | None) -> protocol.Judged | None:
    if judgement is None:
        return None
    return protocol.Judged(nodes=judgement.nodes, log_probs=judgement.log_probs, ranks=judgement.ranks)


def committed(
    start: int, pieces: list[str], log_probs: list[LogProbs], texts: dict[int, str]
) -> protocol.Committed:
    """Return the telemetry about the tokens that an iteration committed.

    start: number of characters of the answer before them; pieces: the text that each token added; log_probs:
    one entry per token; texts: token id -> text, for all tokens in `log_probs`.
    """
    entries = log_probs[: len(pieces)]
    return protocol.Committed(
        start=start,
        pieces=pieces,
        log_probs=[protocol.TokenLogProbs(log_prob=entry.log_prob, top=entry.top) for entry in entries],
        top_texts=[[texts[token] for token, _ in entry.top] for entry in entries],
    )
