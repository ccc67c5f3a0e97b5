"""The benchmark of constraints recognises answers that are not valid, and those that differ."""

import json

import pytest

from engine.bench.constraints import SCHEMAS, measure, satisfies, table
from tests.engine.answers import made_answer

VALID = (
    {"name": "Ada", "born": 1815},
    {"answer": "it depends", "reason": ""},
    {"tags": ["a", "b"]},
    {"place": {"city": "Genoa", "country": "Italy"}, "visited": False},
    {"score": 9.5, "note": None},
    {"date": "1969-07-20", "event": "landing"},
    ["red", "red"],
    {"start": {"x": 0, "y": -3}, "end": {"x": 1, "y": 2}},
    {"title": "Bread", "steps": [{"do": "bake"}]},
    "north",
)


@pytest.mark.parametrize("number", range(len(SCHEMAS)))
def test_what_satisfies_one_schema_satisfies_no_other(number):
    found = [satisfies(json.dumps(VALID[number]), schema) for schema in SCHEMAS]
    assert found == [place == number for place in range(len(SCHEMAS))]


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (0, {"name": "", "born": 1815}),
        (0, {"name": "Ada", "born": 2031}),
        (0, {"name": "Ada", "born": 1815.5}),
        (0, {"name": "Ada", "born": True}),
        (0, {"name": "Ada", "born": 1815, "more": 1}),
        (1, {"answer": "maybe", "reason": ""}),
        (1, {"answer": "no", "reason": "x" * 61}),
        (2, {"tags": ["a"]}),
        (2, {"tags": ["a"] * 5}),
        (3, {"place": {"city": "Genoa"}, "visited": True}),
        (4, {"score": 11, "note": "x"}),
        (5, {"date": "1969-27-20", "event": "landing"}),
        (6, []),
        (7, {"start": {"x": 0, "y": 0}, "end": {"x": 1}}),
        (9, "up"),
    ],
)
def test_what_breaks_a_schema(number, value):
    assert not satisfies(json.dumps(value), SCHEMAS[number])


def test_a_cut_text_satisfies_nothing():
    assert not any(satisfies('{"name": "Ada", ', schema) for schema in SCHEMAS)


class Engine:
    """Answers the questions in order; by the drafter `bad`, the second answer is a wrong one."""

    def answer(self, chat, emit, cancelled):
        number, options = chat.options.seed, chat.options
        is_bad = number == 1 and options.drafter == "bad"
        return made_answer(
            "{" if is_bad else json.dumps(VALID[number]),
            token_ids=[1, 2, 9] if is_bad else [1, 2, 3],
            seed=number,
            tokens=3,
            target_passes=2,
            drafter=options.drafter,
        )


def test_an_answer_that_differs_is_counted_and_told():
    told: list[str] = []
    plain, good, bad = measure(Engine(), ["good", "bad"], 3, 0.0, told.append, lambda: False)
    assert (plain.valid, plain.equal, good.valid, good.equal) == (3, 3, 3, 3)
    assert (bad.valid, bad.equal) == (2, 2)
    assert "bad, answer 1 is not valid (end_of_sequence): {" in told
    assert "bad, answer 1 parts from plain decoding after 2 tokens" in told
    assert [line for line in table([bad]) if "2 of 3 | 2 of 3" in line]
