import pytest

from app.thinking.rates import Rates, link_gb_per_s, seconds_of
from engine.protocol.messages import IterationDone
from tests.app.fake_engine import verdict


def at(t: float, tokens: int) -> IterationDone:
    done = verdict(1)
    done.tokens, done.tokens_per_second = tokens, (tokens - 1) / t
    return done


def test_speed_of_the_last_seconds_and_of_the_whole_answer() -> None:
    rates = Rates()
    for t, tokens in ((10.0, 101), (50.0, 141), (80.0, 291)):
        rates.add(at(t, tokens))
    assert [moment.t for moment in rates.moments] == pytest.approx([10, 50, 80])
    assert [moment.whole for moment in rates.moments] == pytest.approx([10, 2.8, 290 / 80])
    # The first 30 s before 50 s begin after the iteration at 10 s; then only the step from 50 s counts.
    assert rates.moments[0].recent == pytest.approx(10)
    assert rates.moments[2].recent == pytest.approx(150 / 30)


def test_lengths_are_counted() -> None:
    rates = Rates()
    for accepted in ((0, 2), (0, 2), ()):
        rates.add(verdict(1, accepted=accepted))
    assert rates.lengths == {2: 2, 0: 1}


def test_use_of_the_link_is_bytes_by_the_time_of_the_iteration() -> None:
    done = verdict(1)
    assert link_gb_per_s(done) is None
    done.bytes_streamed = 2_000_000_000
    assert link_gb_per_s(done) == pytest.approx(2.0 / seconds_of(done)) == pytest.approx(20.0)
