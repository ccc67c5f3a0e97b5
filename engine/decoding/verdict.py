"""What verification promises: a pass that is launched, and its verdict. Knows nothing of how targets run."""

from collections.abc import Callable
from collections.abc import Sequence as Ids
from dataclasses import dataclass
from typing import Protocol

from engine.decoding.judgement import Judgement
from engine.drafting import Drafter, Feedback, TreeProposal
from engine.model.interface import Progress, no_progress


@dataclass(frozen=True, slots=True)
class LogProbs:
    """The target's log-probabilities at one committed token, before any processor: that of the token itself,
    and those of the best tokens in its place."""

    log_prob: float
    top: list[tuple[int, float]]  # (token id, log-probability), best first


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a pass over a tree, or over a prompt.

    accepted: node ids from the root down; bonus: the token after the last of them; feedback: the results that
    the drafter needs; log_probs: one entry per accepted token and one for the bonus token, if requested;
    judgement: the target's judgement of nodes, if requested; reused: how many tokens of a prompt were not
    read anew.
    """

    accepted: list[int]
    bonus: int
    feedback: Feedback
    log_probs: list[LogProbs]
    judgement: Judgement | None = None
    reused: int = 0


class PassEnded(Exception):
    """Ends a pass: one that was cancelled, or one of a draft beside a pass that has ended."""


class Pending(Protocol):
    """A pass over a prompt or a tree that has been launched. It must be ended: by `verdict` or `cancel`."""

    @property
    def beside(self) -> Progress:
        """The progress for passes of a draft that run while this one does: the draft then computes only when
        this pass leaves room for it. It raises what the `progress` of this pass raises, and PassEnded once
        there is nothing left to be beside."""

    @property
    def held_s(self) -> float:
        """Seconds for which passes beside this one were held up."""

    @property
    def ready(self) -> bool:
        """Whether the pass has ended, so that `verdict` returns at once."""

    def verdict(self) -> Verdict:
        """Wait for the end of the pass, and choose the tokens. Raises the errors of the pass, and what its
        `progress` raises meanwhile."""

    def cancel(self) -> None:
        """End the pass, and wait for its end. Its results, and its errors if it fails, are dropped."""


class EndedPass:
    """A `Pending` pass that has already run."""

    def __init__(self, choose: Callable[[], Verdict]) -> None:
        """choose: returns the verdict."""
        self._choose = choose
        self.beside: Progress = no_progress
        self.held_s = 0.0
        self.ready = True

    def verdict(self) -> Verdict:
        return self._choose()

    def cancel(self) -> None:
        pass


class Verifier(Protocol):
    """A source of the target's choices: the target itself, or a recording of it."""

    @property
    def capacity(self) -> int:
        """Maximum number of tokens in a sequence."""

    def read(self, prompt: Ids[int], drafter: Drafter, progress: Progress) -> Pending:
        """Start to read a prompt; the first new token is the verdict's `bonus`. progress: as for `launch`."""

    def launch(self, context: Ids[int], proposal: TreeProposal, progress: Progress) -> Pending:
        """Start to verify a tree. `context` ends with the root. progress: called by the thread that calls,
        here or while it waits for the verdict."""

    def commit(self, nodes: Ids[int], tokens: Ids[int]) -> None:
        """Keep the root and these nodes of the last tree, which are a path from the root. tokens: those of
        the root and of the nodes."""
