"""A plan: where a pair goes on a machine, how fast it will be, and what limits it. Plain data."""

from dataclasses import dataclass
from typing import Literal

from engine.planner.timing import Limit

Device = Literal["cuda", "cpu"]
Fit = Literal["in VRAM", "in RAM", "VRAM + RAM", "with SSD", "will not run"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user fixed. Limits: bytes that the target's weights may take, with the ring. unpacked: whether
    weights are, where they are not streamed."""

    context: int
    vram_limit: int | None = None
    ram_limit: int | None = None
    budget: int | None = None
    device: Device | None = None
    unpacked: bool | None = None


@dataclass(frozen=True, slots=True)
class Tiers:
    """Bytes, or layers of the target, in each tier."""

    vram: int
    ram: int
    ssd: int


@dataclass(frozen=True, slots=True)
class Names:
    """draft: None, a drafter that needs none."""

    target: str
    draft: str | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What the engine loads by, and what comes of it.

    Loading: `device`; `vram_limit` and `ram_limit`, as those of `protocol.Load` but in bytes, None where
    nothing is streamed or the tier takes all the rest; `target_unpacked`, `draft_unpacked`: their weights are
    unpacked once; `context`; `budget`, to begin with.
    `memory`: all that is taken of VRAM and RAM, and the weights left on the SSD. `time_to_first_token_s`: of
    1,000 prompt tokens. Where the pair will not run, `missing` says why, and there are no figures.
    """

    pair: Names
    fit: Fit
    device: Device
    context: int
    missing: str | None = None
    vram_limit: int | None = None
    ram_limit: int | None = None
    target_unpacked: bool = False
    draft_unpacked: bool = False
    budget: int | None = None
    predicted_tokens_per_second: float | None = None
    predicted_tokens_per_pass: float | None = None
    time_to_first_token_s: float | None = None
    seconds_per_pass: float | None = None
    draft_s: float | None = None
    limited_by: Limit | None = None
    memory: Tiers = Tiers(0, 0, 0)
    layers: Tiers = Tiers(0, 0, 0)

    @property
    def runs(self) -> bool:
        return self.fit != "will not run"
