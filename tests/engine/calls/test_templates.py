"""Chat templates and the formats of calls that they teach: what a template writes of calls is read."""

import json

import pytest

from engine.calls.formats import format_of
from engine.calls.offer import OfferedTool
from engine.protocol import Message, ToolCall
from engine.serving.template_input import template_message
from engine.tokenizer.template_sandbox import apply
from tests.engine import chat_templates as templates

GIVEN = {"city": 'Oslo\n"<b>"', "days": 3, "dry": True, "note": {"a": [1, "x"]}}
KINDS = {"city": "string", "days": "integer", "dry": "boolean", "note": "object"}
SCHEMA = {"type": "object", "properties": {name: {"type": kind} for name, kind in KINDS.items()}}
TOOLS = [OfferedTool("weather", "", SCHEMA), OfferedTool("now", "", {"type": "object"})]


@pytest.mark.parametrize(
    ("template", "name"),
    [
        (templates.GLM, "glm"),
        (templates.SEED, "seed"),
        (templates.GEMMA_4, "gemma"),
        (templates.NEMOTRON_2, "nemotron"),
    ],
)
def test_a_template_is_told_by_its_marks(template, name):
    assert format_of(template).name == name


NATIVE = [templates.GLM, templates.SEED, templates.GEMMA_4, templates.NEMOTRON_2]


def written(template, *calls):
    """Earlier calls as the template writes them."""
    made = [ToolCall(id=name, name=name, arguments=given) for name, given in calls]
    messages = [Message("user", "Cold?"), Message("assistant", "", calls=made)]
    return apply(template, [template_message(each) for each in messages], (), {"bos_token": ""})


@pytest.mark.parametrize("template", NATIVE)
def test_calls_that_a_template_writes_are_read(template):
    given = {name: value for name, value in GIVEN.items() if template != templates.SEED or name != "note"}
    text = written(template, ("weather", json.dumps(given)), ("now", "{}"))
    reader = format_of(template).reader(TOOLS)
    read: list[tuple[str, str]] = []
    for kind, piece in [*reader.add(text), *reader.finish()]:
        if kind == "name":
            read.append((piece, ""))
        elif kind == "arguments":
            read[-1] = (read[-1][0], read[-1][1] + piece)
    assert [(name, json.loads(arguments)) for name, arguments in read] == [("weather", given), ("now", {})]


@pytest.mark.parametrize("template", NATIVE)
@pytest.mark.parametrize("cut", ['{"city": "Os', "", "[1]", "null"])
def test_a_call_that_was_cut_off_does_not_make_a_template_fail(template, cut):
    assert cut in written(template, ("weather", cut)).replace('\\"', '"')
