"""Telemetry of an answer, with the embedded default model."""

import math

import pytest

from engine.protocol import Chat, IterationDone, Message, Options, PassProgress, TreeGrown
from engine.serving import telemetry
from engine.serving.telemetry import Pace


def ask(engine, prompt, **options):
    events = []
    chat = Chat(id=0, messages=[Message("user", prompt)], options=Options(seed=3, **options))
    answer = engine.session.answer(chat, events.append, lambda: False)
    return answer, events


def of(kind, events):
    return [event for event in events if isinstance(event, kind)]


def test_pieces_and_starts_spell_the_answer(smollm2):
    answer, events = ask(smollm2, "Count from one to ten. 🙂", telemetry=True, max_new_tokens=40)
    iterations = of(IterationDone, events)
    assert len(iterations) > 2
    text = answer.text[: iterations[0].committed.start]
    for done in iterations:
        assert done.committed.start == len(text)
        assert len(done.committed.pieces) == len(done.accepted) + (done.bonus_token is not None)
        text += "".join(done.committed.pieces)
    assert text == answer.text


def test_greedy_accepts_what_the_target_ranks_first(smollm2):
    _, events = ask(smollm2, "Count from one to ten.", telemetry=True, max_new_tokens=30)
    accepted = 0
    for done in of(IterationDone, events):
        judged = dict(zip(done.judged.nodes, done.judged.ranks, strict=True))
        parents = [-1, *done.accepted]
        on_the_path = {i for i, parent in enumerate(done.tree.parents) if parent in parents}
        assert on_the_path <= set(judged)
        for node in on_the_path:
            assert (judged[node] == 1) == (node in done.accepted)
        accepted += len(done.accepted)
        tokens = [*(done.tree.tokens[node] for node in done.accepted), done.bonus_token]
        for token, entry in zip(tokens, done.committed.log_probs, strict=False):
            assert entry.top[0] == (token, pytest.approx(entry.log_prob))
            assert sum(math.exp(log_prob) for _, log_prob in entry.top) <= 1.001
    assert accepted


def test_a_judged_node_and_its_committed_token_have_the_same_probability(smollm2):
    _, events = ask(smollm2, "Tell a joke.", telemetry=True, temperature=0.8, max_new_tokens=30)
    compared = 0
    for done in of(IterationDone, events):
        judged = dict(zip(done.judged.nodes, done.judged.log_probs, strict=True))
        for node, entry in zip(done.accepted, done.committed.log_probs, strict=False):
            assert judged[node] == pytest.approx(entry.log_prob, abs=1e-4)
            compared += 1
    assert compared


def test_without_telemetry_none_is_sent(smollm2):
    watched, events = ask(smollm2, "Count to five.", telemetry=True, log_probs=2, max_new_tokens=24)
    assert of(TreeGrown, events) or of(PassProgress, events)
    assert all(len(each.top) == 2 for each in watched.log_probs), "only as many as requested"
    plain, events = ask(smollm2, "Count to five.", max_new_tokens=24)
    assert plain.token_ids == watched.token_ids
    assert plain.log_probs is None
    assert not of(TreeGrown, events) + of(PassProgress, events)
    assert all(done.judged is None and done.committed is None for done in of(IterationDone, events))


def events_sent(pace, clock, making_s, seconds):
    """Return the number of events in `seconds`, if producing one takes `making_s`."""
    clock.now, times = 100.0, 0
    while clock.now < 100.0 + seconds:
        clock.now += 0.001
        if pace.is_due:
            with pace:
                clock.now += making_s
                times += 1
    return times


def test_telemetry_takes_a_hundredth_of_the_time_and_is_sent_at_most_thirty_times_a_second(monkeypatch):
    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

    monkeypatch.setattr(telemetry, "time", clock := Clock())
    assert events_sent(Pace(), clock, 0.0, 10.0) == pytest.approx(300, abs=10)
    assert events_sent(Pace(), clock, 0.005, 10.0) == pytest.approx(20, abs=1)
