"""Target and draft (or heads) as they are loaded, and what they take."""

import sys
from dataclasses import dataclass

import psutil

from engine import protocol
from engine.heads import Heads
from engine.sequence import Sequence
from engine.tokenizer import Tokenizer
from engine.watching import memory_parts


@dataclass(slots=True)
class Pair:
    """What is loaded. Draft and target share one vocabulary. heads: made for the target, in the place of a
    draft."""

    target: Sequence
    draft: Sequence | None
    tokenizer: Tokenizer
    heads: Heads | None = None

    @property
    def method(self) -> str | None:
        """The drafter that the heads are for."""
        return self.heads.method if self.heads else None

    @property
    def memory(self) -> protocol.Memory:
        """Bytes of weights, workspaces and KV cache by tier."""
        used = {"vram": 0, "ram": 0}
        for sequence in filter(None, (self.target, self.draft)):
            tier = "vram" if sequence.model.device.type == "cuda" else "ram"
            used[tier] += sequence.model.nbytes + sequence.cache.nbytes
            if self.heads and sequence is self.target:
                used[tier] += self.heads.nbytes
        parts = memory_parts(self.target, self.draft, self.heads)
        return protocol.Memory(**used, peak=peak_resident_nbytes(), parts=parts)


def peak_resident_nbytes() -> int:
    """The most RAM this process has held at one time, in bytes."""
    if sys.platform == "win32":
        peak: int = psutil.Process().memory_info().peak_wset
        return peak
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
