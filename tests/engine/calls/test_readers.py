"""Every format of calls: what it reads, in whatever pieces, and that no text makes it fail."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.calls.formats import FORMATS, GENERIC
from engine.calls.offer import OfferedTool
from engine.protocol import TextDelta
from engine.server.answer_parts import AnswerParts

FORMS = {format.name: format for format in (*FORMATS, GENERIC)}
SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "note": {},
        "dry": {"type": "boolean"},
    },
    "required": ["city"],
}
TOOLS = [OfferedTool("weather", "", SCHEMA), OfferedTool("now", "", {"type": "object", "properties": {}})]
OSLO = ("call", "weather", {"city": "Oslo", "days": 3})
ROME = ("call", "weather", {"city": "Rome"})


def read(name, pieces, several=True):
    parts = AnswerParts(calls=FORMS[name].reader(TOOLS), several=several)
    seen = {}
    for piece in pieces:
        deltas = list(parts.add(TextDelta(request=1, text=piece, tokens=0)))
        for delta in deltas:
            seen[delta.index] = seen.get(delta.index, "") + delta.text
    for delta in parts.finish():
        seen[delta.index] = seen.get(delta.index, "") + delta.text
    assert seen == {index: part.text for index, part in enumerate(parts.parts)}
    return parts.parts


def found(name, text, **options):
    made = []
    for part in read(name, list(text), **options):
        if part.kind == "call":
            assert part.id
            made.append(("call", part.name, json.loads(part.text)))
        else:
            made.append((part.kind, part.text))
    return made


XML = (
    "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
    "</function>\n</tool_call>"
)
SEED = (
    "<seed:tool_call>\n<function=weather>\n<parameter=city>Oslo</parameter>\n<parameter=days>3</parameter>\n"
    "</function>\n</seed:tool_call>"
)
GLM = (
    "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n<arg_key>days</arg_key>\n"
    "<arg_value>3</arg_value>\n</tool_call>"
)
CASES = [
    ("hermes", '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo", "days": 3}}\n</tool_call>',
     [OSLO]),
    ("hermes", 'So:\n<tool_call>{"arguments":{"city":"Rome"},"name":"weather"}</tool_call>',
     [("text", "So:"), ROME]),
    (
        "hermes",
        '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo", "days": 3}}\n</tool_call>\n'
        '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>\n',
        [OSLO, ROME],
    ),
    ("hermes", '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}</tool_call>!',
     [ROME, ("text", "!")]),
    ("hermes", '<tool_call>{"name": "now"}</tool_call>', [("call", "now", {})]),
    ("hermes", '<tool_call>\n{"name": "x", "arguments": {"a": "</tool_call> {"}}\n</tool_call>',
     [("call", "x", {"a": "</tool_call> {"})]),
    ("hermes", "<tool_call>\nweather in Oslo\n</tool_call>",
     [("text", "<tool_call>\nweather in Oslo\n</tool_call>")]),
    ("hermes", '<tool_call>{"name": 3}</tool_call>', [("text", '<tool_call>{"name": 3}</tool_call>')]),
    ("hermes", 'x<tool_call>{<tool_call>{"name": "now", "arguments": {}}</tool_call>',
     [("text", "x<tool_call>{"), ("call", "now", {})]),
    ("hermes", 'So:\n```json\n{\n  "name": "weather",\n  "arguments": {"city": "Rome"}\n}\n```\n',
     [("text", "So:"), ROME]),
    ("hermes", '{{"name": "weather", "arguments": {"city": "Rome"}}}\nSo.',
     [ROME, ("text", "So.")]),
    ("hermes", ' {"name": "weather", "arguments": {"city": "Rome"}}\n{"name": "now", "arguments": {}}',
     [ROME, ("call", "now", {})]),
    ("hermes", 'As in {"name": "weather", "arguments": {"city": "Rome"}}.',
     [("text", 'As in {"name": "weather", "arguments": {"city": "Rome"}}.')]),
    ("hermes", '{"name": "Ada", "arguments": {"a": 1}}',
     [("text", '{"name": "Ada", "arguments": {"a": 1}}')]),
    ("hermes", 'So {{"name": "Ada"}} is a template, {{ name }} too, and {{"name',
     [("text", 'So {{"name": "Ada"}} is a template, {{ name }} too, and {{"name')]),
    ("hermes", '```json\n{"name": "Ada", "arguments": {}}\n```',
     [("text", '```json\n{"name": "Ada", "arguments": {}}\n```')]),
    ("hermes", '```python\n{}\n```', [("text", '```python\n{}\n```')]),
    ("hermes", "a <tool_cal", [("text", "a <tool_cal")]),
    ("qwen coder", XML, [OSLO]),
    ("qwen coder", f"Let me see.\n\n{XML}\n{XML}", [("text", "Let me see."), OSLO, OSLO]),
    ("qwen coder", "<function=now>\n</function>", [("call", "now", {})]),
    ("qwen coder", "<function=weather>\n<parameter=city>\n1\n\n</parameter>\n</function>",
     [("call", "weather", {"city": "1\n"})]),
    ("qwen coder", "<tool_call>no</tool_call>", [("text", "<tool_call>no</tool_call>")]),
    ("qwen coder", f"<function={'x' * 300}>", [("text", f"<function={'x' * 300}>")]),
    ("qwen coder", f"<tool_call>{' ' * 300}<function=now></function>",
     [("text", "<tool_call>"), ("call", "now", {})]),
    ("qwen coder", "<tool_call><function=weather><parameter=city>Rome</parameter></tool_call>So."
     "<function=now></tool_call>!",
     [ROME, ("text", "So."), ("call", "now", {}), ("text", "!")]),
    ("qwen coder", "<tool_call><function=now><parameter=city</tool_call>So.<tool_call><function=now>"
     "<tool_call><function=now></function></tool_call>",
     [("call", "now", {}), ("text", "So."), ("call", "now", {}), ("call", "now", {})]),
    ("seed", SEED, [OSLO]),
    ("seed", "<seed:tool_call><function=now></seed:tool_call>So.", [("call", "now", {}), ("text", "So.")]),
    ("seed", f"Let me see.\n\n{SEED}\n{SEED}", [("text", "Let me see."), OSLO, OSLO]),
    ("seed", "<seed:tool_call>\n<function=weather>\n<parameter=city>\n1\n</parameter>\n"
     "<parameter=dry>True</parameter>\n</function>\n</seed:tool_call>",
     [("call", "weather", {"city": "\n1\n", "dry": True})]),
    ("seed", "<function=now>\n</function>", [("call", "now", {})]),
    ("seed", "<seed:tool_call>no</seed:tool_call>", [("text", "<seed:tool_call>no</seed:tool_call>")]),
    ("glm", GLM, [OSLO]),
    ("glm", GLM.replace("\n", ""), [OSLO]),
    ("glm", f"Let me see.\n{GLM}\n{GLM}", [("text", "Let me see."), OSLO, OSLO]),
    ("glm", "<tool_call>now\n</tool_call><tool_call>now</tool_call>",
     [("call", "now", {}), ("call", "now", {})]),
    ("glm", "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>a\n</tool_call> </arg_value>\n"
     "<arg_key>note</arg_key>\n<arg_value>[1, {}]</arg_value>\n</tool_call>",
     [("call", "weather", {"city": "a\n</tool_call> ", "note": [1, {}]})]),
    ("glm", "<tool_call>weather<arg_key>city</arg_key><arg_value>Rome</arg_value><tool_call>now</tool_call>",
     [ROME, ("call", "now", {})]),
    ("glm", "<tool_call>now<arg_key>a</arg_key></tool_call> So <tool_call>now</tool_call>",
     [("call", "now", {}), ("text", "So"), ("call", "now", {})]),
    ("glm", "<tool_call>now<arg_key>a</tool_call>So<tool_call>now<arg_key>a<tool_call>now</tool_call>",
     [("call", "now", {}), ("text", "So"), ("call", "now", {}), ("call", "now", {})]),
    ("glm", "<tool_call>weather<arg_key>note</arg_key><arg_key>city</arg_key><arg_value>Rome</arg_value>"
     "</tool_call>", [ROME]),
    ("glm", "<tool_call>x <tool_call>now</tool_call>", [("text", "<tool_call>x"), ("call", "now", {})]),
    ("glm", "<tool_call>weather in Oslo</tool_call>", [("text", "<tool_call>weather in Oslo</tool_call>")]),
    ("glm", '<tool_call>{"name": "now"}</tool_call>', [("text", '<tool_call>{"name": "now"}</tool_call>')]),
    ("glm", "<tool_call> <arg_key>", [("text", "<tool_call> <arg_key>")]),
    ("glm", f"<tool_call>{'x' * 300}<arg_key>", [("text", f"<tool_call>{'x' * 300}<arg_key>")]),
    ("glm", "a <tool_call>no", [("text", "a <tool_call>no")]),
    ("gemma", 'Hm<|tool_call>call:weather{city:<|"|>Oslo<|"|>,days:3}<tool_call|>'
     "<|tool_call>call:now{}<tool_call|>",
     [("text", "Hm"), OSLO, ("call", "now", {})]),
    ("gemma", '<|tool_call>call:weather{city:<|"|>a "b"\n<|"<tool_call|> {<|"|>}<tool_call|>!',
     [("call", "weather", {"city": 'a "b"\n<|"<tool_call|> {'}), ("text", "!")]),
    ("gemma", '<|tool_call>call:weather{note:{x:[1,-2.5,<|"|>y<|"|>,true,[],{}],<|"|>z<|"|>:None}}'
     "<tool_call|>",
     [("call", "weather", {"note": {"x": [1, -2.5, "y", True, [], {}], "z": None}})]),
    ("gemma", '<|tool_call>call:weather{"city": "a\\"}\\\\", note: ["b" , c d], dry:}<tool_call|>',
     [("call", "weather", {"city": 'a"}\\', "note": ["b", "c d"], "dry": None})]),
    ("gemma", '<|tool_call>call:now{m:{"10:30":1,"a}b" : 2,"a\\"b":"c",<|"|>k:k<|"|>:3,"x":{}}}<tool_call|>',
     [("call", "now", {"m": {"10:30": 1, "a}b": 2, 'a"b': "c", "k:k": 3, "x": {}}})]),
    ("gemma", '<|tool_call>call:now{"a",b:1,"c"}<tool_call|>', [("call", "now", {"b": 1})]),
    ("gemma", "<|tool_call>call:now{a:1<tool_call|>So.", [("call", "now", {"a": 1}), ("text", "So.")]),
    ("gemma", '<|tool_call>call:now{a:{b:[<|"|>x<|"|>, <tool_call|>So.',
     [("call", "now", {"a": {"b": ["x"]}}), ("text", "So.")]),
    ("gemma", "<|tool_call>call:now{a:<|tool_call>call:now{a<tool_call|>So.",
     [("call", "now", {"a": None}), ("call", "now", {}), ("text", "So.")]),
    ("gemma", '<|tool_call>call:now{"a" <tool_call|>So.', [("call", "now", {}), ("text", "So.")]),
    ("gemma", "<|tool_call>call:now{a:1<2, b:<|x, <c:3}<tool_call|>",
     [("call", "now", {"a": "1<2", "b": "<|x", "<c": 3})]),
    ("gemma", "<|tool_call>call:now{a}<|tool_call>call:now{,]<tool_call|>",
     [("call", "now", {}), ("call", "now", {})]),
    ("gemma", "<|tool_call>calling you{}", [("text", "<|tool_call>calling you{}")]),
    ("gemma", "<|tool_call>call:two words{}", [("text", "<|tool_call>call:two words{}")]),
    ("gemma", "a <|tool_call>call:no", [("text", "a <|tool_call>call:no")]),
    ("olmo", 'Hm<function_calls>weather(city="Oslo", days=3)\nnow()</function_calls>',
     [("text", "Hm"), OSLO, ("call", "now", {})]),
    ("olmo", """<function_calls>weather(city="a)b\\n\\"c", note={"x": [1, true, null]}, dry=False)
weather(city='Rome')</function_calls>So.""",
     [("call", "weather", {"city": 'a)b\n"c', "note": {"x": [1, True, None]}, "dry": False}), ROME,
      ("text", "So.")]),
    ("olmo", "<function_calls>no call</function_calls>",
     [("text", "<function_calls>no call</function_calls>")]),
    ("olmo", "a <function_c", [("text", "a <function_c")]),
    ("nemotron", 'Hm\n<TOOLCALL>[{"name": "weather", "arguments": {"city": "Oslo", "days": 3}}, '
     '{"name": "weather", "arguments": {"city": "Rome"}}]</TOOLCALL>', [("text", "Hm"), OSLO, ROME]),
    ("nemotron", '<TOOLCALL>[{"name": "now", "arguments": {}}]</TOOLCALL>So.',
     [("call", "now", {}), ("text", "So.")]),
    ("nemotron", '<TOOLCALL>[{"name": "now", "arguments": {}}] So: </TOOLCALL>',
     [("call", "now", {}), ("text", "So: </TOOLCALL>")]),
    ("nemotron", '<TOOLCALL>[{"name": "now", "arguments": {}}] </TOOLCALL>So: </TOOLCALL>',
     [("call", "now", {}), ("text", "So: </TOOLCALL>")]),
    ("nemotron", '<TOOLCALL>[{"name": "now", "arguments": {}}</TOOLCALL>So.',
     [("call", "now", {}), ("text", "So.")]),
    ("nemotron", '<TOOLCALL>[{"name": "now", "arguments": {}</TOOLCALL>So.',
     [("call", "now", {}), ("text", "So.")]),
    ("nemotron", '<TOOLCALL>{"name": "weather", "arguments": {"city": "Rome"}}</TOOLCALL>So.',
     [ROME, ("text", "So.")]),
    ("nemotron", '<TOOLCALL>[{"arguments": {}, "name": "now"}]<TOOLCALL>{"name": "now"</TOOLCALL>',
     [("call", "now", {}), ("text", '<TOOLCALL>{"name": "now"</TOOLCALL>')]),
    ("nemotron", "<TOOLCALL>[no]</TOOLCALL>", [("text", "<TOOLCALL>[no]</TOOLCALL>")]),
    ("nemotron", "<TOOLCALL>no</TOOLCALL>", [("text", "<TOOLCALL>no</TOOLCALL>")]),
    ("llama", '{"name": "weather", "parameters": {"city": "Rome"}}', [ROME]),
    ("llama", '<|python_tag|>{"type": "function", "name": "weather", "parameters": {"city": "Rome"}}',
     [ROME]),
    ("llama", '{"name": "weather", "parameters": {"city": "Rome"}}; {"name": "now", "parameters": {}}',
     [ROME, ("call", "now", {})]),
    ("llama", '{"name": "Ada", "parameters": {}}', [("text", '{"name": "Ada", "parameters": {}}')]),
    ("llama", '{"name": "Ada"}', [("text", '{"name": "Ada"}')]),
    ("llama", '{"a": [1, {}]} is JSON.', [("text", '{"a": [1, {}]} is JSON.')]),
    ("llama", "<|pyth", [("text", "<|pyth")]),
    ("mistral list", '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Rome"}, "id": "abcdefghi"}]',
     [ROME]),
    ("mistral list", '[TOOL_CALLS] [{"name": "weather", "arguments": {"city": "Oslo", "days": 3}}, '
     '{"name": "weather", "arguments": {"city": "Rome"}}]', [OSLO, ROME]),
    ("mistral", 'Hm[TOOL_CALLS]weather[ARGS]{"city": "Rome"}[TOOL_CALLS]now[CALL_ID]x1[ARGS]{}',
     [("text", "Hm"), ROME, ("call", "now", {})]),
    ("mistral", '[TOOL_CALLS]weather{"city": "Rome"}', [ROME]),
    ("mistral", "[TOOL_CALLS]what is this?", [("text", "[TOOL_CALLS]what is this?")]),
    ("harmony", "<|start|>assistant<|channel|>final<|message|>It rains.", [("text", "It rains.")]),
    ("harmony", "<|channel|>commentary<|message|>Let me see.<|end|><|start|>assistant<|channel|>commentary "
     'to=functions.weather <|constrain|>json<|message|>{"city": "Oslo", "days": 3}<|call|>',
     [("text", "Let me see."), OSLO]),
    ("harmony", '<|start|>assistant to=functions.weather<|channel|>commentary json<|message|>'
     '{"city": "Rome"}', [ROME]),
    ("harmony", " to=functions.now<|channel|>commentary <|constrain|>json<|message|>{}",
     [("call", "now", {})]),
    ("harmony", "<|channel|>commentary to=functions.now<|message|>no JSON",
     [("text", "<|channel|>commentary to=functions.now<|message|>no JSON")]),
    ("harmony", "a <|chan", [("text", "a <|chan")]),
    ("generic", '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>', [ROME]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "expected"), CASES)
def test_what_is_read(name, text, expected):
    assert found(name, text) == expected


NOW = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'
TOLD = ("call", "now", "{}")
CUT = [  # calls that are cut off: the parts with the arguments as they are
    ("hermes", '<tool_call>{"name": "weather", "arguments": {"city": "Rome"</tool_call>So.' + NOW,
     [("call", "weather", '{"city": "Rome"'), ("text", "", "So."), TOLD]),
    ("hermes", '<tool_call>{"name": "weather", "arguments": {"city": "Ro</tool_call>So.' + NOW,
     [("call", "weather", '{"city": "Ro'), ("text", "", "So."), TOLD]),
    ("hermes", '<tool_call>{"name": "weather", "arguments": {"city": "Ro</tool_call>So.',
     [("call", "weather", '{"city": "Ro'), ("text", "", "So.")]),
    ("hermes", '<tool_call>{"name": "weather", "arguments": {"city": "Ro' + NOW,
     [("call", "weather", '{"city": "Ro'), TOLD]),
    ("hermes", '<tool_call>{"name": "weather", "arguments": {"city": ["Rome"}}</tool_call>So.',
     [("call", "weather", '{"city": ["Rome"}'), ("text", "", "So.")]),
    ("hermes", '<tool_call>{"name": "weather", "arguments": {"days": 3]}</tool_call>So.',
     [("call", "weather", '{"days": 3]'), ("text", "", "So.")]),
    ("hermes", '<tool_call>{"arguments": {"city": "Ro</tool_call>So.' + NOW,
     [("text", "", '<tool_call>{"arguments": {"city": "Ro</tool_call>So.'), TOLD]),
    ("hermes", '<tool_call>{"name": "now", "arguments": {}}}</tool_call>So.', [TOLD, ("text", "", "So.")]),
    ("hermes", '<tool_call>{"name": "now", "arguments": {}}\nSo.', [TOLD, ("text", "", "So.")]),
    ("hermes", '<tool_call>{"name": "now", "arguments": {}\nSo.' + NOW, [TOLD, ("text", "", "So."), TOLD]),
    ("hermes", '```json\n{"name": "weather", "arguments": {"city": "Rome"```So.',
     [("call", "weather", '{"city": "Rome"'), ("text", "", "So.")]),
    ("hermes", "<tool_call>\n" + NOW, [("text", "", "<tool_call>"), TOLD]),
    ("llama", '<|python_tag|><|python_tag|>{"name": "now", "parameters": {}}',
     [("text", "", "<|python_tag|>"), TOLD]),
    ("qwen coder", "<tool_call>\n<tool_call>\n<function=now>\n</function>\n</tool_call>",
     [("text", "", "<tool_call>"), TOLD]),
    ("qwen coder", "<tool_call>\n<function=wea<tool_call>\n<function=now>\n</function>\n</tool_call>",
     [("text", "", "<tool_call>\n<function=wea"), TOLD]),
    ("lfm2", "<|tool_call_start|>[weather<|tool_call_start|>[now()]<|tool_call_end|>",
     [("text", "", "<|tool_call_start|>[weather"), TOLD]),
    ("hermes", '{"name": "weather", "arguments": {"city": "Rome"' + NOW,
     [("call", "weather", '{"city": "Rome"'), TOLD]),
    ("mistral", '[TOOL_CALLS]weather[ARGS]{"city": "Ro[TOOL_CALLS]now[ARGS]{}So.',
     [("call", "weather", '{"city": "Ro'), TOLD, ("text", "", "So.")]),
    ("mistral", '[TOOL_CALLS]weather[ARGS]{"city": ["Rome"}So.',
     [("call", "weather", '{"city": ["Rome"}'), ("text", "", "So.")]),
    ("mistral", "[TOOL_CALLS]wea[TOOL_CALLS]now[ARGS]{}So.",
     [("text", "", "[TOOL_CALLS]wea"), TOLD, ("text", "", "So.")]),
    ("mistral", "[TOOL_CALLS]weather[ARGS][TOOL_CALLS]now[ARGS]{}",
     [("text", "", "[TOOL_CALLS]weather[ARGS]"), TOLD]),
    ("mistral", "[TOOL_CALLS] [TOOL_CALLS]now[ARGS]{}", [("text", "", "[TOOL_CALLS]"), TOLD]),
    ("mistral", f"[TOOL_CALLS]{'x' * 250}[TOOL_CALLS]now[ARGS]{{}}",
     [("text", "", f"[TOOL_CALLS]{'x' * 250}"), TOLD]),
    ("mistral list", '[TOOL_CALLS][{"name": "now", "arguments": {}, {"name": "now", "arguments": {}'
     '[TOOL_CALLS][{"name": "now", "arguments": {}}]So.', [TOLD, TOLD, TOLD, ("text", "", "So.")]),
    ("mistral list", '[TOOL_CALLS][{"name": "now", "arguments": {}, "id": "ab',
     [TOLD, ("text", "", ', "id": "ab')]),
    ("mistral list", '[TOOL_CALLS][ [TOOL_CALLS][{"name": "now", "arguments": {}}]So.',
     [("text", "", "[TOOL_CALLS]["), TOLD, ("text", "", "So.")]),
    ("llama", '{"name": "now", "parameters": {}\nSo.', [TOLD, ("text", "", "So.")]),
    ("llama", '{"name": "weather", "parameters": {"city": <|python_tag|>{"name": "now", "parameters": {}}'
     '<|python_tag|>{"name": "now", "parameters": {}}', [("call", "weather", '{"city": '), TOLD, TOLD]),
    ("nemotron", '<TOOLCALL><TOOLCALL>[<TOOLCALL>[{"name": "now", "arguments": {}}]</TOOLCALL>So.',
     [("text", "", "<TOOLCALL><TOOLCALL>["), TOLD, ("text", "", "So.")]),
    ("nemotron", '<TOOLCALL>[{"name": "weather", "arguments": {"city": "Ro</TOOLCALL>So.',
     [("call", "weather", '{"city": "Ro'), ("text", "", "So.")]),
    ("lfm2", "<|tool_call_start|>[<|tool_call_start|>[now()]<|tool_call_end|>So.",
     [("text", "", "<|tool_call_start|>["), TOLD, ("text", "", "So.")]),
    ("lfm2", '<|tool_call_start|>[{"name": "weather", "arguments": {"city": "Rome"<|tool_call_end|>So.',
     [("call", "weather", '{"city": "Rome"'), ("text", "", "So.")]),
    ("harmony", '<|channel|>commentary to=functions.weather<|message|>{"city": "Ro<|call|>'
     "<|start|>assistant<|channel|>final<|message|>So.",
     [("call", "weather", '{"city": "Ro'), ("text", "", "So.")]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "expected"), CUT)
def test_a_call_that_is_cut_off_takes_nothing_that_follows(name, text, expected):
    assert [(part.kind, part.name, part.text) for part in read(name, list(text))] == expected


def test_a_text_with_a_mark_is_given_once_it_has_ended_like_one_of_json():
    reader = FORMS["hermes"].reader(TOOLS)
    assert reader.add('<tool_call>{"name": "x", "arguments": {"a": "b</tool_') == [
        ("name", "x"),
        ("arguments", '{"a": "b'),
    ]
    assert reader.add('call> {\\"c" ') == []
    assert reader.add(", ") == [("arguments", '</tool_call> {\\"c" , ')]


@pytest.mark.parametrize("name", FORMS)
def test_text_without_marks_stays_as_it_is(name):
    text = " Call me { maybe }, <b>now</b> [1, 2] \n"
    assert found(name, text) == [("text", text)]


def test_only_one_call_if_only_one_is_wanted():
    text = CASES[2][1]
    assert found("hermes", text, several=False) == [OSLO]


def test_a_call_is_begun_as_soon_as_its_name_is_certain():
    reader = FORMS["hermes"].reader(TOOLS)
    assert reader.add('<tool_call>\n{"name": "weather", "arguments": ') == []
    assert reader.add('{"city"') == [("name", "weather"), ("arguments", '{"city"')]
    assert reader.add(': "Os') == [("arguments", ': "Os')]


def test_a_text_of_gemma_is_given_while_it_is_written():
    reader = FORMS["gemma"].reader(TOOLS)
    assert reader.add('<|tool_call>call:weather{city:<|"|>O') == [
        ("name", "weather"),
        ("arguments", '{"city": "O'),
    ]
    assert reader.add('s"<|') == [("arguments", 's\\"')]
    assert reader.add('"|>}<tool_call|>') == [("arguments", '"}')]


PIECES = [
    "<tool_call>", "</tool_call>", "<function=", "weather>", "</function>", "<parameter=city>",
    "</parameter>", "<seed:tool_call>", "</seed:tool_call>", "<arg_key>", "city</arg_key>", "<arg_value>",
    "</arg_value>", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "<|python_tag|>", '{"name": "weather", ',
    '"arguments": ', '"parameters": ', '{"city": "Rome"}', "{", "}", "[", "]",
    "<|channel|>", "commentary to=functions.now", "<|message|>", "<|start|>assistant", "<|end|>",
    '"', "\\", ",", ";", " ", "\n", "x", "é", "<", "now", "<tool_", "</",
    "<|tool_call>", "call:now{", '<|"|>', "a:", "<tool_call|>", "<TOOLCALL>", "</TOOLCALL>",
    "<function_calls>", "</function_calls>",
    "<|tool_call_start|>[", "weather(", "now()", "city=", "'", "(", ")", "=", "<|tool_call_end|>",
    "<think>", "</think>",
]  # fmt: skip
DEEP = [
    "<tool_call>{" * 5000, "<tool_call>now<arg_key>" * 1000, '{"name":' * 20000, "[TOOL_CALLS][" * 5000,
    "[" * 100000, "<|tool_call>call:now{a:" + "[{b:" * 5000, "<|tool_call>" * 1000,
    '<TOOLCALL>[{"name":"' + "{" * 50_000,
    '<tool_call>{"name": "x", "arguments": {"a": "' * 2000, '[TOOL_CALLS]x{"a":"' * 5000,
    '<tool_call>{"name": "x", "arguments": {"a": "' + '<tool_call>{\\"' * 5000,
    '<tool_call>{"name": "now"}' + "}" * 100_000,
]  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@pytest.mark.parametrize("name", FORMS)
@settings(deadline=None)
@given(text=HOSTILE, cuts=st.lists(st.integers(0, 200), max_size=8))
def test_cuts_change_nothing_and_no_text_fails(name, text, cuts):
    places = [0, *sorted(cut for cut in cuts if cut <= len(text)), len(text)]
    parts = read(name, [text[start:stop] for start, stop in pairwise(places)])
    assert [(p.kind, p.name, p.text) for p in parts] == [
        (p.kind, p.name, p.text) for p in read(name, list(text))
    ]


@pytest.mark.timeout(30)  # linear readers need a fraction of a second, quadratic ones a minute
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("text", DEEP)
def test_deep_nesting_is_read_to_its_end(name, text):
    assert read(name, [text])
