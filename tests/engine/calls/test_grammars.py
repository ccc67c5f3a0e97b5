"""The grammars of calls: they allow what the readers read, and nothing else."""

import json
import re
from functools import cache

import pytest

from engine.calls.formats import FORMATS, GENERIC
from engine.calls.grammar import json_rule
from engine.calls.offer import OfferedTool, ToolOffer
from engine.constraint.grammar import Grammars
from engine.errors import BadConstraint
from engine.protocol import Constraint, TextDelta
from engine.server.answer_parts import AnswerParts

END = 256
GRAMMARS = Grammars([*(bytes([byte]) for byte in range(256)), b"<end>"], [END])
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
WEATHER = OfferedTool("weather", "", SCHEMA, strict=True)
NOW = OfferedTool("now", "", {"type": "object", "properties": {}})
GOOD = {"city": "Oslo", "days": 3}

start = cache(GRAMMARS.start)  # a grammar takes longer to compile than a text to check


def accepts(constraint, text):
    """Whether the grammar takes `text` as a whole, byte by byte."""
    state = start(constraint)
    for byte in [*text.encode(), END]:
        state = state.after(byte)
        if state is None:
            return False
    return True


def written(format, *calls):
    """Calls as a model writes them in this format."""
    if format.name == "qwen coder":
        made = [
            f"<tool_call>\n<function={name}>\n"
            + "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in given.items())
            + "</function>\n</tool_call>"
            for name, given in calls
        ]
        return "\n".join(made)
    if format.name == "seed":
        made = [
            f"<seed:tool_call>\n<function={name}>\n"
            + "".join(f"<parameter={key}>{value}</parameter>\n" for key, value in given.items())
            + "</function>\n</seed:tool_call>"
            for name, given in calls
        ]
        return "\n".join(made)
    if format.name == "glm":
        made = [
            f"<tool_call>{name}\n"
            + "".join(
                f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n" for key, value in given.items()
            )
            + "</tool_call>"
            for name, given in calls
        ]
        return "\n".join(made)
    if format.name == "gemma":
        made = []
        for name, given in calls:
            texts = {
                key: f'<|"|>{value}<|"|>' if isinstance(value, str) else value for key, value in given.items()
            }
            listed = ",".join(f"{key}:{value}" for key, value in texts.items())
            made.append(f"<|tool_call>call:{name}{{{listed}}}<tool_call|>")
        return "".join(made)
    if format.name == "harmony":
        head = "<|channel|>commentary to=functions."
        made = [f"{head}{name} <|constrain|>json<|message|>{json.dumps(given)}" for name, given in calls]
        return "<|start|>assistant".join(made)
    if format.name in ("lfm2", "lfm2 without calls", "olmo"):
        given = (
            (name, ", ".join(f"{key}={json.dumps(given[key])}" for key in given)) for name, given in calls
        )
        if format.name == "olmo":
            listed = "\n".join(f"{name}({text})" for name, text in given)
            return f"<function_calls>{listed}</function_calls>"
        return "".join(f"<|tool_call_start|>[{name}({text})]<|tool_call_end|>" for name, text in given)
    if format.name == "mistral":
        return "".join(f"[TOOL_CALLS]{name}[ARGS]{json.dumps(given)}" for name, given in calls)
    key = "parameters" if format.name == "llama" else "arguments"
    made = [json.dumps({"name": name, key: given}) for name, given in calls]
    if format.name == "mistral list":
        return f"[TOOL_CALLS][{', '.join(made)}]"
    if format.name == "nemotron":
        return f"<TOOLCALL>[{', '.join(made)}]</TOOLCALL>"
    if format.name == "llama":
        return "; ".join(made)
    return "\n".join(f"<tool_call>\n{each}\n</tool_call>" for each in made)


@pytest.fixture(params=(*FORMATS, GENERIC), ids=lambda format: format.name)
def format(request):
    return request.param


def test_a_required_call_follows_its_schema(format):
    constraint = format.constraint(ToolOffer((WEATHER, NOW), "required"))
    both = written(format, ("weather", GOOD), ("now", {}))
    assert accepts(constraint, written(format, ("weather", GOOD)))
    assert accepts(constraint, both)
    parts = AnswerParts(calls=format.reader([WEATHER, NOW]))
    list(parts.add(TextDelta(request=1, text=both, tokens=1)))
    list(parts.finish())
    assert [(part.name, json.loads(part.text)) for part in parts.parts] == [("weather", GOOD), ("now", {})]
    assert not accepts(constraint, "Oslo is cold.")
    assert not accepts(constraint, written(format, ("weather", {"city": "Oslo"})))
    assert not accepts(constraint, written(format, ("other", {})))


@pytest.mark.parametrize("kind", ["json_schema", "grammar"])
def test_json_may_be_indented_but_has_no_empty_lines(kind):
    schema = json.dumps(SCHEMA)
    constraint = Constraint(
        kind=kind, text=schema if kind == "json_schema" else f"start: {json_rule(SCHEMA)}"
    )
    compact = json.dumps(GOOD, separators=(",", ":"))
    for text in (compact, json.dumps(GOOD), json.dumps(GOOD, indent=4), json.dumps(GOOD, indent="\t")):
        assert accepts(constraint, text)
    assert accepts(constraint, json.dumps(GOOD, indent=2).replace("\n", "\r\n"))
    assert not accepts(constraint, json.dumps(GOOD, indent=2).replace("\n", "\n\n"))
    assert not accepts(constraint, compact.replace(":", ":" + 65 * " "))


@pytest.mark.parametrize("name", ["glm", "seed", "qwen coder"])
def test_one_of_several_texts_is_written_without_quotes(name):
    format = next(each for each in FORMATS if each.name == name)
    tool = OfferedTool("paint", "", {"properties": {"colour": {"type": "string", "enum": ["red", "<b>"]}}})
    constraint = format.constraint(ToolOffer((tool,), "required"))
    call = written(format, ("paint", {"colour": "<b>"}))
    assert accepts(constraint, call)
    assert not accepts(constraint, written(format, ("paint", {"colour": "blue"})))
    found = format.reader([tool]).add(call)
    assert [(kind, text) for kind, text in found if kind != "text"] == [
        ("name", "paint"), ("arguments", '{"colour": "<b>"}'),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "required"),
    [
        ({}, []),
        ({"a": 1}, []),
        ({"c": "x"}, []),
        ({"a": 1, "c": "x"}, []),
        ({"a": 1, "b": 2, "c": ""}, []),
        ({"b": 2}, ["b"]),
        ({"b": 2, "c": "x"}, ["b"]),
        ({"a": 1, "b": 2, "c": "x"}, ["c", "b"]),
    ],
)
def test_parameters_of_gemma_that_are_not_required_may_be_left_out(given, required):
    gemma = next(each for each in FORMATS if each.name == "gemma")
    kinds = {"c": {"type": "string"}, "a": {"type": "integer"}, "b": {"type": "integer"}}
    tool = OfferedTool("look", "", {"properties": kinds, "required": required})
    constraint = gemma.constraint(ToolOffer((tool,), "required"))
    assert accepts(constraint, written(gemma, ("look", given)))
    for name in required:
        left = {key: value for key, value in given.items() if key != name}
        assert not accepts(constraint, written(gemma, ("look", left)))
    if len(given) > 1:
        turned = dict(reversed(given.items()))
        assert not accepts(constraint, written(gemma, ("look", turned)))


def test_a_required_call_of_glm_may_have_no_line_breaks():
    glm = next(each for each in FORMATS if each.name == "glm")
    constraint = glm.constraint(ToolOffer((WEATHER, NOW), "required"))
    assert accepts(constraint, written(glm, ("weather", GOOD)).replace("\n", ""))
    assert accepts(constraint, "<tool_call>now</tool_call>")


def test_a_strict_call_follows_its_schema_and_other_text_is_free(format):
    constraint = format.constraint(ToolOffer((WEATHER, NOW)))
    if not format.mark:
        assert constraint is None
        return
    assert accepts(constraint, "Oslo is cold <b>and</b> [dark].\n")
    assert accepts(constraint, "Let me see.\n" + written(format, ("weather", GOOD)))
    assert accepts(constraint, written(format, ("weather", GOOD), ("now", {})))
    assert not accepts(constraint, written(format, ("weather", {"city": "Oslo"})))
    assert not accepts(constraint, "Well, " + written(format, ("other", {})))


def test_nothing_is_enforced_without_need(format):
    assert format.constraint(ToolOffer()) is None
    assert format.constraint(ToolOffer((NOW,))) is None


FREE = OfferedTool("free", "", {"type": "object", "properties": {"a": {"type": "integer"}}})
BARE = OfferedTool("bare", "", {"type": "object", "additionalProperties": False})
TWICE = (("now", {}), ("now", {}))


@pytest.mark.parametrize(
    ("offer", "before", "taken", "refused"),
    [
        pytest.param(
            ToolOffer((WEATHER, NOW), "required", several=False, named="now"),
            "",
            [(("now", {}),)],
            [(("weather", GOOD),), TWICE],
            id="a named function is the only call",
        ),
        pytest.param(
            ToolOffer((BARE,), "required"),
            "",
            [(("bare", {}),)],
            [(("bare", {"a": 1}),)],
            id="a tool that forbids all arguments gets none",
        ),
        pytest.param(
            ToolOffer((WEATHER, FREE)),
            "",
            [(("free", {}),), (("free", {"a": "x", "b": "y"}),)],
            [(("weather", {"a": "x"}),)],
            id="a tool beside a strict one may have any arguments",
        ),
        pytest.param(
            ToolOffer((NOW,), several=False), "Hm. ", [(("now", {}),)], [TWICE], id="one call at most"
        ),
    ],
)
def test_calls_are_those_of_the_offer(format, offer, before, taken, refused):
    constraint = format.constraint(offer)
    if format.mark or offer.choice == "required":
        for calls in taken:
            assert accepts(constraint, before + written(format, *calls))
        for calls in refused:
            assert not accepts(constraint, written(format, *calls))


def test_a_schema_that_cannot_be_enforced_is_refused(format):
    odd = OfferedTool("odd", "", {"type": "object", "properties": {"a": {"not": {"type": "string"}}}})
    with pytest.raises(BadConstraint, match=re.compile("grammar")):
        accepts(format.constraint(ToolOffer((odd,), "required")), "")
