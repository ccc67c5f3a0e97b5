"""The figures of an answer that one pair begins and another goes on with."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from engine import firsts
from engine.decoding.iteration import Iterated
from engine.drafting import TreeLimits
from engine.protocol import ExpertFigures
from engine.serving.answer_figures import AnswerFigures
from engine.streaming import ExpertCounts


def target(experts):
    """A target of which nothing but these counts is read."""
    return SimpleNamespace(model=SimpleNamespace(waited_s=0.0, moved=0, experts=experts, device="cuda"))


def test_a_resumed_answer_keeps_what_each_layer_did_in_its_first_part():
    first = target(ExpertCounts(hits=3, near=2, by_layer={1: (5, 2)}))
    begun = AnswerFigures(first, started=0.0)
    first.model.experts = ExpertCounts(hits=9, near=6, late=5, by_layer={1: (10, 4), 2: (5, 2)})
    second = target(ExpertCounts())
    figures = AnswerFigures(second, started=0.0)
    figures.resume(begun.begun([7], []))
    assert figures.experts.near_by_layer == [(1, 5, 2), (2, 5, 2)], "the new cache has chosen nothing yet"
    second.model.experts = ExpertCounts(hits=1, near=1, late=2, by_layer={2: (1, 1), 3: (1, 0)})
    assert (figures.experts.hits, figures.experts.near, figures.experts.late) == (7, 5, 7)
    assert figures.experts.near_by_layer == [(1, 5, 2), (2, 6, 3), (3, 1, 0)]


def test_what_the_cache_in_ram_behind_the_cards_did_is_told_with_it():
    model = target(ExpertCounts(hits=5, misses=4, ram=ExpertCounts(hits=2, misses=2, predicted=1)))
    figures = AnswerFigures(model, started=0.0)
    model.model.experts = ExpertCounts(
        hits=6, misses=9, ram=ExpertCounts(hits=3, late=1, misses=5, read=7, predicted=4, right=2)
    )
    told = figures.experts
    assert (told.tier, told.hits, told.misses) == ("vram", 1, 5)
    expected = {"hits": 1, "late": 1, "misses": 3, "bytes_read": 7, "predicted": 3, "right": 2}
    assert told.ram == ExpertFigures(**expected, tier="ram")


def test_a_pass_in_which_something_was_done_once_and_for_all_does_not_tell_how_long_others_take():
    figures = AnswerFigures(target(None), started=0.0)
    firsts.note()  # while the prompt was read
    figures.note_prefill()
    usual = Iterated(
        limits=(limits := TreeLimits(7, 4, 8)), limited=limits, tree=np.zeros(7), accepted=[0], tokens=[3, 4],
        draft_s=0.25, target_s=1.0, other_s=0.5, rounds=2, log_probs=[],
    )  # fmt: skip
    figures.note_pass(usual)
    figures.note_committed(1, 2)
    firsts.note()  # as if a pass of this size had been recorded
    figures.note_pass(replace(usual, draft_s=4.0, target_s=9.0, limits=replace(limits, budget=15)))
    figures.note_committed(1, 2)
    figures.note_pass(replace(usual, limits=replace(limits, budget=31)))
    figures.note_committed(0, 1)
    assert figures.budgets == [7, 15, 31]
    assert figures.seconds.target == 11.0
    found = figures.usual
    assert (found.budgets, found.tokens, found.draft_s, found.target_s) == ([7, 31], 3, 0.5, 3.0)
