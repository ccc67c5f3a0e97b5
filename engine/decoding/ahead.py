"""Whether the draft goes on while the target verifies, and how far."""

from dataclasses import dataclass, replace

from engine.decoding.iteration import Iterated, Rule
from engine.drafting import Drafter, TreeLimits
from engine.errors import BadOption
from engine.model.interface import Model
from engine.protocol import Overlap

# How far a tree may grow ahead: by so many times its budget, and by so many nodes. Time ends the growth much
# earlier: a draft model expands some hundred nodes in a pass of half a second.
SHARE = 4
MOST = 1024


@dataclass(frozen=True, slots=True)
class GrowingAhead:
    """A rule like `rule`, except that trees also grow while the target verifies them.

    What they cost then is hidden behind the pass, so it is not part of the measured times from which `rule`
    learns: its limits follow from what is left to wait for.
    """

    rule: Rule

    def choose(self) -> TreeLimits:
        limits = self.rule.choose()
        return replace(limits, ahead=min(SHARE * limits.budget, MOST))

    def observe(self, iteration: Iterated) -> None:
        self.rule.observe(iteration)


def grows_ahead(overlap: Overlap, drafter: Drafter, target: Model, draft: Model | None) -> bool:
    """Return whether the draft computes while the target's pass waits for bytes.

    Raises BadOption for "on" where the target runs on a graphics card.
    """
    if overlap == "on" and target.device != "cpu":
        raise BadOption(
            "The draft cannot go on while a graphics card verifies.", "Leave out --overlap, or choose auto."
        )
    # "auto" is off until it has been measured with streamed models.
    return overlap == "on" and drafter.drafts_ahead
