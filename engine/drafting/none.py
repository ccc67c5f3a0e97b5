"""Plain decoding: proposes nothing, so each target pass gives one token. The yardstick for every other
drafter."""

from collections.abc import Sequence as Ids

from engine.drafting.protocol import Limits, Needs, Said
from engine.model import Watch
from engine.tree import TokenTree


class NoDrafter:
    name = "none"
    needs = Needs()
    defaults = Limits(budget=0, beams=0, depth=0)

    def begin(self, context: Ids[int], watch: Watch) -> None: ...

    def observe_prefill(self, said: Said) -> None: ...

    def plant(self, limits: Limits) -> None: ...

    def grow(self, rounds: int, watch: Watch) -> bool:
        return False

    def snapshot(self, budget: int) -> TokenTree:
        return TokenTree.empty()

    def advance(self, tokens: Ids[int], said: Said) -> None: ...

    def rewind(self, length: int) -> None: ...
