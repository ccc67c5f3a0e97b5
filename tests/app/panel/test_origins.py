import copy
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.panel.origins import Origins
from engine.protocol.messages import Answer, Committed, TokenLogProbs
from tests.app.fake_engine import answer, verdict
from tests.app.panel.recorded import RUN

ANSWER = next(timed.event for timed in RUN.events if isinstance(timed.event, Answer))


@pytest.fixture
def origins() -> Origins:
    found = Origins()
    for done in RUN.iterations:
        found.add(done)
    found.finish(ANSWER)
    return found


def test_the_ranges_of_a_recorded_run_cover_its_answer_except_the_first_token(origins: Origins) -> None:
    ranges = origins.ranges
    assert ranges[-1].end == len(ANSWER.text)
    assert ranges[0].start == RUN.iterations[0].committed.start > 0
    for before, after in pairwise(ranges):
        assert before.end == after.start


def test_a_character_leads_to_its_iteration_and_back(origins: Origins) -> None:
    for done in RUN.iterations:
        start, end = origins.of_iteration(done.iteration)
        assert ANSWER.text[start:end] == "".join(done.committed.pieces)
        assert {origins.at(position).iteration for position in range(start, end)} == {done.iteration}
    assert origins.at(0) is None
    assert origins.at(len(ANSWER.text)) is None
    assert origins.of_iteration(99) is None


def test_a_bonus_token_has_no_source_and_other_tokens_that_of_their_node(origins: Origins) -> None:
    for done in RUN.iterations:
        made = [one for one in origins.ranges if one.iteration == done.iteration]
        sources = [done.tree.sources[node] for node in done.accepted]
        assert [one.source for one in made] == [*sources, 0][: len(made)]


def test_greedy_decoding_took_the_best_alternative(origins: Origins) -> None:
    for one in origins.ranges:
        assert one.alternatives[0].probability == pytest.approx(one.probability)
        assert one.alternatives[0].text == ANSWER.text[one.start : one.end]


def test_a_dropped_iteration_leaves_a_gap_and_moves_nothing(origins: Origins) -> None:
    found = Origins()
    for done in RUN.iterations[:1] + RUN.iterations[2:]:
        found.add(done)
    missing = RUN.iterations[1].iteration
    assert found.ranges == [one for one in origins.ranges if one.iteration != missing]


def committed(start: int, pieces: list[str]) -> Committed:
    log_probs = [TokenLogProbs(log_prob=-0.5, top=[])] * len(pieces)
    return Committed(start=start, pieces=pieces, log_probs=log_probs, top_texts=[[]] * len(pieces))


@given(st.lists(st.lists(st.text(max_size=3), min_size=1, max_size=3), max_size=6), st.integers(0, 30))
def test_ranges_never_overlap_and_lie_within_the_answer(pieces: list[list[str]], length: int) -> None:
    found = Origins()
    at = 0
    for number, each in enumerate(pieces):
        done = copy.copy(verdict(1, number, accepted=(0, 2)))
        done.committed = committed(at, each)
        found.add(done)
        at += sum(map(len, each))
    found.finish(answer(1, "x" * min(length, at)))
    covered = [position for one in found.ranges for position in range(one.start, one.end)]
    assert covered == list(range(min(length, at)))


def test_without_telemetry_there_are_no_ranges() -> None:
    found = Origins()
    assert found.add(verdict(1)) == []
    assert found.ranges == []
