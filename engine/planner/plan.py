"""A plan: where a pair goes on a machine, how fast it will be, and what limits it. Plain data only."""

from dataclasses import dataclass, replace
from typing import Literal

from engine.planner.machines import Compute
from engine.planner.prediction import Limit
from engine.protocol.requests import Helps

Device = Literal["cuda", "cpu"]
HeadsKind = Literal["own layer", "other"]
Fit = Literal["in VRAM", "in RAM", "VRAM + RAM", "with SSD", "will not run"]


@dataclass(frozen=True, slots=True)
class HelpingProcessor:
    """A processor that may multiply by weights in RAM beside a card. `compute`: the speed of its compiled
    passes; `helps`: "auto" or "measured", as in `Load`."""

    compute: Compute
    helps: Helps

    @property
    def experts_only(self) -> bool:
        """Whether it helps with the experts of a mixture only."""
        return self.helps == "auto"


@dataclass(frozen=True, slots=True)
class Asked:
    """Settings fixed by the user; None leaves the choice to the planner.

    Attributes: `vram_limit_nbytes`, `ram_limit_nbytes`: bytes that the target's weights and the ring may take
    in that tier together; `unpacked`: whether weights that are not streamed are unpacked once, at loading;
    `cache`: format of keys and values in compiled passes, F16 or Q8_0; `helper`: the processor, if it may
    help a card; None if it must not.
    """

    context: int
    vram_limit_nbytes: int | None = None
    ram_limit_nbytes: int | None = None
    budget: int | None = None
    device: Device | None = None
    unpacked: bool | None = None
    cache: str = "F16"
    helper: HelpingProcessor | None = None


@dataclass(frozen=True, slots=True)
class Tiers:
    """How much is in each memory tier: bytes, or layers of the target."""

    vram: int
    ram: int
    ssd: int


@dataclass(frozen=True, slots=True)
class ExpertPlan:
    """Where the experts of a mixture are.

    Attributes, in bytes as stored: `resident`: experts that stay in memory; `cached`: what the cache for the
    others holds of them, in the compute device's memory; `streamed`: experts that the cache has no room for;
    `read`: what a token reads of these on average; `hit_rate`: the share of a token's experts that are in the
    cache; `in_ram`: the RAM that a card gets experts from, for all of them or for another cache; 0 on the
    processor.
    """

    resident: int
    cached: int
    streamed: int
    hit_rate: float
    read: int
    in_ram: int = 0


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a pair's models. `draft`: None for drafters that need no model."""

    target: str
    draft: str | None


@dataclass(frozen=True, slots=True)
class OtherWay:
    """What the fastest plan promises if the processor's help is decided the other way."""

    device: Device
    budget: int | None
    predicted_tokens_per_second: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """How to load a pair, and the speed and memory predicted for it.

    For loading: `vram_limit_nbytes`, `ram_limit_nbytes`: the limits of `protocol.Load`, in bytes; None if
    nothing is streamed or if the tier takes all remaining weights; `target_unpacked`, `draft_unpacked`:
    whether the model's weights are unpacked once, at loading; `heads`: which are loaded, the target's own
    layer for drafts or others, such as an assistant, or None; `substitutes`: the format of the streamed
    matrices in a target's own draft, None without one; `budget`: that of the trees it reckons with.
    Predicted: `memory`: all VRAM and RAM in use, and the weights that stay on the SSD; `layers`: layers of
    the target in each tier; `time_to_first_token_s`: for a prompt of 1,000 tokens; `draft_s`: seconds of
    growing a tree; `experts`: where those of a mixture are, None if they are streamed with their layers;
    `helped`: the share of the streamed weights, or of the experts that the card lacks, by which the processor
    multiplies beside a card; `other_way`: what was promised with its help if it does not help, and without it
    if it does, or None if its help would not pay in passes of few rows.
    If the pair will not run, `missing` says why, and there are no predictions.
    """

    pair: Names
    fit: Fit
    device: Device
    context: int
    missing: str | None = None
    vram_limit_nbytes: int | None = None
    ram_limit_nbytes: int | None = None
    target_unpacked: bool = False
    draft_unpacked: bool = False
    heads: HeadsKind | None = None
    substitutes: str | None = None
    budget: int | None = None
    predicted_tokens_per_second: float | None = None
    predicted_tokens_per_pass: float | None = None
    time_to_first_token_s: float | None = None
    seconds_per_pass: float | None = None
    draft_s: float | None = None
    limited_by: Limit | None = None
    memory: Tiers = Tiers(0, 0, 0)
    layers: Tiers = Tiers(0, 0, 0)
    experts: ExpertPlan | None = None
    helped: float = 0.0
    other_way: OtherWay | None = None

    @property
    def runs(self) -> bool:
        return self.fit != "will not run"

    @property
    def streams(self) -> bool:
        """Whether passes wait for weights from another tier."""
        return self.fit in ("VRAM + RAM", "with SSD")

    @property
    def forgoes_help(self) -> bool:
        """Whether the processor must not help, because plans without its help, with larger trees, are
        faster."""
        return self.other_way is not None and not self.helped

    def help_once_loaded(self, helps: Helps) -> Helps:
        """Return how the processor helps, or is tried, once a pair is loaded by this plan: as asked, or
        "never". helps: what was asked for when the plan was made."""
        is_tried = helps == "measured" and not self.forgoes_help
        return helps if self.helped or is_tried else "never"

    def held_to(self, asked: Asked) -> Asked:
        """Return what was asked for, with the choices that this plan has made about memory and help."""
        helper = asked.helper
        if helper and self.help_once_loaded(helper.helps) == "never":
            helper = None
        return replace(
            asked,
            vram_limit_nbytes=self.vram_limit_nbytes,
            ram_limit_nbytes=self.ram_limit_nbytes,
            helper=helper,
        )
