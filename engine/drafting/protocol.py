"""The drafter interface: a small state machine that proposes token trees, independent of how the target
runs."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Array
from engine.model.interface import Progress
from engine.prompt_cache import KnownRows
from engine.sampling import Sampler
from engine.tree import TokenTree


@dataclass(frozen=True, slots=True)
class Needs:
    """The data a drafter needs from the target in addition to the accepted tokens."""

    top_tokens: int = 0  # how many of the target's best tokens it needs at every verified node
    # Layers whose outputs it needs at every node, and at every row of the prompt.
    hidden_layers: tuple[int, ...] = ()
    rejection: bool = False  # whether verification is by rejection; if so, the drafter is a `Drawing`


@dataclass(frozen=True, slots=True)
class TreeLimits:
    """The limits of one tree.

    budget: maximum number of nodes; beams: maximum number of nodes expanded per round; depth: maximum depth
    of a node; worth: cost of a round, in tokens of the answer. The nodes that a round expands must be able to
    add at least `worth` to the tree's total probability; drafters whose rounds run no model ignore it. ahead:
    maximum number of nodes that a drafter which can do so expands while the target verifies the tree. rounds:
    how many rounds that takes; None: as many as there is time for. worth_ahead: cost of such a round, in
    nodes of the next tree: so many of those that it expands must be expected to be wanted there.
    """

    budget: int
    beams: int
    depth: int
    worth: float = 0.0
    ahead: int = 0
    rounds: int | None = None
    worth_ahead: float = 0.0


@dataclass(frozen=True, slots=True)
class Lanes:
    """Additional rows of the target's pass beside the tree, used by Lookahead. They see the context, the root
    and the rows marked in `visible`; the tree does not see them.

    tokens:  int64 [rows]
    depths:  int64 [rows]        positions relative to the root's
    visible: bool [rows, rows]
    """

    tokens: NDArray[np.int64]
    depths: NDArray[np.int64]
    visible: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.tokens)

    @staticmethod
    def none() -> "Lanes":
        nothing = np.empty(0, np.int64)
        return Lanes(nothing, nothing, np.empty((0, 0), np.bool_))


@dataclass(frozen=True, slots=True)
class Feedback:
    """The target's results at each row of its pass over root + tree, as far as the drafter's `needs` require.

    tokens:     int64 [rows]       the row's own token
    top_tokens: int64 [rows, k]    the target's best next tokens there, best first
    top_log_probs: float32 [rows, k]  their log-probabilities
    hidden:     layer -> [rows, width], arrays of the target
    lanes:      int64 [lane rows]  the target's best next token at each row of the `Lanes`; may be empty
    path:       the rows of the root and of the accepted nodes, from the root down

    For the prompt, `hidden` covers every row that the target ran; the other fields cover only the last row.
    """

    tokens: NDArray[np.int64]
    top_tokens: NDArray[np.int64]
    top_log_probs: NDArray[np.float32]
    hidden: dict[int, Array]
    lanes: NDArray[np.int64]
    path: Sequence[int] = (0,)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The children that were drawn from a node's distribution, for verification by rejection.

    children: node ids in the order they were drawn, repeats included. probs: float32 [vocabulary], the
    distribution they were drawn from.
    """

    children: list[int]
    probs: Array


@dataclass(frozen=True, slots=True)
class TreeProposal:
    """What one pass of the target verifies, and what a drafter needs from the pass. It never changes, so the
    drafter may grow its tree further while the pass runs.

    drawn: how the children of the nodes of `tree` were drawn, by node, for verification by rejection.
    """

    tree: TokenTree
    lanes: Lanes
    needs: Needs
    drawn: Mapping[int, Drawn] | None = None


class Drafter(ABC):
    """Proposes token trees, for one sequence at a time. The order of calls: `begin`, then for each iteration
    `plant`, `grow`, `snapshot`, `proposal`, `advance`. A drafter that can draft ahead may be asked to `widen`
    its tree after `proposal`, and then to `grow` further.

    Node ids of a snapshot are valid for that snapshot only. `advance` takes tokens rather than node ids, so
    that a drafter may have grown further in the meantime.
    """

    name: str
    needs: Needs
    defaults: TreeLimits  # initial limits if the user sets none
    runs_a_model: bool = True  # whether drafting runs a model, so that each level of a tree costs a round
    is_chain: bool = False  # whether its trees never branch
    drafts_ahead: bool = False  # whether its trees can grow while the target verifies them
    follows: bool = False  # whether it reads the target's rows, so that it cannot begin before the target has

    def covers(self, context: Sequence[int]) -> int:
        """Return how many tokens at the start of `context` the target need not run again for this drafter."""
        return len(context)

    def begin(self, context: Sequence[int], sampler: Sampler, progress: Progress) -> None:
        """Start a sequence; its last token is the root. Results for a shared prefix are reused.

        sampler: chooses the target's next tokens.
        """
        return None

    def observe_prefill(self, feedback: Feedback) -> None:
        """Take the target's results for the prompt, which ends before the root."""
        return None

    @property
    def size(self) -> int:
        """Number of nodes of the tree so far, if trees live on from one iteration to the next; or else 0.
        Nodes that are not kept count while the tree grows ahead."""
        return 0

    @property
    def expanded(self) -> int:
        """Number of nodes of the tree that were expanded, the root included, if trees live on; or else 0."""
        return 0

    def plant(self, limits: TreeLimits) -> None:
        """Start a new tree at the root, with what the last one, grown ahead, has found below the root."""
        return None

    @abstractmethod
    def grow(self, rounds: int, progress: Progress) -> bool:
        """Grow by at most `rounds` rounds, which may be 0; return False when no further round can improve the
        tree."""

    @abstractmethod
    def snapshot(self, budget: int) -> TokenTree:
        """Return the best tree so far, of at most `budget` nodes."""

    def lanes(self) -> Lanes:
        """Return the rows to run beside the tree."""
        return Lanes.none()

    def proposal(self, tree: TokenTree) -> TreeProposal:
        """Return what to verify. tree: as `snapshot` returned it last."""
        return TreeProposal(tree, self.lanes(), self.needs)

    def widen(self, tree: TokenTree, depth: int) -> bool:
        """Let what is known grow ahead of the verdict on `tree`, whose root is the drafter's: by
        `TreeLimits.ahead` nodes, to at most `depth`. Return whether it can."""
        return False

    def advance(self, tokens: Sequence[int], feedback: Feedback) -> None:
        """Move the root past the committed tokens: accepted ones, then the bonus token, which is the new
        root. `feedback` is about the tree last returned by `snapshot`."""
        return None

    def rewind(self, length: int) -> None:
        """Drop everything known about tokens after the first `length`."""
        return None

    def save(self) -> None:
        """Write to the disk what a later text can take up, if there is a place for it."""
        return None

    @property
    def known_rows(self) -> list[KnownRows]:
        """What is kept of texts that were in caches of its own before: those of heads. A draft's is its
        sequence's."""
        return []


class Drawing(Drafter):
    """A drafter whose nodes are samples. The answer has the target's distribution only if the tree is
    verified by rejection sampling (`engine.decoding.rejection`)."""

    @abstractmethod
    def drawn(self) -> Mapping[int, Drawn]:
        """Return how the children of nodes (ids of the last snapshot, and ROOT) were drawn."""

    def proposal(self, tree: TokenTree) -> TreeProposal:
        return replace(super().proposal(tree), drawn=self.drawn())
