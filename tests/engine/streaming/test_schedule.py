"""The planned chunks before and after a mixture has chosen."""

import random

from engine.streaming.schedule import RingSchedule

# Two layers, each with attention and a mixture's experts, and a head.
LAYOUT = [None, 0, 0, 0, None, None, 1, 1, 1, 1, None]


def ahead(schedule):
    return [chunk for step, chunk in sorted(schedule.chunks.items()) if step > schedule.step]


def go_to(schedule, chunk):
    """Advance until `chunk` is in use; return the chunks passed."""
    came = []
    assert schedule.expects(chunk)
    while not came or came[-1] != chunk:
        schedule.advance()
        came.append(schedule.chunks[schedule.step])
    return came


def test_chunks_used_by_every_pass_are_planned_across_passes():
    schedule = RingSchedule([None] * 3, slots=4)
    assert ahead(schedule) == [0, 1, 2]
    for number in range(20):
        schedule.advance()
        assert schedule.chunks[schedule.step] == number % 3
        assert ahead(schedule) == [(number + later) % 3 for later in (1, 2, 3)]


def test_nothing_after_a_mixture_is_planned_before_it_has_chosen():
    schedule = RingSchedule(LAYOUT, slots=4)
    assert ahead(schedule) == [0]
    go_to(schedule, 0)
    assert ahead(schedule) == []


def test_the_chosen_experts_are_planned_then_the_chunks_used_by_every_pass():
    schedule = RingSchedule(LAYOUT, slots=8)
    go_to(schedule, 0)
    schedule.choose(0, {2}, most=False)
    assert ahead(schedule) == [2, 4, 5]
    assert go_to(schedule, 5) == [2, 4, 5]
    schedule.choose(1, {6, 9}, most=False)
    assert ahead(schedule) == [6, 9, 10, 0]


def test_after_a_mixture_that_chose_most_the_next_is_planned_before_it_has_chosen():
    schedule = RingSchedule(LAYOUT, slots=4)
    go_to(schedule, 0)
    schedule.choose(0, {1, 2, 3}, most=True)
    for chunk in range(1, 6):
        assert go_to(schedule, chunk) == [chunk]
    assert ahead(schedule) == [6, 7, 8]
    schedule.choose(1, {8}, most=False)
    assert go_to(schedule, 8) == [6, 7, 8]
    assert ahead(schedule) == [10, 0]
    go_to(schedule, 0)
    assert ahead(schedule) == []


def test_a_choice_holds_for_one_pass():
    schedule = RingSchedule([0, 0, 0], slots=3)
    schedule.choose(0, {1}, most=False)
    go_to(schedule, 1)
    assert ahead(schedule) == []
    schedule.choose(0, {0, 2}, most=False)
    assert ahead(schedule) == [0, 2]


def test_a_choice_of_a_pass_that_ended_is_forgotten():
    schedule = RingSchedule(LAYOUT, slots=2)
    go_to(schedule, 0)
    schedule.choose(0, {1, 2, 3}, most=False)
    schedule.restart(schedule.step + 5, 0)
    go_to(schedule, 0)
    assert ahead(schedule) == []


def passes(schedule, layout, rng, most):
    """Run five passes with randomly chosen experts; return the chunks requested and those moved."""
    used, came = [], []
    for _ in range(5):
        before, wanted = None, set()
        for chunk, mixture in enumerate(layout):
            if mixture is not None and mixture != before:
                experts = [number for number, other in enumerate(layout) if other == mixture]
                wanted = set(rng.sample(experts, rng.randint(0, len(experts))))
                schedule.choose(mixture, wanted, most())
            before = mixture
            if mixture is None or chunk in wanted:
                used.append(chunk)
                came += go_to(schedule, chunk)
    return used, came


def test_only_chosen_chunks_are_planned():
    for seed in range(500):
        rng = random.Random(seed)
        layout = []
        for mixture in range(rng.randint(1, 4)):
            layout += [None] * rng.randint(0, 3) + [mixture] * rng.randint(1, 5)
        layout += [None] * rng.randint(0, 2)
        schedule = RingSchedule(layout, slots=rng.randint(2, 9))
        used, came = passes(schedule, layout, rng, lambda: False)
        assert came == used


def test_chosen_chunks_are_planned_even_if_the_guess_was_wrong():
    for seed in range(500):
        rng = random.Random(seed)
        schedule = RingSchedule(LAYOUT, slots=rng.randint(2, 5))
        used, came = passes(schedule, LAYOUT, rng, lambda rng=rng: rng.random() < 0.5)
        assert [chunk for chunk in came if LAYOUT[chunk] is None] == [
            chunk for chunk in used if LAYOUT[chunk] is None
        ]


def test_chunks_that_are_left_out_are_planned_no_more_until_they_are_used_again():
    schedule = RingSchedule([None] * 6, slots=3)
    go_to(schedule, 0)
    schedule.leave_out({2, 3, 5})
    assert ahead(schedule) == [1, 2]  # 2 was planned before
    assert [*go_to(schedule, 4), *go_to(schedule, 0), *go_to(schedule, 1)] == [1, 2, 4, 0, 1]
    assert ahead(schedule) == [4, 0]
    schedule.leave_out(())
    go_to(schedule, 4)
    go_to(schedule, 0)
    assert ahead(schedule) == [1, 2]


def test_nothing_is_planned_if_all_chunks_are_left_out():
    schedule = RingSchedule([None] * 3, slots=2)
    schedule.leave_out({0, 1, 2})
    go_to(schedule, 0)
    assert ahead(schedule) == []


def test_chunks_left_out_on_both_sides_of_a_mixture_are_skipped():
    schedule = RingSchedule(LAYOUT, slots=8)
    go_to(schedule, 0)
    schedule.leave_out({4, 10})
    schedule.choose(0, {2}, most=False)
    assert ahead(schedule) == [2, 5]
    go_to(schedule, 5)
    schedule.choose(1, {9}, most=False)
    assert ahead(schedule) == [9, 0]
