"""Experts that a card lacks are divided so that link and processor end together, or not at all."""

import random

import pytest

from engine.planner.expert_times import ExpertTimes
from engine.streaming.expert_loan import ExpertLoan

TIMES = ExpertTimes(link_s=2.0, exchange_s=0.1, expert_s=0.9, row_s=0.1)


@pytest.mark.parametrize(
    ("rows", "taken"),
    [([], 0), ([1], 1), ([1, 1], 1), ([1, 1, 1], 2), ([1] * 9, 6), ([20], 0), ([1, 20], 1), ([1, 1, 30], 2)],
    ids=str,
)
def test_the_processor_gets_as_many_experts_as_it_multiplies_by_while_others_are_copied(rows, taken):
    assert TIMES.taken(rows) == taken


def test_help_is_never_expected_to_take_longer_than_copying():
    rng = random.Random(1)
    for _ in range(500):
        times = ExpertTimes(*(rng.uniform(0, 2) for _ in range(4)))
        rows = sorted(rng.randint(1, 16) for _ in range(rng.randint(1, 9)))
        taken = times.taken(rows)
        near_s = times.exchange_s + times.products_s(rows[:taken]) if taken else 0.0
        assert max(near_s, (len(rows) - taken) * times.link_s) <= len(rows) * times.link_s


def test_experts_of_many_rows_are_copied_before_others():
    loan = ExpertLoan(TIMES)
    assert loan.take([3, 4, 5], {3: 12, 4: 1, 5: 2}) == [4, 5]
    assert loan.take([3, 4, 5, 6], {3: 1, 4: 1, 5: 1, 6: 1}) == [3, 4, 5], "the first ones are worth least"
    assert loan.take([3], {3: 12}) == loan.take([], {}) == []


def test_a_processor_that_has_become_slow_is_left_out_and_tried_again_later():
    loan = ExpertLoan(TIMES)
    for _ in range(30):
        loan.done([1], 5.0)
    tried = []
    for _ in range(2000):
        tried.append(bool(loan.take([7], {7: 1})))
    assert not tried[0]
    assert tried[-1]


def test_a_link_that_stands_still_copies_an_expert_for_later_passes_now_and_then():
    loan = ExpertLoan(TIMES)
    copied = 0
    for _ in range(20):
        loan.take([7], {7: 1})
        loan.lent([1], 0)
        copied += loan.ahead()
    assert copied == 10, "a product takes 1.1 s, a copy 2 s"


def test_a_link_does_not_stand_still_beside_experts_that_were_not_lent():
    loan = ExpertLoan(TIMES)
    for _ in range(20):
        loan.take([7], {7: 1})
        loan.lent([], 1)
        assert not loan.ahead()
    for _ in range(20):
        loan.lent([1], 1)
        assert not loan.ahead(), "another one is copied meanwhile"
