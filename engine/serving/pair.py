"""A loaded pair: its models, the memory they take, and the link over which weights are streamed."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from engine import machine, protocol
from engine.heads import Heads
from engine.model.sequence import Sequence
from engine.prompt_cache import PromptCache
from engine.tokenizer import Tokenizer


@dataclass(slots=True)
class LoadedPair:
    """A target with its draft or heads. Draft and target share one vocabulary; heads are made for the
    target and replace a draft. threads: number of threads that compute; None on a card. prompts: the rows of
    other conversations, or None."""

    target: Sequence
    draft: Sequence | None
    tokenizer: Tokenizer
    heads: Heads | None = None
    threads: int | None = None
    prompts: PromptCache | None = None

    @property
    def sequences(self) -> list[Sequence]:
        """Those of the target and of the draft, if there is one."""
        return [self.target, *([self.draft] if self.draft else [])]

    @property
    def method(self) -> str | None:
        """The drafter that uses the heads; None without heads."""
        return self.heads.method if self.heads else None

    @property
    def token_nbytes(self) -> int:
        """The bytes that the KV caches take of each token that the context is longer. Layers with a window
        keep as many rows of a longer text."""
        return sum(sequence.cache.row_nbytes for sequence in self.sequences)

    @property
    def memory(self) -> protocol.Memory:
        """The bytes that weights, workspaces and KV caches take in each tier of memory."""
        used = {"vram": 0, "ram": 0}
        for sequence in self.sequences:
            tier = tier_of(sequence)
            used[tier] += sequence.model.nbytes + sequence.cache.nbytes
            used["ram"] += sequence.cache.saved_nbytes
            if self.heads and sequence is self.target:
                used[tier] += self.heads.nbytes
        parts = memory_parts(self.target, self.draft, self.heads)
        if self.prompts and self.prompts.nbytes:
            used["ram"] += self.prompts.nbytes
            parts.append(protocol.MemoryPart(what="prompt_cache", tier="ram", nbytes=self.prompts.nbytes))
        return protocol.Memory(**used, peak=peak_resident_nbytes(), parts=parts)


def memory_parts(target: Sequence, draft: Sequence | None, heads: Heads | None) -> list[protocol.MemoryPart]:
    """Return the parts of the pair that take memory, and those that each pass reads from the disk."""
    tier, streamer = tier_of(target), target.model.streamer
    slots, experts = (streamer.nbytes, streamer.cache_nbytes) if streamer else (0, 0)
    parts = [
        protocol.MemoryPart(what="target", tier=tier, nbytes=target.model.nbytes - slots),
        protocol.MemoryPart(what="target_experts", tier=tier, nbytes=experts),
        protocol.MemoryPart(what="target_ring", tier=tier, nbytes=slots - experts),
        *cache_parts("target_cache", target),
        protocol.MemoryPart(what="heads", tier=tier, nbytes=heads.nbytes if heads else 0),
    ]
    if streamer:
        for place, nbytes in streamer.each_pass.items():
            parts.append(protocol.MemoryPart(what="target", tier=place, nbytes=nbytes))
        for place, nbytes in streamer.expert_homes.items():
            parts.append(protocol.MemoryPart(what="target_experts", tier=place, nbytes=nbytes))
    if draft:
        parts.append(protocol.MemoryPart(what="draft", tier=tier_of(draft), nbytes=draft.model.nbytes))
        parts += cache_parts("draft_cache", draft)
    return [part for part in parts if part.nbytes]


def cache_parts(
    what: Literal["target_cache", "draft_cache"], sequence: Sequence
) -> list[protocol.MemoryPart]:
    """Return the KV cache as parts: beside a card, its savepoints are in RAM."""
    cache, tier = sequence.cache, tier_of(sequence)
    if tier == "ram":
        return [protocol.MemoryPart(what=what, tier=tier, nbytes=cache.nbytes + cache.saved_nbytes)]
    saved = protocol.MemoryPart(what=what, tier="ram", nbytes=cache.saved_nbytes)
    return [protocol.MemoryPart(what=what, tier=tier, nbytes=cache.nbytes), saved]


def tier_of(sequence: Sequence) -> Literal["vram", "ram"]:
    return "ram" if sequence.model.device == "cpu" else "vram"


def link_of(target: Sequence, folder: Path) -> protocol.Link | None:
    """Return the slowest link that weights are streamed over, with its speed when last measured; None if
    nothing is streamed. folder: the one with the target's files."""
    streamer = target.model.streamer
    if not streamer or not streamer.pass_nbytes:
        return None
    probed = machine.probe(folder)
    if streamer.tiers["ssd"]:
        disk = probed.disk.speed
        return protocol.Link(kind="disk", limit_gb_per_s=disk.best_gb_per_s if disk else None)
    link = next((gpu.link for gpu in probed.gpus if gpu.link), None)
    return protocol.Link(kind="PCIe", limit_gb_per_s=link.gb_per_s if link else None)


def peak_resident_nbytes() -> int:
    """Return the most RAM this process has held at one time, in bytes."""
    if sys.platform == "win32":
        peak: int = psutil.Process().memory_info().peak_wset
        return peak
    if sys.platform == "linux":  # its `ru_maxrss` is at least that of the process that started this one
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) << 10
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS
