"""The figures of an answer that one pair begins and another goes on with."""

from types import SimpleNamespace

from engine.serving.answer_figures import AnswerFigures
from engine.streaming import ExpertCounts


def target(experts):
    """A target of which nothing but these counts is read."""
    return SimpleNamespace(model=SimpleNamespace(waited_s=0.0, moved=0, experts=experts, device="cuda"))


def test_a_resumed_answer_keeps_what_each_layer_did_in_its_first_part():
    first = target(ExpertCounts(hits=3, near=2, by_layer={1: (5, 2)}))
    begun = AnswerFigures(first, started=0.0)
    first.model.experts = ExpertCounts(hits=9, near=6, by_layer={1: (10, 4), 2: (5, 2)})
    second = target(ExpertCounts())
    figures = AnswerFigures(second, started=0.0)
    figures.resume(begun.begun([7], []))
    assert figures.experts.near_by_layer == [(1, 5, 2), (2, 5, 2)], "the new cache has chosen nothing yet"
    second.model.experts = ExpertCounts(hits=1, near=1, by_layer={2: (1, 1), 3: (1, 0)})
    assert (figures.experts.hits, figures.experts.near) == (7, 5)
    assert figures.experts.near_by_layer == [(1, 5, 2), (2, 6, 3), (3, 1, 0)]
