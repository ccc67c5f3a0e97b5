"""The drafter for plain decoding: it proposes nothing, so each target pass gives one token. The baseline for
every other drafter."""

from engine.drafting.protocol import Drafter, Needs, TreeLimits
from engine.model.interface import Progress
from engine.tree import TokenTree


class NoDrafter(Drafter):
    name = "none"
    needs = Needs()
    defaults = TreeLimits(budget=0, beams=0, depth=0)

    def grow(self, rounds: int, progress: Progress) -> bool:
        return False

    def snapshot(self, budget: int) -> TokenTree:
        return TokenTree.empty()
