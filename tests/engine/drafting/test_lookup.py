import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.drafting.lookup import Found, Odds


def found(*rows: tuple[int, int, float]) -> Found:
    """rows: (token, level, votes)."""
    tokens, levels, votes = zip(*rows, strict=True)
    return Found(np.asarray(tokens), np.asarray(levels), np.asarray(votes, dtype=float))


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 9)), min_size=1, max_size=12),
    st.lists(st.integers(0, 12), max_size=40),
)
def test_chances_of_one_place_are_positive_and_leave_room_for_what_was_never_seen(rows, came):
    places = found(*((token, level, votes) for token, (level, votes) in enumerate(rows)))
    odds = Odds(6)
    for token in came:
        odds.learn(places, token)
    chances = odds.chances(places)
    assert (chances > 0).all()
    assert chances.sum() < 1


def test_matches_that_agree_outvote_one_that_does_not():
    chances = Odds(4).chances(found((5, 2, 3), (6, 2, 1)))
    assert chances[0] == pytest.approx(3 * chances[1])


def test_a_lone_longest_match_comes_first_whatever_the_shorter_ones_say():
    chances = Odds(4).chances(found((5, 3, 1), (6, 2, 40), (7, 1, 900)))
    assert chances[0] > chances[1] > chances[2]


def test_the_chance_of_a_level_becomes_how_often_it_came_true():
    odds, place = Odds(3), found((5, 3, 1), (6, 1, 1))
    rng = random.Random(0)
    for _ in range(2000):
        came = rng.choices([5, 6, 7], [0.2, 0.4, 0.4])[0]
        odds.learn(place, came)
    assert odds.chances(place) == pytest.approx([0.2, 0.4], abs=0.08)
    untouched = found((8, 2, 1))
    assert odds.chances(untouched) == Odds(3).chances(untouched), "no token stood at that level"


def test_a_text_that_ceases_to_quote_is_noticed_soon():
    odds, place = Odds(3), found((5, 3, 1))
    for _ in range(5000):
        odds.learn(place, 5)
    assert odds.chances(place) > 0.95
    for _ in range(100):
        odds.learn(place, 6)
    assert odds.chances(place) < 0.5
