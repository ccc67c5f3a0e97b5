"""The cache of experts against the best possible one, on made-up routings."""

import json
from dataclasses import replace

import numpy as np
import pytest

from engine import cli
from engine.bench.experts import hits_of_best, hits_of_policy, hits_of_recent, kept, measure
from engine.bench.made_routing import MixtureTurn, Routing, chances, routed
from engine.streaming.expert_policy import ExpertPolicy

SMALL = Routing(layers=6, experts=32, chosen=4, passes=60)


def test_the_optimum_is_that_of_an_exhaustive_search():
    turns = [MixtureTurn(0, [expert], [expert]) for expert in (0, 1, 2, 0, 3, 1, 0, 2, 3, 1)]

    def most(cache, uses):
        """The most hits of any order of evictions."""
        if not uses:
            return 0
        first, *rest = uses
        if first in cache:
            return 1 + most(cache, rest)
        if len(cache) < 2:
            return most(cache | {first}, rest)
        return max(most(cache - {out} | {first}, rest) for out in cache)

    assert hits_of_best(turns, 4, 2).sum() == most(frozenset(), [turn.wanted[0] for turn in turns])
    assert hits_of_best(turns, 4, 2).sum() > hits_of_recent(turns, 2).sum()


@pytest.mark.parametrize(("skew", "overlap"), [(0.5, 0.3), (0.5, 0.6), (1.0, 0.3), (1.0, 0.6)])
def test_the_policy_lies_between_the_usual_one_and_the_optimum(skew, overlap):
    routing = replace(SMALL, skew=skew, overlap=overlap)
    turns = list(routed(routing))
    assert overlap < kept(turns, routing.layers) < overlap + 0.2
    found = [measure(turns, routing, share) for share in (0.1, 0.3, 0.6, 1.0)]
    for each in found:
        assert each.recent - 0.005 <= each.ours <= each.best
    assert found[-1].ours == found[-1].best == found[-1].recent  # only first uses are misses


@pytest.mark.parametrize("rows", [1, 4])
def test_the_known_chances_are_those_of_the_routing(rows):
    routing = Routing(layers=2, experts=32, chosen=4, passes=3000, rows=rows)
    drawn, again = chances(routing)
    used, passes = np.zeros((2, 64)), np.zeros((2, 64))
    last = [np.zeros(32, np.int64)] * 2
    for mixture, wanted, now in routed(routing):
        first = 32 * mixture
        experts = np.arange(first, first + 32)
        passes[last[mixture], experts] += 1
        used[last[mixture], experts] += np.isin(experts, wanted)
        last[mixture] = np.isin(experts, now).astype(np.int64)
    for found, expected in zip(used / np.maximum(passes, 1), (drawn, again), strict=True):
        assert abs(found - expected)[passes.min(axis=0) > 300].max() < 0.08


@pytest.mark.parametrize(("rows", "below"), [(1, 0.03), (8, 0.03)])
def test_the_policy_comes_near_the_one_that_knows_the_chances(rows, below):
    routing = replace(SMALL, rows=rows)
    turns = list(routed(replace(routing, passes=120)))
    for share in (0.1, 0.25, 0.4, 0.6):
        found = measure(turns, routing, share, before=60)
        assert found.knowing - below < found.ours <= found.best
        assert found.recent - 0.005 <= found.ours


def test_what_routers_say_early_is_read_as_far_as_there_is_time():
    turns = list(routed(SMALL))
    mixtures = np.repeat(np.arange(SMALL.layers), SMALL.experts).tolist()
    random = np.random.default_rng(1)
    right = [turn.wanted for turn in turns]
    wrong = [(random.permutation(32)[:4] + 32 * turn.mixture).tolist() for turn in turns]

    def rate(reads, said=(), ahead=1):
        early = [[[rows]] for rows in said[ahead:]] + [()] * ahead if said else ()
        return hits_of_policy(turns, ExpertPolicy(mixtures), 60, reads, early)[600:].mean()

    usual = rate(0)
    assert rate(0, right) == usual
    assert usual <= rate(1) < rate(1, right) < rate(2, right) < rate(4, right)
    assert rate(4, right) > 0.99
    assert rate(4, wrong) > usual - 0.02  # what is hardly ever right is no longer read
    assert rate(1, right) < rate(1, right, ahead=2)  # where a mixture misses several, and the next one none


def test_the_command_prints_its_routing_with_the_rates(capsys):
    options = ["--layers=3", "--experts=8", "--chosen=2", "--passes=20", "--shares=0.5,1"]
    assert cli.run(["bench", "experts", *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "2 of 8 experts" in lines[0]
    assert len(lines) == 5
    assert cli.run(["bench", "experts", *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["share"] for each in found["rates"]] == [0.5, 1.0]
    for wrong in (["--overlap", "2"], ["--chosen", "9"], ["--shares", "0"]):
        assert cli.run(["bench", "experts", *options, *wrong]) == 1
