"""The rules that set the limits of trees, from one answer of a session to the next."""

import pytest

from engine.decoding.budget import AutoLimits
from engine.decoding.chain_length import ChainLength
from engine.decoding.cost import unknown
from engine.planner import TreePlan
from engine.protocol import Chat, Message, Options, TookTurns
from engine.serving.session import Session
from engine.streaming import ExpertCounts
from tests.engine.test_every_drafter import session


def answer(asked, drafter="sps", **options):
    options = Options(drafter=drafter, seed=1, temperature=0.7, **options)
    chat = Chat(id=0, messages=[Message("user", "xyz")], options=options)
    return asked.answer(chat, lambda event: None, lambda: False)


def test_with_renewed_drafters_trees_begin_as_in_a_new_session():
    asked = session()
    first = answer(asked).budgets
    assert answer(asked).budgets != first, "the rule has learned"
    asked.renew_drafters()
    assert answer(asked).budgets == first


def test_with_renewed_drafters_it_is_measured_anew_whether_drafting_ahead_pays(monkeypatch):
    known = []

    def measured(overlap, drafter, target, rule, payoffs, is_moving):
        known.append((list(payoffs), is_moving))
        payoffs[drafter.name] = "measured"

    monkeypatch.setattr("engine.serving.tree_rules.ahead_rule", measured)
    asked = Session(session().pair, TreePlan(None, 64, unknown, unknown, is_moving=True))
    for renewed in (False, False, True):
        if renewed:
            asked.renew_drafters()
        answer(asked, max_new_tokens=2)
    assert known == [([], True), (["sps"], True), ([], True)], "as the plan says"


def test_experts_on_their_way_count_as_those_that_were_missing(monkeypatch):
    """A pass waits for both."""
    works = []

    class Watched(AutoLimits):
        def __init__(self, first, most, predicted, work):
            works.append(work)
            super().__init__(first, most, predicted, work)

    monkeypatch.setattr("engine.serving.tree_rules.AutoLimits", Watched)
    asked = session()
    counts = ExpertCounts(hits=9, misses=2, late=3, near=1)
    monkeypatch.setattr(type(asked.pair.target.model), "experts", counts)
    answer(asked, "specexec", max_new_tokens=2)
    (work,) = works
    assert work().misses == 5


@pytest.mark.parametrize(
    ("drafter", "why"), [("none", "drafter"), ("sps", "drafter"), ("specexec", "memory")]
)
def test_where_draft_and_target_cannot_overlap_as_asked_the_answer_says_why(drafter, why):
    asked = session()
    turns = answer(asked, drafter, overlap="off", max_new_tokens=6)
    found = answer(asked, drafter, overlap="on", max_new_tokens=6)
    assert found.token_ids == turns.token_ids
    assert found.remarks == [TookTurns(why=why, drafter=drafter)]
    for other in (turns, answer(asked, drafter, max_new_tokens=6)):
        assert other.remarks == [], "nobody asked for more"


def test_a_target_that_is_recorded_on_a_card_takes_turns_and_the_answer_says_so(monkeypatch):
    asked = session()
    monkeypatch.setattr(type(asked.pair.target.model), "runs_apart", False)
    found = answer(asked, "specexec", overlap="on", max_new_tokens=6)
    assert found.remarks == [TookTurns(why="card", drafter="specexec")]


def test_a_rule_is_asked_for_limits_once_for_each_tree_and_once_for_the_prompt(monkeypatch):
    asked = []
    choose = ChainLength.choose

    def counted(rule):
        asked.append(rule)
        return choose(rule)

    monkeypatch.setattr(ChainLength, "choose", counted)
    for most in (1, 12):
        asked.clear()
        found = answer(session(), max_new_tokens=most)
        assert len(asked) == 1 + len(found.budgets)
        assert found.budget == max(found.budgets, default=0)
