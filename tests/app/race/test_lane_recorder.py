"""Lanes have the engine's times, whatever the window got of them."""

import pytest

from app.race.lane_recorder import LaneRecorder
from engine.protocol.messages import TextDelta
from tests.app.fake_engine import answer, loaded
from tests.app.race.made import iteration


def whole(text: str = "abcdefgh", tokens: int = 8, passes: int = 7, seconds: float = 0.7):
    done = answer(1, text)
    done.token_ids = list(range(tokens))
    done.tokens, done.target_passes, done.tokens_per_second = tokens, passes, (tokens - 1) / seconds
    return done


def delta(text: str, tokens: int) -> TextDelta:
    return TextDelta(request=1, text=text, tokens=tokens)


def test_each_pass_has_its_time_and_its_text() -> None:
    recorder = LaneRecorder()
    recorder.add(delta("a", 1))
    for number, (text, tokens) in enumerate((("bcd", 4), ("e", 5), ("fgh", 8)), start=1):
        recorder.add(delta(text, tokens))
        recorder.add(iteration(1, number, tokens, 0.1 * number))
    lane = recorder.finish(whole(passes=3, seconds=0.3), loaded(1))
    assert [(each.tokens, each.text) for each in lane.passes] == [(1, "a"), (4, "bcd"), (5, "e"), (8, "fgh")]
    assert [each.t for each in lane.passes] == pytest.approx([0, 0.1, 0.2, 0.3])
    assert (lane.tokens_per_pass, lane.tokens_per_second) == pytest.approx((7 / 3, 7 / 0.3))


def test_what_the_window_missed_is_spread_evenly() -> None:
    recorder = LaneRecorder()
    recorder.add(delta("abcd", 4))  # joined in the mailbox
    recorder.add(iteration(1, 3, 4, 0.3))
    recorder.add(delta("efgh", 8))
    lane = recorder.finish(whole(), loaded(1))
    assert [each.text for each in lane.passes] == list("abcdefgh")
    assert [each.t for each in lane.passes] == pytest.approx([0.1 * i for i in range(8)])


def test_joined_text_is_cut_where_its_tokens_end() -> None:
    recorder = LaneRecorder()
    recorder.add(delta("The deep blue sea", 4))
    for number, word in enumerate((" deep", " blue", " sea", "<end>"), start=1):
        done = iteration(1, number, number + 1, 0.1 * number)
        done.tree.root_text, done.accepted, done.bonus_text = "The", [], word
        recorder.add(done)
    lane = recorder.finish(whole("The deep blue sea", 5, 4, 0.4), loaded(1))
    assert [each.text for each in lane.passes] == ["The", " deep", " blue", " sea", ""]


def test_an_answer_without_any_iteration_is_still_a_lane() -> None:
    lane = LaneRecorder().finish(whole(), loaded(1))
    assert lane.text == "abcdefgh"
    assert lane.seconds == pytest.approx(0.7)
    one = answer(1, "a")
    one.token_ids, one.tokens, one.target_passes, one.tokens_per_second = [5], 1, 0, None
    short = LaneRecorder().finish(one, loaded(1))
    assert (short.tokens, short.seconds, short.tokens_per_second) == (1, 0.0, None)


def test_an_answer_that_starts_over_has_the_times_of_the_second_attempt() -> None:
    recorder = LaneRecorder()
    recorder.add(delta("ab", 2))
    for number in range(1, 4):
        recorder.add(iteration(1, number, number + 1, 5.0 * number))
    for number in range(1, 8):
        recorder.add(iteration(1, number, number + 1, 0.1 * number))
    lane = recorder.finish(whole(), loaded(1))
    assert [each.t for each in lane.passes] == pytest.approx([0.1 * i for i in range(8)])


def test_text_held_back_at_the_end_comes_with_the_last_pass() -> None:
    recorder = LaneRecorder()
    recorder.add(delta("ab", 2))
    recorder.add(iteration(1, 7, 8, 0.7))
    lane = recorder.finish(whole("abc"), loaded(1))
    assert lane.text == "abc"
    assert lane.tokens == 8
