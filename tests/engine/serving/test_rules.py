"""The rules that set the limits of trees, from one answer of a session to the next."""

from engine.decoding.chain_length import ChainLength
from engine.protocol import Chat, Message, Options
from tests.engine.test_every_drafter import session


def answer(asked, **options):
    options = Options(drafter="sps", seed=1, temperature=0.7, **options)
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

    def measured(overlap, drafter, target, rule, payoffs):
        known.append(list(payoffs))
        payoffs[drafter.name] = "measured"

    monkeypatch.setattr("engine.serving.tree_rules.ahead_rule", measured)
    asked = session()
    for renewed in (False, False, True):
        if renewed:
            asked.renew_drafters()
        answer(asked, max_new_tokens=2)
    assert known == [[], ["sps"], []]


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
