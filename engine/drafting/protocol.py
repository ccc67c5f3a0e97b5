"""What a drafter is: a small state machine that proposes token trees. It never knows how the target is
run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from engine.model import Watch
from engine.tree import TokenTree


@dataclass(frozen=True, slots=True)
class Needs:
    """What a drafter wants from the target beside the tokens it accepted."""

    top_tokens: int = 0  # the target's best tokens at every node it has checked; 0: none
    hidden_layers: tuple[int, ...] = ()  # outputs of these layers at every node


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one tree. `budget`: most nodes; `beams`: nodes expanded per round; `depth`: deepest node."""

    budget: int
    beams: int
    depth: int


@dataclass(frozen=True, slots=True)
class Said:
    """What the target said at each row of its pass over root + tree, as far as the drafter's `needs` ask.

    tokens:     int64 [rows]       the row's own token
    top_tokens: int64 [rows, k]    the target's best next tokens there, best first
    top_log_probs: float32 [rows, k]
    hidden:     layer -> [rows, width]
    """

    tokens: Tensor
    top_tokens: Tensor
    top_log_probs: Tensor
    hidden: dict[int, Tensor]


class Drafter(Protocol):
    """One sequence at a time: begin, then for each iteration grow / snapshot / advance.

    Node ids of `snapshot` are its own; `advance` is told tokens, so that a drafter may have grown further
    meanwhile.
    """

    name: str
    needs: Needs
    defaults: Limits  # what `auto` stands for

    def begin(self, context: Sequence[int], watch: Watch) -> None:
        """Take up a sequence; its last token is the root. What was seen of it before is reused."""

    def observe_prefill(self, said: Said) -> None:
        """What the target said at the last row of its prefill."""

    def plant(self, limits: Limits) -> None:
        """Start a new tree at the root."""

    def grow(self, rounds: int, watch: Watch) -> bool:
        """Grow by at most `rounds` rounds; False when no further round can improve the tree."""

    def snapshot(self, budget: int) -> TokenTree:
        """The best tree of at most `budget` nodes so far."""

    def advance(self, tokens: Sequence[int], said: Said) -> None:
        """The target committed these tokens behind the root (accepted ones, then the bonus token: the new
        root)."""

    def rewind(self, length: int) -> None:
        """Keep what is known of the first `length` tokens only."""
