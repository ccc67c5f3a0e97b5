"""Constrained answers of the embedded model, by compiled passes, where equal means equal."""

import json

import pytest

from engine.bench.constraints import SCHEMAS, satisfies
from engine.constraint.constraints import Constraints
from engine.errors import BadConstraint
from engine.protocol import Chat, Constraint, Load, Message, Options
from engine.serving.service import EngineService
from tests.engine.conftest import model_file

CITIES = Message("user", "Name three cities, as JSON.")


@pytest.fixture(scope="module")
def engine():
    model_file("smollm2")
    engine = EngineService()
    engine.load(Load(id=1, device="cpu", context=512), lambda event: None, lambda: False)
    yield engine
    engine.unload()


def answered(engine, message=CITIES, begun="", **options):
    messages = [message, *([Message("assistant", begun)] if begun else [])]
    chat = Chat(id=0, messages=messages, options=Options(**options))
    return engine.session.answer(chat, lambda event: None, lambda: False)


@pytest.mark.parametrize("number", range(0, len(SCHEMAS), 3))
@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_answers_satisfy_their_schema_and_equal_plain_decoding(engine, number, temperature):
    text = json.dumps(SCHEMAS[number])
    options = dict(
        constraint=Constraint(kind="json_schema", text=text), temperature=temperature, seed=number, budget=16
    )
    message = Message("user", f"Write about a harbour as JSON like this: {text}")
    plain = answered(engine, message, **{**options, "budget": None}, drafter="none")
    found = answered(engine, message, **options)
    assert satisfies(plain.text, SCHEMAS[number]), plain.text
    assert found.token_ids == plain.token_ids
    assert found.stop_reason == "end_of_sequence"


def test_the_usual_spelling_of_a_certain_text_is_guessed(engine):
    tokenizer = engine.session.pair.tokenizer
    text = "The committee will meet again on the first Thursday of the month."
    constraint = Constraint(kind="choice", choices=(text, "No."))
    masks = Constraints(tokenizer, tokenizer.vocabulary_size).masks(constraint, None, [], "")
    path = tokenizer.encode_plain("The")
    assert masks.forced(path) is None, "only the text is certain, not its spelling"
    while (token := masks.guess(path)) is not None:
        path.append(token)
    assert path == tokenizer.encode_plain(text)[: len(path)]
    assert len(path) > 8


def test_an_answer_that_reaches_its_limit_says_so(engine):
    found = answered(engine, constraint=Constraint(kind="json_object"), max_new_tokens=3)
    assert found.stop_reason == "max_new_tokens"
    assert found.text.startswith("{")


def test_a_constrained_answer_can_be_continued(engine):
    constraint = Constraint(kind="regex", text='\\{"cities": \\["[A-Z][a-z]{2,9}"\\]\\}')
    begun = '{"cities": ["Pa'
    found = answered(engine, begun=begun, constraint=constraint)
    assert json.loads(begun + found.text)["cities"][0].startswith("Pa")


def test_a_wrong_schema_leaves_the_session_usable(engine):
    with pytest.raises(BadConstraint, match="not"):
        answered(engine, constraint=Constraint(kind="json_schema", text='{"not": {}}'))
    assert answered(engine, max_new_tokens=2).tokens == 2


@pytest.mark.parametrize("drafter", ["none", "auto"])
def test_a_thought_is_closed_at_its_budget(engine, drafter):
    """SmolLM2 does not think by itself: its answer is begun with the mark."""
    begun = "<think>The user wants"
    found = answered(engine, begun=begun, thinking_budget=8, max_new_tokens=30, seed=1, drafter=drafter)
    thought, mark, rest = (begun + found.text).partition("</think>")
    assert mark, thought
    inside = engine.session.pair.tokenizer.encode_plain(thought.removeprefix("<think>"))
    assert len(inside) <= 9
    assert rest
