"""Trees are never larger than there is memory for in the plan."""

import pytest

from engine.decoding.cost import unknown
from engine.errors import BadOption
from engine.planner import TreePlan
from engine.protocol import Chat, Message, Options
from engine.serving.session import Session
from tests.engine.bench.tiny import tiny_session

MOST = 30


def answered(rows=None, draft_rows=None, **options):
    """rows: those for which the target's cache has room in a pass, or None for any; draft_rows: the draft's,
    likewise."""
    session = Session(tiny_session().pair, TreePlan(7, MOST, unknown, unknown))
    session.pair.target.cache.pass_rows = rows
    session.pair.draft.cache.pass_rows = draft_rows
    chosen = Options(**{"seed": 3, "max_new_tokens": 60, **options})
    chat = Chat(id=0, messages=[Message("user", "HELLO")], options=chosen)
    return session.answer(chat, lambda event: None, lambda: False)


def test_the_rule_and_defaults_of_drafters_keep_to_the_memory_that_is_planned_for():
    for drafter in ("specexec", "recycling", "specinfer", "sps"):
        budgets = answered(drafter=drafter).budgets
        assert 0 < max(budgets) <= MOST
    assert answered(drafter="specexec").budgets[0] == 7


def test_a_larger_budget_is_refused_in_a_sentence():
    with pytest.raises(BadOption, match="no memory for trees of 31 nodes: they may have 30"):
        answered(drafter="specexec", budget=MOST + 1)
    assert max(answered(drafter="specexec", budget=MOST).budgets) == MOST


def test_trees_fit_the_room_of_layers_with_a_window():
    with pytest.raises(BadOption, match="they may have 15"):
        answered(rows=16, drafter="specexec", budget=16)
    assert max(answered(rows=16, drafter="specexec", budget=15).budgets) == 15


def test_trees_fit_the_room_of_the_drafts_layers_with_a_window():
    with pytest.raises(BadOption, match="they may have 15"):
        answered(draft_rows=16, drafter="specinfer", budget=16)
    assert max(answered(draft_rows=16, drafter="specinfer").budgets) == 15


def test_an_answer_is_replayed_where_passes_have_less_room():
    made = answered(drafter="specexec", budget=MOST)
    assert max(made.budgets) == MOST
    for again in ({"budgets": made.budgets}, {"recording": made.recording}):
        replayed = answered(rows=16, drafter="specexec", **again)
        assert max(replayed.budgets) == 15
        assert replayed.token_ids == made.token_ids


def test_replayed_budgets_are_bounded_and_change_no_token():
    replayed = answered(drafter="specexec", budgets=[64, 64])
    assert replayed.budgets[:2] == [MOST, MOST]
    assert replayed.token_ids == answered(drafter="none").token_ids
