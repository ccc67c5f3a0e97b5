"""The planned chunks, pass after pass, and those that are left out."""

from engine.streaming.schedule import RingSchedule


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
    schedule = RingSchedule(3, slots=4)
    assert ahead(schedule) == [0, 1, 2]
    for number in range(20):
        schedule.advance()
        assert schedule.chunks[schedule.step] == number % 3
        assert ahead(schedule) == [(number + later) % 3 for later in (1, 2, 3)]


def test_chunks_that_are_left_out_are_planned_no_more_until_they_are_used_again():
    schedule = RingSchedule(6, slots=3)
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
    schedule = RingSchedule(3, slots=2)
    schedule.leave_out({0, 1, 2})
    go_to(schedule, 0)
    assert ahead(schedule) == []
