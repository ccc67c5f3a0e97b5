"""What `bench streaming` makes of answers: a row for each way in which the draft can go on."""

from types import SimpleNamespace

import pytest

from engine import protocol
from engine.bench import streaming
from engine.bench.streaming import AnswerTimes, StreamingReport, table
from engine.bench.timings import Timings
from tests.engine.bench.tiny import tiny_session

# Targets beside whose passes others may run, and one beside whose passes none may.
STREAMED = SimpleNamespace(device="cpu", runs_apart=True, streamer=SimpleNamespace(pass_nbytes=1))
RECORDED = SimpleNamespace(runs_apart=False)
RESIDENT = {1: Timings(0.1, 0.1, 0.1), 8: Timings(0.3, 0.3, 0.3)}


def times(session):
    streamer = SimpleNamespace(sweep=lambda: None)
    return AnswerTimes(SimpleNamespace(session=session), 12, streamer, {1: Timings(0.1, 0.1, 0.1)}, 1)


def printed(answers, iterations):
    return list(table(StreamingReport(1, 1, 1.0, [], iterations, answers.only_turns())))


class Scripted:
    """A session whose iterations take as long as the test says, by whether the draft goes on, and whose link
    takes `link_s`; each answer has two passes."""

    def __init__(self, link_s, turns, ahead):
        """turns, ahead: for each answer, the seconds of drafting, of the target and of waiting."""
        self.now, self._link_s = 0.0, link_s
        self._seconds = {"off": iter(turns), "on": iter(ahead)}
        self.asked = []
        model = STREAMED
        self.pair = SimpleNamespace(target=SimpleNamespace(model=model))

    def sweep(self):
        self.now += self._link_s
        self.asked.append("link")

    def drafter(self, name):
        return SimpleNamespace(name=name, drafts_ahead=True)

    def forget(self):
        pass

    def answer(self, chat, emit, cancelled):
        options = chat.options
        self.asked.append((options.overlap, options.budget, options.temperature))
        draft, target, wait = (2 * each for each in next(self._seconds[options.overlap]))
        return SimpleNamespace(
            seconds=protocol.Seconds(draft=draft, target=target, stream_wait=wait),
            target_passes=2,
            tokens_per_second=1.0,
            tokens_per_pass=4.0,
        )

    def measured(self, repeats, temperature=0.0):
        streamer, engine = SimpleNamespace(sweep=self.sweep), SimpleNamespace(session=self)
        answers = AnswerTimes(engine, 12, streamer, RESIDENT, repeats, lambda: self.now)
        return answers, answers.with_trees(8, temperature)


def test_a_draft_that_can_go_on_has_a_row_of_its_own(monkeypatch):
    monkeypatch.setattr(streaming, "_target", lambda engine: STREAMED)
    answers = times(tiny_session())
    iterations = answers.with_trees(8, 0.0)
    assert [each.overlaps for each in iterations] == [False, True]
    lines = printed(answers, iterations)
    assert "specexec, 8 ahead" in lines[-1]
    assert "ahead" not in lines[-2]


def test_both_ways_have_the_bound_of_the_link_where_it_takes_longer_than_computing():
    script = Scripted(2.0, [(0.5, 0.3, 1.8)], [(0.1, 0.3, 1.66)])
    _, (turns, ahead) = script.measured(1)
    assert turns.bound_s == ahead.bound_s == pytest.approx(2.0)
    assert (turns.ratio, ahead.ratio) == pytest.approx((1.3, 1.03))
    assert turns.won is None
    assert ahead.won == pytest.approx(0.54 / 0.6)


def test_else_the_bound_is_drafting_in_turns_and_verifying_together():
    script = Scripted(0.5, [(0.6, 0.4, 0.2)], [(0.1, 0.7, 0.2)])
    answers, (turns, ahead) = script.measured(1)
    assert turns.bound_s == ahead.bound_s == pytest.approx(0.6 + 0.3)
    assert ahead.won == pytest.approx((1.2 - 1.0) / (1.2 - 0.9))
    *_, first, second = printed(answers, [turns, ahead])
    assert first.split()[-3:] == ["0.200", "0.900", "1.33"]
    assert second.split()[-4:] == ["0.200", "0.900", "1.11", "67%"]


def test_nothing_is_won_where_taking_turns_is_at_the_bound():
    _, (turns, ahead) = Scripted(2.0, [(0.5, 0.3, 1.2)], [(0.1, 0.3, 1.6)]).measured(1)
    assert turns.ratio == pytest.approx(1.0)
    assert ahead.won is None


def test_answers_of_both_ways_alternate_and_their_medians_are_told():
    script = Scripted(
        1.0, [(0.1, 1.0, 0.2), (0.1, 9.0, 0.2), (0.1, 1.1, 0.2)], [(0.1, 0.9, 0), (0.1, 1, 0), (0.1, 5, 0)]
    )
    _, (turns, ahead) = script.measured(3, 0.6)
    assert [each for each in script.asked if each != "link"] == 3 * [("off", 8, 0.6), ("on", 8, 0.6)]
    assert script.asked[0] == script.asked[-1] == "link"
    assert turns.temperature == ahead.temperature == 0.6
    assert (turns.iteration_s, turns.fastest_s, turns.slowest_s) == pytest.approx((1.4, 1.3, 9.3))
    assert (ahead.iteration_s, ahead.fastest_s, ahead.slowest_s) == pytest.approx((1.1, 1.0, 5.1))
    assert ahead.seconds["target"] == pytest.approx(1.0)
    assert ahead.won == pytest.approx(0.3 / 0.4)


@pytest.mark.parametrize(("why", "said"), [("card", "graphics card"), ("drafter", "beyond the verdict")])
def test_where_the_draft_cannot_go_on_this_is_said_in_place_of_a_row(why, said, monkeypatch):
    session = tiny_session()
    if why == "card":
        monkeypatch.setattr(streaming, "_target", lambda engine: RECORDED)
    else:
        monkeypatch.setattr(session.drafter("specexec"), "drafts_ahead", False)
    answers = times(session)
    iterations = answers.with_trees(8, 0.0)
    assert [each.overlaps for each in iterations] == [False]
    lines = printed(answers, iterations)
    assert "ahead" not in lines[-2]
    assert said in lines[-1]
