"""The table of ways, and the ways that this process takes."""

import pytest

from engine import ways
from engine.ways import LADDERS


def test_the_fastest_way_is_taken_until_another_one_is():
    assert ways.taken("unpack", "Q4_K", "bfloat16") == "triton"
    with ways.taking({"unpack Q4_K bfloat16": "torch"}):
        assert ways.taken("unpack", "Q4_K", "bfloat16") == "torch"
        assert ways.taken("unpack", "Q4_K", "float16") == "triton"
        with ways.taking({"graphs": "launches"}):
            assert ways.taken("unpack", "Q4_K", "bfloat16") == "triton"
        assert ways.taken("graphs") == "replay"
    assert ways.taken("unpack", "Q4_K", "bfloat16") == "triton"


def test_a_way_that_does_not_exist_is_refused_and_nothing_changes():
    with ways.taking({"graphs": "launches"}):
        with pytest.raises(ValueError, match="noise has no way launches"):
            ways.take({"noise": "launches"})
        assert ways.taken("graphs") == "launches"


def test_ladders_end_with_their_safest_way():
    for ladder in LADDERS.values():
        names = [way.name for way in ladder.ways]
        assert len({*names}) == len(names)
        assert [ladder.after(name) for name in names] == [*ladder.ways[1:], None]
        assert ladder.ways[0].words == ""
        assert all(way.words for way in ladder.ways[1:]), "the user is told what happens instead"
