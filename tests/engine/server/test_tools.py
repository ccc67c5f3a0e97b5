"""Tools in all interfaces, through the official clients, from an engine that answers by script."""

import json

import pytest

from tests.engine.server.official import openai
from tests.engine.server.scripted import ScriptedEngine, served

HERMES = "{% if tools %}<tools>{% endif %}<tool_call></tool_call>"
ASKED = [{"role": "user", "content": "Is it cold in Oslo?"}]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "weather", "description": "The weather.", "parameters": SCHEMA}
CHAT_TOOL = {"type": "function", "function": FUNCTION}
RESPONSE_TOOL = {"type": "function", **FUNCTION, "strict": False}
MESSAGE_TOOL = {"name": "weather", "description": "The weather.", "input_schema": SCHEMA}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "%s"}}\n</tool_call>'
TWO = f"<think>Hm</think>Let me see.\n{CALL % 'Oslo'}\n{CALL % 'Rome'}"


@pytest.fixture(scope="module")
def engine() -> ScriptedEngine:
    return ScriptedEngine(HERMES)


@pytest.fixture(autouse=True)
def two_calls(engine: ScriptedEngine) -> None:
    engine.text, engine.stop_reason = TWO, "end_of_sequence"


def test_a_chat_calls(engine, gpt):
    asked = dict(model="scripted", messages=ASKED, tools=[CHAT_TOOL])
    choice = gpt.chat.completions.create(**asked).choices[0]
    assert choice.finish_reason == "tool_calls"
    assert (choice.message.content, choice.message.reasoning_content) == ("Let me see.", "Hm")
    called = [(call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls]
    assert called == [("weather", {"city": "Oslo"}), ("weather", {"city": "Rome"})]
    assert len({call.id for call in choice.message.tool_calls}) == 2
    (tool,) = engine.chats[-1].template.tools
    assert (tool.name, tool.description, json.loads(tool.parameters)) == ("weather", "The weather.", SCHEMA)
    assert engine.chats[-1].options.constraint is None
    with gpt.chat.completions.stream(**asked) as stream:
        whole = stream.get_final_completion().choices[0]
    assert whole.finish_reason == "tool_calls"
    assert [
        (call.function.name, json.loads(call.function.arguments)) for call in whole.message.tool_calls
    ] == called


def test_a_response_calls(gpt):
    asked = dict(model="scripted", input="Is it cold in Oslo?", tools=[RESPONSE_TOOL])
    whole = gpt.responses.create(**asked)
    assert [item.type for item in whole.output] == ["reasoning", "message", "function_call", "function_call"]
    assert [json.loads(item.arguments) for item in whole.output[2:]] == [{"city": "Oslo"}, {"city": "Rome"}]
    with gpt.responses.stream(**asked) as stream:
        events = list(stream)
        final = stream.get_final_response()
    assert [item.arguments for item in final.output[2:]] == [item.arguments for item in whole.output[2:]]
    done = [event for event in events if event.type == "response.function_call_arguments.done"]
    assert [event.arguments for event in done] == [item.arguments for item in whole.output[2:]]
    assert [event.output_index for event in done] == [2, 3]


def test_a_message_calls(claude):
    asked = dict(model="scripted", messages=ASKED, max_tokens=99, tools=[MESSAGE_TOOL])
    whole = claude.messages.create(**asked)
    assert [block.type for block in whole.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert [block.input for block in whole.content[2:]] == [{"city": "Oslo"}, {"city": "Rome"}]
    assert whole.stop_reason == "tool_use"
    with claude.messages.stream(**asked) as stream:
        final = stream.get_final_message()
    assert [block.input for block in final.content[2:]] == [{"city": "Oslo"}, {"city": "Rome"}]
    assert final.stop_reason == "tool_use"


def test_results_go_back_to_the_model(engine, gpt, claude):
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "-3"}
    gpt.chat.completions.create(model="scripted", messages=[*ASKED, said, result], tools=[CHAT_TOOL])
    items = [
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Oslo"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "-3"},
    ]
    gpt.responses.create(model="scripted", input=[*ASKED, *items], tools=[RESPONSE_TOOL])
    blocks = [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Oslo"}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "-3"}]},
    ]
    claude.messages.create(model="scripted", messages=[*ASKED, *blocks], max_tokens=9, tools=[MESSAGE_TOOL])
    for asked in engine.chats[-3:]:
        assert [message.role for message in asked.messages] == ["user", "assistant", "tool"]
        (made,) = asked.messages[1].calls
        assert (made.id, made.name, json.loads(made.arguments)) == ("c1", "weather", {"city": "Oslo"})
        assert (asked.messages[2].call_id, asked.messages[2].content) == ("c1", "-3")


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "weather"}}])
def test_a_required_call_is_enforced(engine, gpt, claude, choice):
    gpt.chat.completions.create(model="scripted", messages=ASKED, tools=[CHAT_TOOL], tool_choice=choice)
    named = choice if choice == "required" else {"type": "function", "name": "weather"}
    gpt.responses.create(model="scripted", input="Hi", tools=[RESPONSE_TOOL], tool_choice=named)
    any_of = {"type": "any"} if choice == "required" else {"type": "tool", "name": "weather"}
    claude.messages.create(
        model="scripted", messages=ASKED, max_tokens=9, tools=[MESSAGE_TOOL], tool_choice=any_of
    )
    constraints = [asked.options.constraint for asked in engine.chats[-3:]]
    assert constraints[0].text == constraints[1].text == constraints[2].text
    assert "<tool_call>" in constraints[0].text
    assert ("*" in constraints[0].text.splitlines()[0]) == (choice == "required")


def test_strict_calls_are_enforced_where_there_are_any(engine, gpt):
    strict = {"type": "function", "function": {**FUNCTION, "strict": True}}
    gpt.chat.completions.create(model="scripted", messages=ASKED, tools=[strict])
    assert "lazy" in engine.chats[-1].options.constraint.text


def test_no_tool_is_offered_if_none_may_be_used(engine, gpt):
    done = gpt.chat.completions.create(
        model="scripted", messages=ASKED, tools=[CHAT_TOOL], tool_choice="none"
    )
    assert not engine.chats[-1].template.tools
    assert done.choices[0].message.tool_calls is None
    assert "<tool_call>" in done.choices[0].message.content


def test_one_call_if_they_must_not_be_parallel(gpt):
    done = gpt.chat.completions.create(
        model="scripted", messages=ASKED, tools=[CHAT_TOOL], parallel_tool_calls=False
    )
    assert len(done.choices[0].message.tool_calls) == 1


def test_a_call_that_is_cut_off(engine, gpt, claude):
    engine.text = '<tool_call>{"name": "weather", "arguments": {"city": '
    engine.stop_reason = "max_new_tokens"
    choice = gpt.chat.completions.create(model="scripted", messages=ASKED, tools=[CHAT_TOOL]).choices[0]
    assert choice.finish_reason == "length"
    assert choice.message.tool_calls[0].function.arguments == '{"city": '
    message = claude.messages.create(model="scripted", messages=ASKED, max_tokens=9, tools=[MESSAGE_TOOL])
    assert message.stop_reason == "max_tokens"
    assert message.content[0].input == {"INVALID_JSON": '{"city": '}


def test_tools_are_counted(engine, claude):
    counted = claude.messages.count_tokens(model="scripted", messages=ASKED, tools=[MESSAGE_TOOL])
    assert counted.input_tokens == 7
    assert [tool.name for tool in engine.counts[-1].template.tools] == ["weather"]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"tools": [CHAT_TOOL, CHAT_TOOL]}, "tools"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools"),
        ({"tools": [{"type": "custom", "custom": {"name": "x"}}]}, "tools"),
        (
            {"tools": [CHAT_TOOL], "tool_choice": {"type": "function", "function": {"name": "x"}}},
            "tool_choice",
        ),
        ({"tool_choice": "required"}, "tool_choice"),
        (
            {"tools": [CHAT_TOOL], "tool_choice": "required", "response_format": {"type": "json_object"}},
            "tool_choice",
        ),
    ],
)
def test_what_cannot_be_is_refused(gpt, fields, place):
    with pytest.raises(openai.BadRequestError) as refused:
        gpt.chat.completions.create(model="scripted", messages=ASKED, extra_body=fields)
    assert refused.value.param.startswith(place)


def test_a_template_without_tools_gets_them_explained():
    engine = ScriptedEngine("{{ messages }}")
    engine.text = CALL % "Oslo"
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
    said = {"role": "assistant", "content": "So:", "tool_calls": [call]}
    results = [{"role": "tool", "tool_call_id": "c1", "content": text} for text in ("-3", "-4")]
    system = {"role": "system", "content": "Be brief."}
    with served(engine) as address, openai.OpenAI(base_url=f"{address}/v1", api_key="none") as client:
        done = client.chat.completions.create(
            model="scripted", messages=[system, *ASKED, said, *results], tools=[CHAT_TOOL]
        )
    assert done.choices[0].message.tool_calls[0].function.name == "weather"
    (asked,) = engine.chats
    assert not asked.template.tools
    assert [message.role for message in asked.messages] == ["system", "user", "assistant", "user"]
    assert asked.messages[0].content.startswith("Be brief.\n\n# Tools")
    assert json.dumps(SCHEMA) in asked.messages[0].content
    assert asked.messages[2].content == f"So:\n{CALL % 'Oslo'}"
    assert asked.messages[3].content.count("<tool_response>") == 2
