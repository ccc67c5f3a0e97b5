"""What a drafter is: a small state machine that proposes token trees. It never knows how the target is
run."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.model import Watch
from engine.sampling import Sampler
from engine.tree import TokenTree


@dataclass(frozen=True, slots=True)
class Needs:
    """What a drafter wants from the target beside the tokens it accepted."""

    top_tokens: int = 0  # the target's best tokens at every node it has checked; 0: none
    hidden_layers: tuple[
        int, ...
    ] = ()  # outputs of these layers at every node, and at every row of the prompt
    rejection: bool = False  # verified by rejection sampling: the drafter is a `Drawing`


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one tree. `budget`: most nodes; `beams`: nodes expanded per round; `depth`: deepest node; `worth`:
    what a round costs, where a token of the answer costs 1: the nodes it expands must be reached with that
    chance, together. Drafters whose rounds run no model ignore it."""

    budget: int
    beams: int
    depth: int
    worth: float = 0.0


@dataclass(frozen=True, slots=True)
class Lanes:
    """Rows that ride along in the target's pass beside the tree (Lookahead's). They see the context and the
    root, and of each other what `visible` says; the tree does not see them.

    tokens:  int64 [rows]
    depths:  int64 [rows]        positions behind the root's
    visible: bool [rows, rows]
    """

    tokens: Tensor
    depths: Tensor
    visible: Tensor

    def __len__(self) -> int:
        return len(self.tokens)

    @staticmethod
    def none() -> "Lanes":
        nothing = torch.empty(0, dtype=torch.int64)
        return Lanes(nothing, nothing, torch.empty(0, 0, dtype=torch.bool))


@dataclass(frozen=True, slots=True)
class Said:
    """What the target said at each row of its pass over root + tree, as far as the drafter's `needs` ask.

    tokens:     int64 [rows]       the row's own token
    top_tokens: int64 [rows, k]    the target's best next tokens there, best first
    top_log_probs: float32 [rows, k]
    hidden:     layer -> [rows, width]
    lanes:      int64 [rows beside the tree]  the target's best next token there; empty where none ran
    path:       the rows of the root and of the accepted nodes, from the root down

    Of the prompt: `tokens` and what else is said are of its last row, `hidden` of each row the target ran.
    """

    tokens: Tensor
    top_tokens: Tensor
    top_log_probs: Tensor
    hidden: dict[int, Tensor]
    lanes: Tensor
    path: Sequence[int] = (0,)


class Drafter(ABC):
    """One sequence at a time: begin, then for each iteration plant / grow / snapshot / advance.

    Node ids of `snapshot` are its own; `advance` is told tokens, so that a drafter may have grown further
    meanwhile.
    """

    name: str
    needs: Needs
    defaults: Limits  # what `auto` begins with
    runs_a_model: bool = True  # so that each level of a tree costs a round

    def covers(self, context: Sequence[int]) -> int:
        """Tokens at the start of `context` of which it needs nothing from the target any more."""
        return len(context)

    def begin(self, context: Sequence[int], sampler: Sampler, watch: Watch) -> None:
        """Take up a sequence; its last token is the root. What was seen of it before is reused.

        sampler: how the target's next tokens will be chosen.
        """
        return None

    def observe_prefill(self, said: Said) -> None:
        """What the target said of the prompt, which ends before the root."""
        return None

    def plant(self, limits: Limits) -> None:
        """Start a new tree at the root."""
        return None

    @abstractmethod
    def grow(self, rounds: int, watch: Watch) -> bool:
        """Grow by at most `rounds` rounds; False when no further round can improve the tree."""

    @abstractmethod
    def snapshot(self, budget: int) -> TokenTree:
        """The best tree of at most `budget` nodes so far."""

    def lanes(self) -> Lanes:
        """Rows to run beside the tree."""
        return Lanes.none()

    def advance(self, tokens: Sequence[int], said: Said) -> None:
        """The target committed these tokens behind the root (accepted ones, then the bonus token: the new
        root). `said` is about the tree last given by `snapshot`."""
        return None

    def rewind(self, length: int) -> None:
        """Keep what is known of the first `length` tokens only."""
        return None


@dataclass(frozen=True, slots=True)
class Drawn:
    """Children drawn from a node's distribution, for verification by rejection.

    children: node ids in the order they were drawn, repeats included. probs: float32 [vocabulary], what each
    was drawn from.
    """

    children: list[int]
    probs: Tensor


class Drawing(Drafter):
    """A drafter whose nodes are samples. What it proposes is equal in distribution only if it is verified by
    rejection sampling (`engine.rejection`)."""

    @abstractmethod
    def drawn(self, node: int) -> Drawn | None:
        """How the children of `node` (an id of the last snapshot, or ROOT) were drawn; None: it has none."""
