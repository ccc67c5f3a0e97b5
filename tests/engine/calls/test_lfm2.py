"""Calls like Python's, as LFM2 and LFM2.5 write them, and what templates without calls are given instead."""

import json

import pytest

from engine.calls.formats import FORMATS, format_of
from engine.calls.offer import NO_OFFER, OfferedTool, ToolOffer
from engine.protocol import Message, ToolCall
from tests.engine.calls.test_grammars import accepts
from tests.engine.calls.test_readers import OSLO, ROME, found, read

LFM2, WITHOUT_CALLS = (format for format in FORMATS if format.name.startswith("lfm2"))
BEGIN, END = LFM2.shown
NOW = ("call", "now", {})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hm.{}[weather(city='Oslo', days=3)]{}It rains.", [("text", "Hm."), OSLO, ("text", "It rains.")]),
        ("{} [ weather( city='Oslo' , days=03 ), weather(city='Rome',), now() ]\n{}", [OSLO, ROME, NOW]),
        ('{}[{{"name": "weather", "arguments": {{"city": "Rome"}}}}, now()]{}', [ROME, NOW]),
        ("{}now(){}", [NOW]),
        ("{}[now()]", [NOW]),
        ("{}[weather('Oslo', days=3), weather(Rome)]{}", [OSLO, ROME]),
        (
            '{}[weather(city="Rome") weather("Rome")\nweather(city="now)")\nnow()]{}So.',
            [ROME, ROME, ("call", "weather", {"city": "now)"}), NOW, ("text", "So.")],
        ),
        ('{}[weather(city="a") b("c")]{}', [("call", "weather", {"city": 'a") b("c'})]),
        ("{}[now() and", [NOW, ("text", "and")]),
        ("{}what is this?{}", [("text", f"{BEGIN}what is this?{END}")]),
        ("{}[]{}", [("text", f"{BEGIN}[]{END}")]),
        ("{}[{{'name': 1}}]{}", [("text", f"{BEGIN}[{{'name': 1}}]{END}")]),
        ("a <|tool_call", [("text", "a <|tool_call")]),
    ],
)
def test_calls_and_the_text_around_them_are_read(text, expected):
    assert found("lfm2", text.format(BEGIN, END)) == expected


def test_calls_may_have_marks_each():
    assert found("lfm2", f"{BEGIN}[now()]{END}\n{BEGIN}[now()]{BEGIN}[now()]") == [NOW] * 3


VALUES = [
    *(
        ("True", True),
        ("false", False),
        ("None", None),
        ("-1.5e3", -1500.0),
        ("07", 7),
        ("-0", 0),
        (".5", 0.5),
    ),
    *(("[1, 'x', {'k': (2, False,)}]", [1, "x", {"k": [2, False]}]), ("('x')", "x"), ("(1,)", [1])),
    *(("{1: None, 'a': \"b\"}", {"1": None, "a": "b"}), ('""', ""), ("''", ""), ("{}", {})),
    # What is no literal is a text.
    *(("1e999", "1e999"), ("1 + 2", "1 + 2"), ("Rome", "Rome"), ("f(1, 'a')", "f(1, 'a')")),
    ("[" * 100 + "]" * 100, "[" * 100 + "]" * 100),
    # Escapes, as in Python and in JSON.
    (r"'it\'s\n\x41\u00e9 \ud83d\ude00 \w\\'", "it's\nAé 😀 \\w\\"),
    (r"'\ud83d'", "\ufffd"),
    ('r"a"', "a"),
    ("'''a \"b\"'''", 'a "b"'),
    # The same quotes within, as templates write texts.
    ("'it's'", "it's"),
    ("'print('hi', 1)\nf(a, 'b')'", "print('hi', 1)\nf(a, 'b')"),
    ('"6" long, d"', '6" long, d'),
]


@pytest.mark.parametrize(("source", "value"), VALUES)
def test_values_are_read_as_json(source, value):
    text = f"{BEGIN}[x(a={source}, b=2), now()]{END}"
    assert found("lfm2", text) == [("call", "x", {"a": value, "b": 2}), NOW]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("'a', 'b'", ["a", "b"]),
        ("'a' , -5, r'b',[1], 'c', {'k': 'd'}, 'e', None", ["a", -5, "b", [1], "c", {"k": "d"}, "e", None]),
        ("'it's', 'b', 4", ["it's", "b", 4]),
        ("'a', Rome', 5 days'", ["a', Rome', 5 days"]),
        ("'f(1, 'a')', ''", ["f(1, 'a')", ""]),
    ],
)
def test_arguments_without_names_are_told_apart(given, expected):
    text = f"{BEGIN}[x({given})]{END}"
    assert found("lfm2", text) == [("call", "x", {str(key): value for key, value in enumerate(expected)})]


def test_a_value_behind_a_quote_is_within_the_text_where_arguments_have_names():
    text = f"{BEGIN}[x('a', b='say 'c', 'd' now', e='print('f', 2)')]{END}"
    assert found("lfm2", text) == [("call", "x", {"0": "a", "b": "say 'c', 'd' now", "e": "print('f', 2)"})]


def test_words_are_texts_where_the_schema_has_texts():
    assert found("lfm2", f"{BEGIN}[weather(city=12, days=12, note=12)]{END}") == [
        ("call", "weather", {"city": "12", "days": 12, "note": 12})
    ]


@pytest.mark.parametrize("digits", ["9" * 50_000, "0" * 50_000])
def test_digits_without_end_that_are_no_number_are_text(digits):
    assert found("lfm2", f"{BEGIN}[x(a={digits}x)]{END}") == [("call", "x", {"a": f"{digits}x"})]


def test_a_number_of_many_digits_stays_one():
    (part,) = read("lfm2", [f"{BEGIN}[x(a={'9' * 10_000})]{END}"])
    assert part.text == '{"a": ' + "9" * 10_000 + "}"


@pytest.mark.parametrize("text", ["city='Oslo", "city='Os)]{}", "days=[1)]{}", "days=[1", "days="])
def test_an_argument_that_is_cut_off_is_not_given_in_part(text):
    (part,) = read("lfm2", list(f"{BEGIN}[weather({text.format(END)}"))
    assert (part.kind, part.name, part.text) == ("call", "weather", "{")


@pytest.mark.timeout(30)  # linear readers need a fraction of a second, quadratic ones a minute
@pytest.mark.parametrize(
    "value",
    ["[(" * 20_000, "'" + "', b" * 20_000, "f(" * 20_000 + ")" * 20_000, "é" + "'" * 200_000],
    ids=("brackets", "quotes", "functions", "quotes in a word"),
)
def test_many_brackets_and_quotes_are_read_to_their_end(value):
    (part,) = read("lfm2", [f"{BEGIN}[x(a={value}"])
    assert (part.name, part.text) == ("x", "{")


def test_arguments_arrive_one_by_one():
    reader = LFM2.reader([OfferedTool("weather", "", {})])
    assert reader.add(f"{BEGIN}[weath") == []
    assert reader.add("er(city='Os") == [("name", "weather"), ("arguments", "{")]
    assert reader.add("lo', days") == []
    assert reader.add("=3") == [("arguments", '"city": "Oslo"')]
    assert reader.add(f")]{END}") == [("arguments", ', "days": 3}')]


@pytest.mark.parametrize(
    ("template", "format"),
    [
        ("{{ tools }}<|tool_call_start|>[", LFM2),
        ("List of tools: <|tool_list_start|>[{{ tools }}]<|tool_list_end|>", WITHOUT_CALLS),
        ("List of tools: [{{ tools }}]", WITHOUT_CALLS),
    ],
)
def test_templates_are_told_apart_by_whether_they_write_calls(template, format):
    assert format_of(template) is format


def test_calls_are_text_for_a_template_that_writes_none():
    given = {"city": 'O"slo', "days": 3, "flag": True, "note": None, "list": [1, {"a": False}]}
    made = (("weather", json.dumps(given)), ("now", "{}"), ("odd", "{a"))
    calls = [ToolCall(id=name, name=name, arguments=arguments) for name, arguments in made]
    chat = [Message("user", "Hm?"), Message("assistant", "I see.", calls=calls), Message("tool", "3")]
    first, second, third = WITHOUT_CALLS.messages(chat, NO_OFFER)
    assert (first, third) == (chat[0], chat[2])
    assert second.calls == []
    *made, text = found("lfm2", second.content.replace(", odd({a)", ""))
    assert made == [("call", "weather", given), NOW]
    assert text == ("text", "I see.")
    assert "odd({a)" in second.content
    assert LFM2.messages(chat, NO_OFFER) == chat


def test_the_grammar_takes_optional_arguments_in_the_order_of_the_schema():
    flags = {name: {"type": "boolean"} for name in "abcd"}
    tool = OfferedTool("x", "", {"type": "object", "properties": flags, "required": ["c"]})
    constraint = LFM2.constraint(ToolOffer((tool,), "required"))
    for given in ("c=True", "a=False, c=True", "b=True, c=False, d=True", "a=True, b=True, c=True, d=True"):
        assert accepts(constraint, f"{BEGIN}[x({given})]{END}"), given
    for given in ("", "a=True", ", c=True", "c=True, a=True", "c=1", "c=True,", "c=True, e=True"):
        assert not accepts(constraint, f"{BEGIN}[x({given})]{END}"), given


def test_the_grammar_takes_any_arguments_of_a_tool_without_properties():
    constraint = LFM2.constraint(ToolOffer((OfferedTool("x", "", {"type": "object"}),), several=False))
    for given in ("", "a=1", 'a="b", c_1=[true, {"d": null}]'):
        assert accepts(constraint, f"So: {BEGIN}[x({given})]{END}"), given
    assert not accepts(constraint, f"{BEGIN}[x(1)]{END}")
    assert not accepts(constraint, f"{BEGIN}[y()]{END}")
