"""Plain decoding: proposes nothing, so each target pass gives one token. The yardstick for every other
drafter."""

from engine.drafting.protocol import Drafter, Limits, Needs
from engine.model import Watch
from engine.tree import TokenTree


class NoDrafter(Drafter):
    name = "none"
    needs = Needs()
    defaults = Limits(budget=0, beams=0, depth=0)

    def grow(self, rounds: int, watch: Watch) -> bool:
        return False

    def snapshot(self, budget: int) -> TokenTree:
        return TokenTree.empty()
