"""The cache of experts against the best possible one, on made-up routings."""

import json
from dataclasses import replace

import pytest

from engine import cli
from engine.bench.experts import Routing, hits_of_best, hits_of_recent, kept, measure, routed

SMALL = Routing(layers=6, experts=32, chosen=4, passes=60)


def test_the_optimum_is_that_of_an_exhaustive_search():
    turns = [(0, [expert]) for expert in (0, 1, 2, 0, 3, 1, 0, 2, 3, 1)]

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

    assert hits_of_best(turns, 4, 2) == most(frozenset(), [wanted[0] for _, wanted in turns])
    assert hits_of_best(turns, 4, 2) > hits_of_recent(turns, 2)


@pytest.mark.parametrize(("skew", "overlap"), [(0.5, 0.3), (0.5, 0.6), (1.0, 0.3), (1.0, 0.6)])
def test_the_policy_lies_between_the_usual_one_and_the_optimum(skew, overlap):
    routing = replace(SMALL, skew=skew, overlap=overlap)
    turns = list(routed(routing))
    assert overlap < kept(turns, routing.layers) < overlap + 0.2
    found = [measure(turns, routing, share) for share in (0.1, 0.3, 0.6, 1.0)]
    for each in found:
        assert each.recent - 0.005 <= each.ours <= each.best
    assert found[-1].ours == found[-1].best == found[-1].recent  # only first uses are misses


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
