import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.drafting.lookahead import LookaheadDrafter
from engine.drafting.lookup import Continuations, Odds
from engine.drafting.none import NoDrafter
from engine.drafting.pld import PromptLookupDrafter
from engine.model.sequence import Sequence
from engine.sampling import Sampler
from tests.engine.decoding.test_iteration import CAPACITY, PROMPT, assert_same, pair, run


def found(*rows: tuple[int, int, float]) -> Continuations:
    """rows: (token, level, votes)."""
    tokens, levels, votes = zip(*rows, strict=True)
    return Continuations(np.asarray(tokens), np.asarray(levels), np.asarray(votes, dtype=float))


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 9)), min_size=1, max_size=12),
    st.lists(st.integers(0, 12), max_size=40),
)
def test_chances_are_positive_and_sum_to_less_than_one(rows, came):
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


def test_a_single_longest_match_ranks_above_all_shorter_ones():
    chances = Odds(4).chances(found((5, 3, 1), (6, 2, 40), (7, 1, 900)))
    assert chances[0] > chances[1] > chances[2]


def test_the_chance_of_a_level_approaches_its_hit_rate():
    odds, place = Odds(3), found((5, 3, 1), (6, 1, 1))
    rng = random.Random(0)
    for _ in range(2000):
        came = rng.choices([5, 6, 7], [0.2, 0.4, 0.4])[0]
        odds.learn(place, came)
    assert odds.chances(place) == pytest.approx([0.2, 0.4], abs=0.08)
    untouched = found((8, 2, 1))
    assert odds.chances(untouched) == Odds(3).chances(untouched), "no token was at that level"


def test_the_end_of_a_quotation_is_noticed_soon():
    odds, place = Odds(3), found((5, 3, 1))
    for _ in range(5000):
        odds.learn(place, 5)
    assert odds.chances(place) > 0.95
    for _ in range(100):
        odds.learn(place, 6)
    assert odds.chances(place) < 0.5


@pytest.mark.parametrize("drafter_of", [LookaheadDrafter, PromptLookupDrafter])
@pytest.mark.parametrize("settings_of", [dict(), dict(temperature=0.8, top_p=0.9, repetition_penalty=1.1)])
@pytest.mark.parametrize("kind", ["llama", "qwen2_window"])
def test_output_equals_plain_decoding_over_several_turns(kind, settings_of, drafter_of):
    _, model, _ = pair(kind)
    drafter, target, prompt = drafter_of(), Sequence(model, CAPACITY), PROMPT
    saved = 0
    for turn in range(3):
        sampler = Sampler(seed=turn, **settings_of)
        plain = run(model, NoDrafter(), prompt, sampler, max_new_tokens=24)
        found = run(model, drafter, prompt, sampler, budget=16, max_new_tokens=24, target=target)
        assert_same(found.tokens, plain.tokens, model, sampler, prompt)
        saved += plain.passes - found.passes
        prompt = [*prompt, *plain.tokens, 7, 8, turn + 3]
        if turn == 1:  # an edit in the middle
            prompt[15] = 44
    assert saved > 0
