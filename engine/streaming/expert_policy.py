"""Expects which experts of a model's mixtures are used soon. This module itself moves nothing."""

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.routing import RoutingCounts
from engine.streaming.early_routers import PLACES, RECALLED, EarlyChoice, EarlyRouters
from engine.streaming.token_experts import TokenExperts

# Factor by which a pass weighs less with each pass after it: what 200 passes taught is remembered, so that
# the experts of another subject replace those of the one before.
DECAY = 0.995
# Passes of the mean expert that are added to the counts of each: one that no pass has used may be used yet.
PRIOR = 0.3
# A pass that uses a larger share of a mixture's experts, such as one over a prompt, says little of the next.
MOST = 0.5
# The least chance with which an expert is read before its mixture has chosen.
LIKELY = 0.25
# Of n experts in a cache that is asked first, the likeliest ones are expected to stay there, and none that
# is beyond rank STAY * n by its chance. In replays of made-up routing, a cache behind it then reads as little
# as with a policy that learns from the misses of the first one, whatever the sizes of the two are.
STAY = 2


class ExpertPolicy:
    """The chance that each expert is used when its mixture's turn comes next, and what follows from it.

    A pass uses an expert because the token before the pass did (with a chance common to all experts:
    consecutive tokens choose much the same), or because the expert is drawn (with a chance of its own,
    learned from the passes before which it was not used). An expert in memory is worth chance / d, where d is
    the number of turns until that of its mixture: the misses that it saves for each turn in which it takes up
    a slot. Where experts are independent and many, leaving out what is worth least is optimal (Whittle's
    index; Weber and Weiss, "On an index policy for restless bandits", 1990).

    Where the router of a mixture has been asked early, chances follow from what it said instead: for that
    turn only, so what it did not choose is still worth what a later turn makes of it. So they do from what
    the tokens of the pass chose there last, where this costs less waiting than asking.

    Attributes: `wanted`: the experts that the mixture in turn still uses, in the order of use; `chances`, of
    those whose router has not been asked; `learns`: whether passes teach anything; `early`: what it is worth
    to ask early; `was_told`: what `expect` told of the mixture in turn, None if nothing; `rows`: of the pass,
    0 if they are not known.
    """

    def __init__(self, mixtures: Sequence[int], counts: RoutingCounts | None = None) -> None:
        """mixtures: for each expert the number of its mixture, in the order of use. counts: those of earlier
        answers; None for none."""
        numbers, turns = np.unique(mixtures, return_inverse=True)
        self._turn_of: dict[int, int] = {int(number): turn for turn, number in enumerate(numbers)}
        self._turns = turns.reshape(-1)  # of each expert
        self._members = [np.flatnonzero(self._turns == turn) for turn in range(len(numbers))]
        self._used = np.zeros(len(mixtures), np.bool_)  # by the last token, or by the last pass
        self._drawn = np.zeros(len(mixtures))  # decayed number of passes that drew each expert
        self._fresh = np.zeros(len(mixtures))  # decayed number of passes that could draw it
        self._stayed = self._stays = 0.0  # experts that a pass used again, and could have used again
        self._passes = np.zeros(len(numbers))  # decayed number of passes of each mixture
        self._others = self._apart = 0.0  # decayed numbers of rows, as in `RoutingCounts`
        if counts and len(counts.drawn) == len(mixtures):
            self._drawn[:], self._fresh[:] = counts.drawn, counts.fresh
            self._stayed, self._stays = counts.stayed, counts.stays
            self._passes[:] = counts.passes
            self._others, self._apart = counts.others, counts.apart
        self._now = len(numbers) - 1
        self._rows: dict[int, Sequence[Sequence[int]]] = {}  # the experts of each row, by mixture
        self.chances = np.zeros(len(mixtures))
        # Computed when they are needed: what experts are worth, their ranks by chance, and the likely ones.
        self._worth: NDArray[np.float64] | None = None
        self._ranked: NDArray[np.int64] | None = None
        self._likely: list[int] | None = None
        self.early = EarlyRouters(len(numbers))
        self.was_told: EarlyChoice | None = None
        self.rows = 0
        # By turn: what its router has said, and the chances of its experts, which follow from that.
        self._told: dict[int, tuple[EarlyChoice, NDArray[np.float64]]] = {}
        # By turn: how early its router could be asked last, and how early it is asked, 0 if it is not.
        self._asked: dict[int, tuple[int, int]] = {}
        self._ahead: int | None = None  # how early that of the mixture in turn was; None if it could not be
        self._tokens = TokenExperts(self._members)
        self._unrecalled = len(numbers)  # the first turn of the pass of which nothing has been recalled yet
        self.wanted: list[int] = []
        self.learns = True
        for turn in range(len(numbers)):
            self._expect(turn)
        self._outdate()

    @property
    def counts(self) -> RoutingCounts:
        """What the passes have taught so far."""
        return RoutingCounts(
            tuple(self._drawn.round(3).tolist()),
            tuple(self._fresh.round(3).tolist()),
            round(float(self._stayed), 3),
            round(float(self._stays), 3),
            round(float(self._passes.max()), 3),
            round(self._others, 3),
            round(self._apart, 3),
        )

    def choose(self, mixture: int, wanted: Sequence[int], rows: Sequence[Sequence[int]] = ()) -> None:
        """Note that it is the turn of `mixture`, and that this pass uses the `wanted` of its experts. rows:
        those of each row, for `kept`; empty if they are not known."""
        self._now = self._turn_of[mixture]
        self._rows[mixture], self.rows = rows, len(rows)
        ours = self._members[self._now]
        self.wanted = list(wanted)
        self.was_told = self._told.pop(self._now)[0] if self._now in self._told else None
        _, self._ahead = self._asked.pop(self._now, (0, None))
        # What a pass has left behind that ended early is stale.
        self._told = {turn: told for turn, told in self._told.items() if self._until(turn) < told[0].ahead}
        self._asked = {turn: asked for turn, asked in self._asked.items() if self._until(turn) < asked[0]}
        if self.learns and len(rows) > 1:
            self._compare(rows, len(self.wanted), len(ours))
        if self.learns:
            self._tokens.learn(self._now, rows)
        if self.learns and len(wanted) <= MOST * len(ours):
            before = self._used[ours]
            self._used[ours] = False
            self._used[self.wanted] = True
            now = self._used[ours]
            self._stayed = self._stayed * DECAY + np.count_nonzero(now & before)
            self._stays = self._stays * DECAY + np.count_nonzero(before)
            self._drawn[ours] = self._drawn[ours] * DECAY + (now & ~before)
            self._fresh[ours] = self._fresh[ours] * DECAY + ~before
            self._passes[self._now] = self._passes[self._now] * DECAY + 1
            if self.was_told:
                self.early.learn(self.was_told, now)
            self._expect(self._now)
        self._outdate()

    def forget_told(self) -> None:
        """Forget what a router was asked early: no pass goes on that would choose by it."""
        self._told, self.was_told = {}, None
        self._asked, self._ahead = {}, None
        self._unrecalled = len(self._members)
        self._outdate()

    def begin(self, tokens: Sequence[int]) -> None:
        """Note that a pass over these tokens begins, one for each row; none if it teaches nothing."""
        self.forget_told()
        self._now = len(self._members) - 1
        self.rows = len(tokens)
        if not self.learns:
            tokens = ()
        self._tokens.begin(tokens)
        self._unrecalled = 0 if tokens else len(self._members)
        self._outdate()

    def recall(self, ready: NDArray[np.bool_]) -> int:
        """Expect what the tokens of the pass chose when they were last read, in mixtures that come up to
        RECALLED turns later, where this pays; return in how many. ready: bool [experts], those in memory;
        nothing is recalled of a mixture that lacks none."""
        last = min((self._now + 1) % len(self._members) + RECALLED, len(self._members))
        turns = range(self._unrecalled, last)
        self._unrecalled = max(self._unrecalled, last)
        return sum(self._recall(turn) for turn in turns if not ready[self._members[turn]].all())

    def _recall(self, turn: int) -> bool:
        """Recall what the tokens chose in the mixture with this turn, if that pays; return whether it did."""
        chosen = self._tokens.said(turn)
        if not len(chosen):
            return False
        pays = self.early.pays(turn, RECALLED, self.rows)
        self._asked[turn] = RECALLED, RECALLED if pays else 0
        self._outdate()
        if pays:
            self._tell(turn, RECALLED, chosen)
        return pays

    def asks(self, mixture: int, ahead: int) -> bool:
        """Return whether the router of the mixture that comes so many turns after the one in turn is to be
        asked now. If so, nothing is guessed of its experts until `expect` tells what it says."""
        turn = self._turn_of[mixture]
        self.early.offer(turn, ahead, self.rows)
        if turn in self._told:
            return False
        asks = self.early.pays(turn, ahead, self.rows)
        self._asked[turn] = ahead, ahead if asks else 0
        self._outdate()
        return asks

    def waited(self, seconds: float) -> None:
        """Note how long the mixture in turn has waited for its experts, all of which it has got."""
        if self._ahead is not None:
            self.early.waited(seconds, self._now, self._ahead, self.rows)
            self._ahead = None

    def expect(self, rows: Sequence[Sequence[int]]) -> None:
        """Note what the router of a mixture whose turn comes soon chooses for each row, the likeliest expert
        first, from states that are not yet those that it will get."""
        turn = int(self._turns[rows[0][0]])
        self._tell(turn, self._until(turn), np.searchsorted(self._members[turn], np.array(rows)))

    def _tell(self, turn: int, ahead: int, chosen: NDArray[np.int64]) -> None:
        """Expect these experts of the mixture with this turn. chosen: [rows, k], numbers in the mixture, the
        likeliest first. ahead: as that of `EarlyChoice`."""
        ours = self._members[turn]
        places = np.full(len(ours), PLACES)
        by_place = np.minimum(np.arange(chosen.shape[1]), PLACES - 1)
        # The likeliest is written last: of several places, the first one stays.
        places[chosen.T[::-1].ravel()] = np.repeat(by_place[::-1], len(chosen))
        said = EarlyChoice(turn, ahead, places, self._used[ours], self.chances[ours])
        self._told[turn] = said, self.early.chances(said)
        self._outdate()

    def _compare(self, rows: Sequence[Sequence[int]], used: int, experts: int) -> None:
        """Learn from a pass how many experts its rows share: n rows that choose on their own, and evenly,
        leave out a share of (1 - chosen / experts) ** n of a mixture's experts."""
        others, chosen = len(rows) - 1, len(rows[0])
        apart = float(others)
        if used < experts:
            apart = math.log(1 - used / experts) / math.log(1 - chosen / experts) - 1
        self._others = self._others * DECAY + others
        self._apart = self._apart * DECAY + min(max(apart, 0.0), others)

    def kept(self, row: int) -> None:
        """Note that the pass has ended, and that the text goes on behind this row of it."""
        last = [expert for rows in self._rows.values() if row < len(rows) for expert in rows[row]]
        self._rows.clear()
        if last and self.learns:
            self.end(last)

    def end(self, last: Sequence[int]) -> None:
        """Note that the last token of the pass that is kept chose the experts `last`, of any mixtures: the
        next pass begins where this token ends. Without this, all experts that a pass used count as such."""
        chosen = np.array(last)
        turns = np.unique(self._turns[chosen]).tolist()
        for turn in turns:
            self._used[self._members[turn]] = False
        self._used[chosen] = True
        for turn in turns:
            self._expect(turn)
        self._outdate()

    def use(self, expert: int) -> None:
        """Note that `expert` is used now; its next use is in another pass."""
        if expert in self.wanted:  # mostly the first one
            self.wanted.remove(expert)

    def worth(self, elsewhere: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """Return what each expert is worth in memory: more than 1 if it is wanted, the more the sooner.
        elsewhere: bool [experts], those in a cache that is asked first; None for none. They are worth the
        less here the surer they stay there: the likeliest one is worth nothing."""
        worth = self._worths().copy()
        worth[self.wanted] = 2 - np.arange(len(self.wanted)) / max(len(self.wanted), 1)
        if elsewhere is not None and (count := np.count_nonzero(elsewhere)):
            worth[elsewhere] *= np.minimum(self._ranks()[elsewhere] / (STAY * count), 1)
        return worth

    def out(
        self,
        ready: NDArray[np.bool_],
        expert: int,
        of_wanted: bool,
        held: Collection[int],
        elsewhere: NDArray[np.bool_] | None = None,
    ) -> int | None:
        """Return the expert that makes room for `expert`: the one that is worth least, if that is less than
        `expert` is; None if there is none.

        ready: bool [experts], those in the cache. of_wanted: whether an expert that is wanted may make room.
        held: the experts in use, which stay. elsewhere: as for `worth`.
        """
        worth = self.worth(elsewhere)
        worth[list(held)] = np.inf
        candidates = ready if of_wanted else ready & (worth <= 1)
        least = int(np.where(candidates, worth, np.inf).argmin())
        return least if candidates[least] and worth[least] < worth[expert] else None

    def guess(self) -> list[int]:
        """Return the experts that the mixture whose turn comes next is likely to choose, likeliest first;
        then those of later ones, if their routers have been asked, or tokens' choices have been recalled."""
        if self._likely is None:
            self._likely = self._guessed()
        return self._likely

    def _guessed(self) -> list[int]:
        likely: list[int] = []
        for until in range(1, RECALLED + 1):
            turn = (self._now + until) % len(self._members)
            ours = self._members[turn]
            if turn in self._told:
                likely += _sorted(ours, self._told[turn][1], LIKELY)
            elif turn in self._asked and self._asked[turn][1]:
                break  # it will say so
            elif until == 1:
                likely += _sorted(ours, self.chances[ours], LIKELY)
        return likely

    def members(self, mixture: int) -> NDArray[np.int64]:
        """Return the experts of a mixture."""
        return self._members[self._turn_of[mixture]]

    def following(self) -> list[int]:
        """Return all experts of the mixture whose turn comes next, in the order of use."""
        experts: list[int] = self._members[(self._now + 1) % len(self._members)].tolist()
        return experts

    def common(self) -> list[int]:
        """Return the experts that any pass was seen to use, likeliest first."""
        seen = np.flatnonzero((self._drawn > 0) | self._used)
        return _sorted(seen, self.chances[seen], 0.0)

    def _until(self, turn: int) -> int:
        """Return after how many turns this one comes."""
        return (turn - self._now - 1) % len(self._members) + 1

    def _ranks(self) -> NDArray[np.int64]:
        """Return the place of each expert in the order of chances, 0 for the likeliest."""
        if self._ranked is None:
            self._ranked = np.empty(len(self.chances), np.int64)
            self._ranked[np.argsort(-self.chances, kind="stable")] = np.arange(len(self.chances))
        return self._ranked

    def _expect(self, turn: int) -> None:
        """Compute the chances of the experts of the mixture with this turn."""
        ours = self._members[turn]
        mean = (self._drawn.sum() + PRIOR) / (self._fresh.sum() + len(ours) * PRIOR)
        drawn = (self._drawn[ours] + PRIOR) / (self._fresh[ours] + PRIOR / mean)
        used = self._used[ours]
        again = (self._stayed + PRIOR) / (self._stays + 2 * PRIOR)
        # Of those that were used again, some were drawn; those that are used often are drawn often.
        often = float(drawn @ drawn / drawn.sum())
        stay = max(0.0, (again - often) / max(1 - often, PRIOR / 100))
        self.chances[ours] = np.where(used, stay + (1 - stay) * drawn, drawn)

    def _outdate(self) -> None:
        """Note that `worth` and `guess` have to be computed anew, which is done when they are asked for."""
        self._worth = self._ranked = self._likely = None

    def _worths(self) -> NDArray[np.float64]:
        """Return what `worth` returns of experts that are not wanted."""
        if self._worth is None:
            until = (np.arange(len(self._members)) - self._now - 1) % len(self._members) + 1
            self._worth = self.chances / until[self._turns]
            for turn, (said, soon) in self._told.items():
                later = (soon + said.usual) / (until[turn] + len(self._members))
                self._worth[self._members[turn]] = np.maximum(soon / until[turn], later)
        return self._worth


def _sorted(experts: NDArray[np.int64], chances: NDArray[np.float64], least: float) -> list[int]:
    """Return the experts with at least this chance, likeliest first. chances: those of `experts`."""
    likely = chances >= least
    found: list[int] = experts[likely][np.argsort(-chances[likely], kind="stable")].tolist()
    return found
