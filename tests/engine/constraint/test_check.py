"""Schemas and grammars that are wrong, unsupported or made to take all time and memory."""

import json
import time

import pytest

from engine.constraint import check as checking
from engine.constraint.check import check
from engine.constraint.check_process import problem
from engine.errors import BadConstraint
from engine.protocol import Constraint


def schema(value):
    return Constraint(kind="json_schema", text=value if isinstance(value, str) else json.dumps(value))


def doubled(keyword):
    defs = {f"a{i}": {keyword: [{"$ref": f"#/$defs/a{i - 1}"}] * 2} for i in range(1, 40)}
    return schema({"$defs": {"a0": {"type": "string"}, **defs}, "$ref": "#/$defs/a39"})


HOSTILE = {
    "deep": schema('{"type":"object","properties":{"a":' * 5000 + "{}" + "}}" * 5000),
    "deep anyOf": schema('{"anyOf":[' * 50000 + "{}" + "]}" * 50000),
    "many properties": schema({"type": "object", "properties": {f"p{i}": {} for i in range(30000)}}),
    "allOf of anyOf": schema(
        {"allOf": [{"anyOf": [{"properties": {f"p{i}{j}": {}}} for j in range(6)]} for i in range(12)]}
    ),
    "one megabyte": schema({"enum": ["x" * (1 << 20)]}),
    "endless reference": schema({"$ref": "#"}),
    "multiple": schema({"type": "integer", "multipleOf": 999999937}),
    "deep regex": Constraint(kind="regex", text="(" * 100000 + "a" + ")" * 100000),
    "deep Lark": Constraint(kind="grammar", text="start: " + "(" * 100000 + '"a"' + ")" * 100000),
    "deep GBNF": Constraint(kind="grammar", text="root ::= " + "(" * 100000 + '"a"' + ")" * 100000),
}
BOUNDED = {
    "repeated rules": Constraint(kind="grammar", text='start: a{1000000}\na: b{1000}\nb: "x"'),
    "huge enum": schema({"enum": [f"value number {i}" for i in range(40000)]}),
    "doubled allOf": doubled("allOf"),
    "doubled anyOf": doubled("anyOf"),
    "many items": schema({"type": "array", "items": {"type": "integer"}, "minItems": 10**9}),
    "long string": schema({"type": "string", "minLength": 10**7}),
    "nested repeats": Constraint(kind="regex", text="((a{1,1000}){1,1000}b?){1,1000}"),
    "exponential regex": Constraint(kind="regex", text="(a|b)*a(a|b){25}"),
    "ambiguous": Constraint(kind="grammar", text='start: x+\nx: y* z*\ny: "a" | y y\nz: "a" | z z | y'),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_constraint_is_refused_soon(name):
    started = time.perf_counter()
    with pytest.raises(BadConstraint) as refused:
        check(HOSTILE[name])
    assert time.perf_counter() - started < 2 * checking.TIME_LIMIT_S
    assert len(refused.value.message) < 400
    assert refused.value.hint


@pytest.mark.parametrize("name", BOUNDED)
def test_what_only_looks_hostile_takes_little_time(name):
    started = time.perf_counter()
    problem(BOUNDED[name])
    assert time.perf_counter() - started < checking.TIME_LIMIT_S


def test_a_process_that_takes_too_long_is_ended(monkeypatch):
    monkeypatch.setattr(checking, "TIME_LIMIT_S", 0.01)
    with pytest.raises(BadConstraint, match="too much time or memory"):
        check(Constraint(kind="regex", text="never seen before"))


def test_a_process_that_takes_too_much_memory_is_ended(monkeypatch):
    monkeypatch.setattr(checking, "MEMORY_LIMIT", 1 << 20)
    with pytest.raises(BadConstraint, match="too much time or memory"):
        check(Constraint(kind="regex", text="never seen before either"))


@pytest.mark.parametrize(
    ("constraint", "reason"),
    [
        (schema("{"), "Expecting property name"),
        (schema("3"), "a schema is a JSON object"),
        (schema("false"), 'Unimplemented keys: ["not"]'),
        (schema({"not": {"type": "string"}}), 'Unimplemented keys: ["not"]'),
        (schema({"enum": []}), "anyOf is empty"),
        (schema({"$ref": "https://example.com/a.json"}), "is not present"),
        (schema({"type": "string", "pattern": "(?=a)b"}), "look-around"),
        (Constraint(kind="regex", text="(a"), "unclosed group"),
        (Constraint(kind="grammar", text="start: nothing"), "nothing"),
        (Constraint(kind="choice"), "a choice is empty"),
        (Constraint(kind="choice", choices=("a", "")), "a choice is empty"),
    ],
)
def test_the_error_names_what_is_wrong(constraint, reason):
    assert reason in problem(constraint)


@pytest.mark.parametrize(
    "constraint",
    [
        schema("true"),
        schema({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
        Constraint(kind="json_object"),
        Constraint(kind="regex", text="a/b\\/c\\d\n"),
        Constraint(kind="choice", choices=('say "hé"\n', "😀")),
        Constraint(kind="grammar", text='root ::= "a" ("b" | [0-9]+)*'),
        Constraint(kind="grammar", text="start: /a+/ WORD\nWORD: /[a-z]+/"),
    ],
)
def test_valid_constraints_pass(constraint):
    check(constraint)
