"""What only whoever watches is told: which part takes how much memory, and what weights are streamed over."""

import time
from pathlib import Path
from typing import Literal

from engine import machine, protocol
from engine.heads import Heads
from engine.judging import Judgement
from engine.sequence import Sequence
from engine.streaming import Streamer
from engine.verification import LogProbs

ALTERNATIVES = 8  # best tokens told beside each one committed
# Nodes of a tree of which the target's probability is told: more than a window has room for names.
MOST_JUDGED = 256


class Pace:
    """How often something is told while decoding goes on: at most 30 times a second, and so seldom that
    making it takes 1 % of the time. Used as a context around the making."""

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


def judged(found: Judgement | None) -> protocol.Judged | None:
    if found is None:
        return None
    return protocol.Judged(nodes=found.nodes, log_probs=found.log_probs, ranks=found.ranks)


def committed(
    start: int, pieces: list[str], log_probs: list[LogProbs], texts: dict[int, str]
) -> protocol.Committed:
    """start: characters before; pieces: what each token added to the text; texts: by token id."""
    taken = log_probs[: len(pieces)]
    return protocol.Committed(
        start=start,
        pieces=pieces,
        log_probs=[protocol.TokenLogProbs(log_prob=each.log_prob, top=each.top) for each in taken],
        top_texts=[[texts[token] for token, _ in each.top] for each in taken],
    )


def memory_parts(target: Sequence, draft: Sequence | None, heads: Heads | None) -> list[protocol.MemoryPart]:
    """Only parts that take something."""
    on: Literal["vram", "ram"] = tier_of(target)
    ring = target.model.mover.nbytes if target.model.mover else 0
    parts = [
        protocol.MemoryPart(what="target", tier=on, nbytes=target.model.nbytes - ring),
        protocol.MemoryPart(what="target_ring", tier=on, nbytes=ring),
        protocol.MemoryPart(what="target_cache", tier=on, nbytes=target.cache.nbytes),
        protocol.MemoryPart(what="heads", tier=on, nbytes=heads.nbytes if heads else 0),
    ]
    if isinstance(target.model.mover, Streamer):
        for tier, nbytes in target.model.mover.tiers.items():
            parts.append(protocol.MemoryPart(what="target", tier=tier, nbytes=nbytes))
    if draft:
        parts.append(protocol.MemoryPart(what="draft", tier=tier_of(draft), nbytes=draft.model.nbytes))
        parts.append(protocol.MemoryPart(what="draft_cache", tier=tier_of(draft), nbytes=draft.cache.nbytes))
    return [part for part in parts if part.nbytes]


def tier_of(sequence: Sequence) -> Literal["vram", "ram"]:
    return "vram" if sequence.model.device.type == "cuda" else "ram"


def link_of(target: Sequence, folder: Path) -> protocol.Link | None:
    """What streamed weights come over, the slowest first, and what it carried when last measured; None where
    nothing is streamed. folder: the target's."""
    mover = target.model.mover
    if not isinstance(mover, Streamer) or not mover.pass_nbytes:
        return None
    probed = machine.probe(folder)
    if mover.tiers["ssd"]:
        disk = probed.disk.speed
        return protocol.Link(kind="disk", limit_gb_per_s=disk.best_gb_per_s if disk else None)
    link = next((gpu.link for gpu in probed.gpus if gpu.link), None)
    return protocol.Link(kind="PCIe", limit_gb_per_s=link.gb_per_s if link else None)
