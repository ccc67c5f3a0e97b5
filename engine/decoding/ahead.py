"""Whether the draft goes on while the target verifies, and how far."""

from collections import deque
from dataclasses import replace
from statistics import median
from typing import Protocol

from engine.decoding.budget import chances_of, on_the_drafters_scale
from engine.decoding.iteration import Iterated, Rule
from engine.decoding.slowdown import Slowdown
from engine.drafting import Drafter, TreeLimits
from engine.model.interface import Model
from engine.protocol import Hindrance, Overlap

# How many nodes may be expanded ahead: so many times the budget, and so many at most. Time ends the growth
# earlier: a draft model expands some hundred nodes in a pass of half a second.
SHARE = 32
MOST = 2048
WORTHWHILE = 0.03  # share of an iteration's time that drafting ahead must be able to win
LAST = 8  # iterations from which that share is taken, and how long an iteration takes
STALE = 64  # iterations after which the other way is tried anew, and a pass no longer shows what rounds cost


class StreamedLink(Protocol):
    """The way on which the target's weights come. `waited_s`: seconds since the start in which the target has
    waited for bytes; `idle_s`: seconds in which the link stood still, because there was no room for more, or
    nobody knew which experts would be next."""

    @property
    def waited_s(self) -> float: ...

    @property
    def idle_s(self) -> float: ...


class Payoff:
    """Measures what drafting ahead can win, and then whether it does.

    Reading goes on while a draft grows the tree, until the ring is full, and the experts are there that the
    next pass of a mixture may choose; from then on the link stands still.
    If the pass then waits for bytes, this time was lost, so the shorter of the two is what drafting ahead can
    win. It is measured in iterations whose tree was begun anew: these take turns even if trees grow ahead.

    What it costs is that the target computes more slowly beside a draft, and that a tree which must hurry may
    be poorer. So where something can be won, some iterations are done either way, and from then on those of
    the way that takes less time per token. A card does not tell when it waits: there, all that is known is
    whether both ways are to be tried. How many tokens a tree gives is largely chance; so those count
    that its drafter promises, on a scale that is the same either way.
    """

    def __init__(self, link: StreamedLink | None) -> None:
        """link: None if it does not tell, so that both ways are tried in any case."""
        self._link = link
        self._before = 0.0, 0.0
        self._shares: deque[float] = deque(maxlen=LAST)
        # Seconds per promised token of iterations, by whether the draft could go on in them.
        self._costs: dict[bool, deque[float]] = {way: deque(maxlen=LAST) for way in (False, True)}
        self._since = 0  # number of iterations since either way was last forgotten
        self._slowdown = Slowdown(STALE)

    @property
    def slowed_s(self) -> float:
        """Seconds by which a round ahead slows the target; 0 until that is known."""
        return self._slowdown.round_s

    @property
    def pays(self) -> bool:
        """Whether the draft should go on; False until an iteration has shown that this can save time, where
        the link tells."""
        if self._link and (not self._shares or median(self._shares) < WORTHWHILE):
            return False
        for way in (True, False):
            if len(self._costs[way]) < LAST:
                return way
        return median(self._costs[True]) < median(self._costs[False])

    def begin(self) -> None:
        """Note that an iteration begins."""
        if self._link:
            self._before = self._link.waited_s, self._link.idle_s

    def observe(self, iteration: Iterated) -> None:
        if not iteration.limits.budget:
            return
        self._slowdown.observe(iteration)
        way, seconds = bool(iteration.limits.ahead), iteration_s(iteration)
        if self._link and not iteration.survivors:
            waited, idle = self._before
            lost = min(self._link.waited_s - waited, self._link.idle_s - idle)
            self._shares.append(lost / seconds)
        if way or not iteration.survivors:  # a tree that grew ahead does not tell what taking turns costs
            self._costs[way].append(seconds / (1 + float(chances_of(iteration.tree).sum())))
        self._since += 1
        if self._since >= STALE:
            self._costs[not way].clear()
            self._since = 0


class GrowingAhead:
    """A rule like `rule`, except that trees also grow while the target verifies them, where that pays.

    What they cost then is hidden behind the pass, as far as they survive its verdict: `rule` learns how far,
    and its limits follow from what is left to wait for. A round that is not hidden must promise as many
    tokens as other iterations give in its time. One that is hidden slows the target: it must promise to save
    as much time of later rounds.
    """

    def __init__(self, rule: Rule, payoff: Payoff | None = None) -> None:
        """payoff: what tells whether growing ahead pays; None: it is done in any case."""
        self._rule = rule
        self._payoff = payoff
        self._past: deque[Iterated] = deque(maxlen=LAST)

    def choose(self) -> TreeLimits:
        limits = self._rule.choose()
        if self._payoff:
            self._payoff.begin()
            if not self._payoff.pays:
                return limits
        return replace(
            limits,
            worth=max(limits.worth, self._worth()),
            ahead=min(SHARE * limits.budget, MOST),
            worth_ahead=max(limits.worth_ahead, self._worth_ahead()),
        )

    def _worth_ahead(self) -> float:
        """Return how many nodes are expanded in turn in the time by which a round ahead slows the target."""
        nodes = sum(each.expanded for each in self._past)
        seconds = sum(each.draft_s for each in self._past)
        return self._payoff.slowed_s * nodes / seconds if self._payoff and seconds else 0.0

    def _worth(self) -> float:
        """Return the number of tokens that are given in the time of a round, on the scale of the drafter's
        chances."""
        rounds = sum(each.rounds for each in self._past)
        seconds = sum(iteration_s(each) for each in self._past)
        if not rounds or not seconds:
            return 0.0
        tokens = sum(len(each.tokens) for each in self._past)
        cost = sum(each.draft_s for each in self._past) / rounds * tokens / seconds
        accepted = sum(len(each.accepted) for each in self._past)
        return on_the_drafters_scale(cost, [chances_of(each.tree) for each in self._past], accepted)

    def observe(self, iteration: Iterated) -> None:
        if self._payoff:
            self._payoff.observe(iteration)
        self._past.append(iteration)
        self._rule.observe(iteration)


def ahead_rule(
    overlap: Overlap,
    drafter: Drafter,
    target: Model,
    rule: Rule,
    payoffs: dict[str, Payoff],
    is_moving: bool,
) -> GrowingAhead | None:
    """Return `rule` with growth ahead; None if the draft is never to compute while the target does.

    payoffs: what was measured so far, by the names of drafters; it is added to. is_moving: whether the plan
    says that moving bytes is what limits the speed. Where it does not, "auto" leaves a graphics card alone.
    """
    if overlap == "off" or hindrance(drafter, target):
        return None
    if overlap == "on":
        return GrowingAhead(rule)
    on_card = target.device != "cpu"
    if on_card and not (is_moving and target.streamer):
        return None
    payoff = Payoff(None if on_card else target.streamer)
    return GrowingAhead(rule, payoffs.setdefault(drafter.name, payoff))


def hindrance(drafter: Drafter, target: Model) -> Hindrance | None:
    """Return why this drafter cannot go on while this target verifies; None if it can."""
    if not drafter.drafts_ahead:
        return "drafter"
    if not target.runs_apart:
        return "card"
    if target.device == "cpu" and not (target.streamer and target.streamer.pass_nbytes):
        return "memory"
    return None


def iteration_s(iteration: Iterated) -> float:
    return iteration.draft_s + iteration.target_s + iteration.other_s
