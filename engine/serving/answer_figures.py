"""What is counted and measured of an answer in progress (docs/design.md, section 3)."""

import time
from dataclasses import dataclass
from typing import Literal

from engine import firsts, protocol
from engine.decoding.iteration import Iterated
from engine.model.sequence import Sequence
from engine.planner import Answered
from engine.serving.pair import tier_of
from engine.streaming import ExpertCounts
from engine.streaming.expert_counts import done_since


@dataclass(frozen=True, slots=True)
class BegunAnswer:
    """What an answer had committed and counted when an error ended it, so that another pair can go on from
    there. It refers to no model.

    Attributes: `started`, `first`: when the request and the first token came, as time.perf_counter gave it;
    `moved`: bytes streamed for it; `experts`: what the cache of experts did for it; the others are named as
    in `protocol.Answer`.
    """

    tokens: list[int]
    log_probs: list[protocol.TokenLogProbs]
    budgets: list[int]
    drafted: list[int]
    accepted: list[int]
    seconds: protocol.Seconds
    started: float
    first: float
    moved: int
    experts: ExpertCounts | None


@dataclass(frozen=True, slots=True)
class PassFigures:
    """What one iteration took: seconds by phase, bytes streamed, and what the cache of experts did."""

    seconds: protocol.Seconds
    moved: int
    experts: protocol.ExpertFigures | None


@dataclass(slots=True)
class _UsualPass:
    number: int
    budget: int
    draft_s: float
    target_s: float  # all other seconds
    tokens: int = 0


class AnswerFigures:
    """Counts the passes of an answer and what they take.

    Attributes, as in `protocol.Answer`: `passes`; `seconds`; for each pass, `budgets`, `drafted` and
    `accepted`.
    """

    def __init__(self, target: Sequence, started: float) -> None:
        """started: the time at which the request arrived, as time.perf_counter gave it."""
        self.seconds = protocol.Seconds()
        self.budgets: list[int] = []
        self.drafted: list[int] = []
        self.accepted: list[int] = []
        self._usual: list[_UsualPass] = []
        self._firsts = firsts.count()  # before this pass
        self._model = target.model
        self._tier = tier_of(target)
        self._started = self._first = self._last = started
        self._waited_s = self._model.waited_s
        # What was streamed, and what the cache of experts had done, before the answer and before this pass.
        self._moved = self._moved_before = self._model.moved
        self._experts = self._experts_before = self._model.experts

    @property
    def passes(self) -> int:
        """The number of target passes, without the prefill."""
        return len(self.budgets)

    @property
    def since_first_s(self) -> float:
        """Seconds from the first token to the last pass."""
        return self._last - self._first

    @property
    def to_first_s(self) -> float:
        """Seconds from the request to the first token."""
        return self._first - self._started

    @property
    def moved(self) -> int:
        """Bytes streamed for the answer."""
        return self._model.moved - self._moved

    @property
    def experts(self) -> protocol.ExpertFigures | None:
        """What the cache of experts has done for the answer; None if there is none."""
        return _told(done_since(self._experts, self._model.experts), self._tier)

    @property
    def usual(self) -> Answered:
        """The figures of the passes in which nothing was done once and for all, such as recording them on a
        card. The others do not tell how long the next ones will take."""
        return Answered(
            budgets=[each.budget for each in self._usual],
            tokens=sum(each.tokens for each in self._usual),
            draft_s=sum(each.draft_s for each in self._usual),
            target_s=sum(each.target_s for each in self._usual),
        )

    @property
    def link_gb_per_s(self) -> float | None:
        """What was streamed in a second, on average; None if nothing was."""
        moved = self.moved
        return moved / 1e9 / (self._last - self._started) if moved else None

    def tokens_per_second(self, tokens: int) -> float | None:
        """Return the speed of an answer of so many tokens, the first not counted; None if no time has
        passed since that."""
        elapsed = self.since_first_s
        return (tokens - 1) / elapsed if elapsed > 0 else None

    def begun(self, tokens: list[int], log_probs: list[protocol.TokenLogProbs]) -> BegunAnswer:
        """Return the figures so far of an answer with these tokens."""
        return BegunAnswer(
            tokens=tokens,
            log_probs=log_probs,
            budgets=self.budgets,
            drafted=self.drafted,
            accepted=self.accepted,
            seconds=self.seconds,
            started=self._started,
            first=self._first,
            moved=self.moved,
            experts=done_since(self._experts, self._model.experts),
        )

    def resume(self, begun: BegunAnswer) -> None:
        """Go on with the figures of an answer that another pair has begun."""
        self.budgets, self.drafted, self.accepted = begun.budgets, begun.drafted, begun.accepted
        self.seconds = begun.seconds
        self._started, self._first, self._last = begun.started, begun.first, time.perf_counter()
        self._moved -= begun.moved
        if self._experts and begun.experts:
            self._experts -= begun.experts

    def note_prefill(self) -> None:
        """Note that the prompt has been read, which gave the first token."""
        self._first = self._last = time.perf_counter()
        self._begin_passes()

    def note_reread(self) -> None:
        """Note that prompt and answer have been read again, in a pass that gave a token but verified no
        tree."""
        now = time.perf_counter()
        for column in (self.budgets, self.drafted, self.accepted):
            column.append(0)
        self.seconds.other += now - self._last
        self._last = now
        self._begin_passes()

    def note_pass(self, iteration: Iterated) -> PassFigures:
        """Add a pass over a tree; return what it took. How many nodes were accepted up to the end of the
        answer is told by `note_committed`."""
        self._last = time.perf_counter()
        firsts_before, self._firsts = self._firsts, firsts.count()
        if self._firsts == firsts_before:
            target_s = iteration.target_s + iteration.other_s
            self._usual.append(_UsualPass(self.passes, iteration.limits.budget, iteration.draft_s, target_s))
        self.budgets.append(iteration.limits.budget)
        self.drafted.append(len(iteration.tree))
        wait_s = self._model.waited_s - self._waited_s
        self._waited_s += wait_s
        seconds = protocol.Seconds(
            draft=iteration.draft_s,
            target=iteration.target_s - wait_s,
            stream_wait=wait_s,
            other=iteration.other_s,
        )
        for phase in protocol.Seconds.__struct_fields__:
            setattr(self.seconds, phase, getattr(self.seconds, phase) + getattr(seconds, phase))
        moved = self._model.moved - self._moved_before
        self._moved_before += moved
        experts, before = self._model.experts, self._experts_before
        self._experts_before = experts
        return PassFigures(seconds, moved, _told(done_since(before, experts), self._tier))

    def note_committed(self, nodes: int, tokens: int) -> None:
        """Add the number of nodes that the last pass accepted, and of tokens that it added to the answer."""
        self.accepted.append(nodes)
        if self._usual and self._usual[-1].number == self.passes - 1:
            self._usual[-1].tokens = tokens

    def _begin_passes(self) -> None:
        """Count from here what the next pass does, streams and waits for."""
        self._firsts = firsts.count()
        self._waited_s = self._model.waited_s
        self._moved_before = self._model.moved
        self._experts_before = self._model.experts


def _told(counts: ExpertCounts | None, tier: Literal["vram", "ram"]) -> protocol.ExpertFigures | None:
    if counts is None:
        return None
    by_layer = [(layer, *uses) for layer, uses in sorted(counts.by_layer.items())]
    return protocol.ExpertFigures(
        hits=counts.hits,
        late=counts.late,
        misses=counts.misses,
        bytes_read=counts.read,
        predicted=counts.predicted,
        right=counts.right,
        tier=tier,
        bytes_from_disk=counts.from_disk,
        near=counts.near,
        near_by_layer=by_layer if counts.near else [],
        ram=_told(counts.ram, "ram"),
    )
