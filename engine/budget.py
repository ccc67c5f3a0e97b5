"""The limits of each token tree: as the user wishes, or as this machine and this text make best."""

from dataclasses import dataclass

from engine.decoding import Iterated
from engine.drafting import Limits


@dataclass(frozen=True, slots=True)
class FixedLimits:
    """Always the same."""

    limits: Limits

    def choose(self) -> Limits:
        return self.limits

    def observe(self, limits: Limits, iteration: Iterated) -> None:
        pass
