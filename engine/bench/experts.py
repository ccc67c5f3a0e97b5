"""`specexec bench experts`: replays a made-up routing of a mixture of experts through the cache's policy, and
compares its hit rate with the best that any policy could reach on that routing, and with the usual one.

Nothing is read and no model is needed: the routing's skew and overlap are options, and stand in the table.
"""

import argparse
import json
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from engine.bench.options import numbers
from engine.errors import BadOption
from engine.terminal import Commands, add_command

# For each turn of a mixture, in the order of a pass: its number, and the experts it chooses, numbered among
# those of all mixtures, in ascending order.
Turns = Sequence[tuple[int, list[int]]]


@dataclass(frozen=True, slots=True)
class Routing:
    """A mixture's shape, and how its tokens are routed.

    Attributes: `layers`; `experts` of each layer; `chosen` by each token; `rows`: consecutive tokens in a
    pass; `passes`; `skew`: in each layer, the expert of rank r is drawn in proportion to r ** -skew;
    `overlap`: the chance that a token chooses an expert because the token before has; `seed`.
    """

    layers: int = 48
    experts: int = 128
    chosen: int = 8
    rows: int = 1
    passes: int = 200
    skew: float = 1.0
    overlap: float = 0.6
    seed: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.chosen < self.experts or min(self.layers, self.rows, self.passes) < 1:
            raise BadOption(
                f"A routing of {self.chosen} of {self.experts} experts in {self.layers} layers, {self.rows} "
                f"rows and {self.passes} passes is none.",
                "Give whole numbers of at least 1, and more experts than are chosen.",
            )
        if not 0 <= self.overlap <= 1 or not 0 <= self.skew <= 10:
            raise BadOption(
                f"The overlap {self.overlap} or the skew {self.skew} is out of range.",
                "The overlap is 0 to 1, the skew 0 to 10.",
            )


@dataclass(frozen=True, slots=True)
class HitRates:
    """Shares of the chosen experts that were in a cache of a `share` of all experts: by the engine's policy,
    by the best one, which knows the future (Belady, 1966), and by leaving out the least recently used."""

    share: float
    ours: float
    best: float
    recent: float


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "experts",
        run,
        "compare the cache of a mixture's experts with the best possible one",
        "Replays a made-up routing through the policy of the cache of experts, for several sizes of the "
        "cache, and prints its hit rates beside those of Belady's optimum and of the usual policy (least "
        "recently used). The shape is that of Qwen3-30B-A3B unless options say otherwise.",
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
        "--shares",
        default="0.1,0.25,0.4,0.6",
        metavar="LIST",
        help="sizes of the cache as shares of all experts, separated by commas (default: %(default)s)",
    )


def run(parsed: argparse.Namespace) -> int:
    shares = numbers("shares", parsed.shares, float)
    if not all(0 < share <= 1 for share in shares):
        raise BadOption("A share of all experts is more than 0 and at most 1.", "Change --shares.")
    routing = Routing(**{name: getattr(parsed, name) for name in Routing.__slots__})
    turns = list(routed(routing))
    rates = [measure(turns, routing, share) for share in shares]
    again = kept(turns, routing.layers)
    if parsed.json:
        print(json.dumps({**asdict(routing), "repeated": again, "rates": [asdict(each) for each in rates]}))
    else:
        print("\n".join(table(routing, again, rates)))
    return 0


def routed(routing: Routing) -> Iterator[tuple[int, list[int]]]:
    """Yield the turns of each pass after the other."""
    random = np.random.default_rng(routing.seed)
    ranked = np.arange(1.0, routing.experts + 1) ** -routing.skew
    likely = [random.permutation(ranked) for _ in range(routing.layers)]
    last = [np.zeros(0, np.int64) for _ in range(routing.layers)]
    for _ in range(routing.passes):
        for layer in range(routing.layers):
            chosen: set[int] = set()
            for _ in range(routing.rows):
                stay = last[layer][random.random(len(last[layer])) < routing.overlap]
                chances = likely[layer].copy()
                chances[stay] = 0
                drawn = random.choice(
                    routing.experts, routing.chosen - len(stay), False, chances / chances.sum()
                )
                last[layer] = np.concatenate([stay, drawn])
                chosen.update(last[layer].tolist())
            yield layer, sorted(layer * routing.experts + expert for expert in chosen)


def kept(turns: Turns, layers: int) -> float:
    """Return the share of a pass's experts that the pass before had chosen too."""
    pairs = [(set(before[1]), now[1]) for before, now in zip(turns, turns[layers:], strict=False)]
    return sum(len(before.intersection(now)) for before, now in pairs) / max(1, sum(len(n) for _, n in pairs))


def measure(turns: Turns, routing: Routing, share: float) -> HitRates:
    """Replay the turns through caches of a `share` of all experts."""
    count = routing.layers * routing.experts
    slots = max(2, int(share * count))
    total = sum(len(wanted) for _, wanted in turns)
    of_expert = np.repeat(np.arange(routing.layers), routing.experts).tolist()
    return HitRates(
        share,
        hits_of_policy(turns, of_expert, slots) / total,
        hits_of_best(turns, count, slots) / total,
        hits_of_recent(turns, slots) / total,
    )


def hits_of_policy(turns: Turns, mixtures: Sequence[int], slots: int) -> int:
    """Return the hits by the engine's policy, without reading ahead. mixtures: of each expert."""
    from engine.streaming.expert_policy import ExpertPolicy  # imports the compiler

    policy = ExpertPolicy(mixtures)
    ready = np.zeros(len(mixtures), np.bool_)
    hits = held = 0
    for mixture, wanted in turns:
        policy.choose(mixture, wanted)
        for expert in wanted:
            policy.use(expert)
            if ready[expert]:
                hits += 1
            elif held < slots:
                held += 1
            else:
                out = policy.out(ready, expert, of_wanted=True, held=expert)
                assert out is not None
                ready[out] = False
            ready[expert] = True
    return hits


def hits_of_best(turns: Turns, count: int, slots: int) -> int:
    """Return the hits if the expert that is used last again makes room (Belady's optimum). count: of all
    experts."""
    uses = [expert for _, wanted in turns for expert in wanted]
    again = np.full(len(uses), len(uses))  # for each use, when the same expert is used next
    seen: dict[int, int] = {}
    for place in range(len(uses) - 1, -1, -1):
        again[place] = seen.get(uses[place], len(uses))
        seen[uses[place]] = place
    until = np.full(count, -1)  # when the experts in the cache are used next; -1: not in it
    hits = held = 0
    for place, expert in enumerate(uses):
        if until[expert] >= 0:
            hits += 1
        elif held < slots:
            held += 1
        else:
            until[int(until.argmax())] = -1
        until[expert] = again[place]
    return hits


def hits_of_recent(turns: Turns, slots: int) -> int:
    """Return the hits if the least recently used expert makes room."""
    cache: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for _, wanted in turns:
        for expert in wanted:
            if expert in cache:
                hits += 1
                cache.move_to_end(expert)
            else:
                cache[expert] = None
                if len(cache) > slots:
                    cache.popitem(last=False)
    return hits


def table(routing: Routing, again: float, rates: Sequence[HitRates]) -> Iterator[str]:
    yield (
        f"{routing.layers} layers, {routing.chosen} of {routing.experts} experts, {routing.rows} rows, "
        f"{routing.passes} passes; skew {routing.skew:g}, {again:.0%} of a pass's experts were the last one's"
    )
    yield "| cache | hits | Belady's optimum | least recently used |"
    yield "|---|---|---|---|"
    for each in rates:
        yield f"| {each.share:.0%} | {each.ours:.1%} | {each.best:.1%} | {each.recent:.1%} |"
