"""`specexec bench experts`: replays a made-up routing of a mixture of experts through the cache's policy, and
compares its hit rate with the best that any policy could reach on that routing, and with the usual one.

Nothing is read and no model is needed: the routing's skew and overlap are options, and stand in the table.
"""

import argparse
import json
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.bench.made_routing import MixtureTurn, Routing, chances, routed
from engine.bench.options import numbers
from engine.errors import BadOption
from engine.terminal import Commands, add_command

if TYPE_CHECKING:  # imports the compiler
    from engine.streaming.expert_policy import ExpertPolicy

Turns = Sequence[MixtureTurn]
Hits = NDArray[np.bool_]  # for each chosen expert of each turn, whether it was in the cache
# What routers choose that are asked at one time: for each the experts of each row, the likeliest first.
Asked = Sequence[Sequence[Sequence[int]]]


@dataclass(frozen=True, slots=True)
class HitRates:
    """Shares of the chosen experts that were in a cache of a `share` of all experts.

    Attributes: `ours`: by the engine's policy; `knowing`: by the same policy if it knows the chances that
    generate the routing. Both are told the choices of a pass's last token once it has ended, since
    verification decides which token that is. `best`: by Belady's optimum (1966), which knows the future;
    `recent`: by leaving out the least recently used.
    """

    share: float
    ours: float
    knowing: float
    best: float
    recent: float


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "experts",
        run,
        "compare the cache of a mixture's experts with the best possible one",
        "Replays a made-up routing through the policy of the cache of experts, for several sizes of the "
        "cache, and prints its hit rates beside those of the same policy if it knew the routing's chances, "
        "of Belady's optimum, which knows the future, and of the usual policy (least recently used). The "
        "shape is that of Qwen3-30B-A3B unless options say otherwise.",
    )
    usual = Routing()
    for name, kind, what in (
        ("layers", int, "layers, each with a mixture"),
        ("experts", int, "experts of a layer"),
        ("chosen", int, "experts that a token chooses in a layer"),
        ("rows", int, "tokens in a pass"),
        ("passes", int, "number of passes"),
        ("skew", float, "the expert of rank r is drawn in proportion to 1 / r^SKEW"),
        ("overlap", float, "chance that a token chooses an expert because the token before has"),
        ("seed", int, "seed of the routing"),
    ):
        default = getattr(usual, name)
        parser.add_argument(
            f"--{name}", type=kind, default=default, metavar="N", help=f"{what} (default: {default})"
        )
    parser.add_argument(
        "--before",
        type=int,
        default=0,
        metavar="N",
        help="passes before the counted ones, so that the cache is full and the policy has learned "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--shares",
        default="0.1,0.25,0.4,0.6",
        metavar="LIST",
        help="sizes of the cache as shares of all experts, separated by commas (default: %(default)s)",
    )


def run(parsed: argparse.Namespace) -> int:
    shares = numbers("shares", parsed.shares, float)
    if not all(0 < share <= 1 for share in shares):
        raise BadOption("A share of all experts is more than 0 and at most 1.", "Change --shares.")
    if parsed.before < 0:
        raise BadOption("The number of passes before the counted ones is negative.", "Change --before.")
    routing = Routing(**{name: getattr(parsed, name) for name in Routing.__slots__})
    turns = list(routed(replace(routing, passes=parsed.before + routing.passes)))
    rates = [measure(turns, routing, share, parsed.before) for share in shares]
    again = kept(turns, routing.layers)
    if parsed.json:
        print(json.dumps({**asdict(routing), "repeated": again, "rates": [asdict(each) for each in rates]}))
    else:
        print("\n".join(table(routing, again, rates)))
    return 0


def kept(turns: Turns, layers: int) -> float:
    """Return the share of a pass's experts that the pass before had chosen too."""
    pairs = [(set(old.wanted), new.wanted) for old, new in zip(turns, turns[layers:], strict=False)]
    return sum(len(old.intersection(new)) for old, new in pairs) / max(1, sum(len(new) for _, new in pairs))


def measure(turns: Turns, routing: Routing, share: float, before: int = 0) -> HitRates:
    """Replay the turns through caches of a `share` of all experts, which begin empty. before: number of
    passes that are replayed and not counted."""
    from engine.streaming.expert_policy import ExpertPolicy  # imports the compiler

    count = routing.layers * routing.experts
    slots = max(2, int(share * count))
    mixtures = np.repeat(np.arange(routing.layers), routing.experts).tolist()
    first = sum(len(turn.wanted) for turn in turns[: before * routing.layers])

    def rate(hits: Hits) -> float:
        return float(hits[first:].mean())

    return HitRates(
        share,
        rate(hits_of_policy(turns, ExpertPolicy(mixtures), slots)),
        rate(hits_of_policy(turns, _knowing(mixtures, routing), slots)),
        rate(hits_of_best(turns, count, slots)),
        rate(hits_of_recent(turns, slots)),
    )


def _knowing(mixtures: Sequence[int], routing: Routing) -> "ExpertPolicy":
    """Return the engine's policy with the true chances instead of learned ones."""
    from engine.streaming.expert_policy import ExpertPolicy

    drawn, again = chances(routing)

    class Knowing(ExpertPolicy):
        def choose(self, mixture: int, wanted: Sequence[int], rows: Sequence[Sequence[int]] = ()) -> None:
            self._know(mixture, wanted)
            super().choose(mixture, wanted, rows)

        def end(self, last: Sequence[int]) -> None:
            self._know(last[0] // routing.experts, last)
            super().end(last)

        def _know(self, mixture: int, used: Sequence[int]) -> None:
            """used: by the pass, or, once it has ended, by its last token."""
            ours = slice(mixture * routing.experts, (mixture + 1) * routing.experts)
            self.chances[ours] = drawn[ours]
            self.chances[list(used)] = again[list(used)]

        def _expect(self, turn: int) -> None:
            """Learn nothing."""

    return Knowing(mixtures)


def hits_of_policy(
    turns: Turns,
    policy: "ExpertPolicy",
    slots: int,
    reads: int = 0,
    early: Sequence[Asked] = (),
) -> Hits:
    """Return the hits by the engine's policy. reads: how many experts there is time to read before the next
    mixture chooses. early: for each turn, what routers of later ones say that are asked when it has chosen;
    empty if none are."""
    ready = np.zeros(len(policy.chances), np.bool_)
    hits: list[bool] = []

    def bring(expert: int, of_wanted: bool, held: Sequence[int]) -> None:
        if np.count_nonzero(ready) == slots:
            out = policy.out(ready, expert, of_wanted, held)
            if out is None:
                return
            ready[out] = False
        ready[expert] = True

    for number, turn in enumerate(turns):
        policy.choose(turn.mixture, turn.wanted)
        for expert in turn.wanted:
            policy.use(expert)
            hits.append(bool(ready[expert]))
            if not ready[expert]:
                bring(expert, True, [expert])
        policy.end(turn.last)
        for said in early[number] if early else ():
            policy.expect(said)
        lacking = [expert for expert in policy.guess() if not ready[expert]] if reads else []
        for expert in lacking[:reads]:
            bring(expert, False, [])
    return np.array(hits)


def hits_of_best(turns: Turns, count: int, slots: int) -> Hits:
    """Return the hits if the expert that is used last again makes room (Belady's optimum). count: of all
    experts."""
    uses = [expert for turn in turns for expert in turn.wanted]
    again = np.full(len(uses), len(uses))  # for each use, when the same expert is used next
    seen: dict[int, int] = {}
    for place in range(len(uses) - 1, -1, -1):
        again[place] = seen.get(uses[place], len(uses))
        seen[uses[place]] = place
    until = np.full(count, -1)  # when the experts in the cache are used next; -1: not in it
    hits = np.zeros(len(uses), np.bool_)
    held = 0
    for place, expert in enumerate(uses):
        if until[expert] >= 0:
            hits[place] = True
        elif held < slots:
            held += 1
        else:
            until[int(until.argmax())] = -1
        until[expert] = again[place]
    return hits


def hits_of_recent(turns: Turns, slots: int) -> Hits:
    """Return the hits if the least recently used expert makes room."""
    cache: OrderedDict[int, None] = OrderedDict()
    hits: list[bool] = []
    for turn in turns:
        for expert in turn.wanted:
            hits.append(expert in cache)
            cache[expert] = None
            cache.move_to_end(expert)
            if len(cache) > slots:
                cache.popitem(last=False)
    return np.array(hits)


def table(routing: Routing, again: float, rates: Sequence[HitRates]) -> Iterator[str]:
    yield (
        f"{routing.layers} layers, {routing.chosen} of {routing.experts} experts, {routing.rows} rows, "
        f"{routing.passes} passes; skew {routing.skew:g}, {again:.0%} of a pass's experts were the last one's"
    )
    yield "| cache | hits | chances known | Belady's optimum | least recently used |"
    yield "|---|---|---|---|---|"
    for each in rates:
        yield (
            f"| {each.share:.0%} | {each.ours:.1%} | {each.knowing:.1%} | {each.best:.1%} "
            f"| {each.recent:.1%} |"
        )
