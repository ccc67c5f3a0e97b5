"""What `bench streaming` makes of answers: a row for each way in which the draft can go on."""

from types import SimpleNamespace

import pytest

from engine.bench import streaming
from engine.bench.streaming import AnswerTimes, StreamingReport, table
from engine.bench.timings import Timings
from tests.engine.bench.tiny import tiny_session


def times(session):
    streamer = SimpleNamespace(sweep=lambda: None)
    return AnswerTimes(SimpleNamespace(session=session), 12, streamer, {1: Timings(0.1, 0.1, 0.1)})


def printed(answers, iterations):
    return list(table(StreamingReport(1, 1, 1.0, [], iterations, answers.only_turns())))


def test_a_draft_that_can_go_on_has_a_row_of_its_own():
    answers = times(tiny_session())
    iterations = answers.with_trees(8)
    assert [each.overlaps for each in iterations] == [False, True]
    lines = printed(answers, iterations)
    assert "specexec, 8 ahead" in lines[-1]
    assert "ahead" not in lines[-2]


@pytest.mark.parametrize(("hindrance", "said"), [("card", "graphics card"), ("states", "beyond the verdict")])
def test_where_the_draft_cannot_go_on_this_is_said_in_place_of_a_row(hindrance, said, monkeypatch):
    session = tiny_session()
    if hindrance == "card":
        monkeypatch.setattr(streaming, "_target", lambda engine: SimpleNamespace(runs_apart=False))
    else:
        monkeypatch.setattr(session.drafter("specexec"), "drafts_ahead", False)
    answers = times(session)
    iterations = answers.with_trees(8)
    assert [each.overlaps for each in iterations] == [False]
    lines = printed(answers, iterations)
    assert "ahead" not in lines[-2]
    assert said in lines[-1]
