"""Thoughts in all interfaces, through the official clients, from an engine that answers by script."""

import json

import pytest

from engine.server.anthropic_messages import read_count, read_messages
from engine.server.chat_request import chat_of, count_of
from tests.engine.server.official import openai
from tests.engine.server.scripted import ScriptedEngine

ASKED = [{"role": "user", "content": "Six times seven?"}]
THOUGHT, TEXT = "Six sevens\nare 42.", "It is 42."
CASES = {
    "the answer opens the thought": ("", f"<think>\n{THOUGHT}\n</think>\n\n{TEXT}"),
    "the prompt opens the thought": ("<think>", f"\n{THOUGHT}\n</think>\n\n{TEXT}"),
    "marks that are special tokens": ("", f"[THINK]{THOUGHT}[/THINK]{TEXT}"),
}


TEMPLATE = "{% if enable_thinking and reasoning_effort not in ['none', 'low', 'high'] %}{% endif %}"


@pytest.fixture(scope="module")
def engine() -> ScriptedEngine:
    return ScriptedEngine(TEMPLATE)


@pytest.fixture(params=CASES)
def thinking(engine: ScriptedEngine, request: pytest.FixtureRequest) -> None:
    engine.thought, engine.text = CASES[request.param]


def chat(client: "openai.OpenAI", **fields: object) -> object:
    return client.chat.completions.create(model="scripted", messages=ASKED, extra_body=fields)


@pytest.mark.usefixtures("thinking")
def test_a_chat_tells_the_thought_from_the_text(gpt):
    done = chat(gpt)
    message = done.choices[0].message
    assert (message.reasoning_content, message.content) == (THOUGHT, TEXT)
    assert done.usage.completion_tokens_details.reasoning_tokens == 3
    chunks = gpt.chat.completions.create(model="scripted", messages=ASKED, stream=True)
    deltas = [chunk.choices[0].delta for chunk in chunks]
    assert "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas) == THOUGHT
    assert "".join(delta.content or "" for delta in deltas) == TEXT
    hidden = chat(gpt, include_reasoning=False).choices[0].message
    assert hidden.content == TEXT
    assert not hasattr(hidden, "reasoning_content")


@pytest.mark.usefixtures("thinking")
def test_a_response_has_the_thought_as_an_item(gpt):
    whole = gpt.responses.create(model="scripted", input="Six times seven?")
    assert [item.type for item in whole.output] == ["reasoning", "message"]
    assert whole.output[0].content[0].text == THOUGHT
    assert whole.output_text == TEXT
    assert whole.usage.output_tokens_details.reasoning_tokens == 3
    with gpt.responses.stream(model="scripted", input="Six times seven?") as stream:
        events = list(stream)
        final = stream.get_final_response()
    assert final.output_text == TEXT
    thought = [event.delta for event in events if event.type == "response.reasoning_text.delta"]
    assert "".join(thought) == THOUGHT
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert [item.type for item in done] == ["reasoning", "message"]
    assert [item.id for item in done] == [item.id for item in final.output]
    assert [event.sequence_number for event in events] == list(range(len(events)))


@pytest.mark.usefixtures("thinking")
def test_a_message_has_the_thought_as_a_block(claude):
    asked = dict(model="scripted", messages=ASKED, max_tokens=50)
    whole = claude.messages.create(**asked)
    assert [block.type for block in whole.content] == ["thinking", "text"]
    assert (whole.content[0].thinking, whole.content[1].text) == (THOUGHT, TEXT)
    assert whole.content[0].signature
    with claude.messages.stream(**asked) as stream:
        final = stream.get_final_message()
    assert [block.type for block in final.content] == ["thinking", "text"]
    assert final.content[0] == whole.content[0]
    assert final.content[1].text == TEXT
    omitted = claude.messages.create(**asked, thinking={"type": "adaptive", "display": "omitted"})
    assert (omitted.content[0].thinking, omitted.content[1].text) == ("", TEXT)


def test_a_thought_that_is_cut_off_is_no_text(engine, gpt, claude):
    engine.thought, engine.text = "", "<think>Six sevens ar"
    message = chat(gpt).choices[0].message
    assert (message.reasoning_content, message.content) == ("Six sevens ar", "")
    blocks = claude.messages.create(model="scripted", messages=ASKED, max_tokens=5).content
    assert [block.type for block in blocks] == ["thinking"]


@pytest.mark.parametrize(
    ("fields", "options", "budget"),
    [
        ({}, {}, None),
        ({"reasoning_effort": "high"}, {"enable_thinking": True, "reasoning_effort": "high"}, None),
        ({"reasoning_effort": "max"}, {"enable_thinking": True, "reasoning_effort": "high"}, None),
        ({"reasoning_effort": "none"}, {"enable_thinking": False, "reasoning_effort": "none"}, 0),
        ({"chat_template_kwargs": {"enable_thinking": False}}, {"enable_thinking": False}, None),
        ({"thinking_budget": 9}, {}, 9),
        ({"thinking_token_budget": 9}, {}, 9),
        ({"thinking_budget_tokens": -1}, {}, None),
    ],
)
def test_how_much_a_chat_may_think(engine, gpt, fields, options, budget):
    chat(gpt, **fields)
    asked = engine.chats[-1]
    assert asked.template.options.items() >= options.items()
    assert bool(asked.template.options) == bool(options)
    assert asked.options.thinking_budget == budget


@pytest.mark.parametrize(
    ("fields", "thinks", "budget"),
    [
        ({}, None, None),
        ({"thinking": {"type": "enabled", "budget_tokens": 2048}}, True, 2048),
        ({"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}, True, None),
        ({"thinking": {"type": "disabled"}}, False, 0),
    ],
)
def test_how_much_a_message_may_think(engine, claude, fields, thinks, budget):
    claude.messages.create(model="scripted", messages=ASKED, max_tokens=5, extra_body=fields)
    asked = engine.chats[-1]
    assert asked.template.options.get("enable_thinking") is thinks
    assert asked.options.thinking_budget == budget


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({"output_config": {"effort": "low"}}, {"enable_thinking": True, "reasoning_effort": "low"}),
        (
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}, "thinking_budget": 9},
            {"enable_thinking": True, "reasoning_effort": "high", "thinking_budget": 9},
        ),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 512}},
            {"enable_thinking": True, "thinking_budget": 512},
        ),
        (
            {"thinking": {"type": "disabled"}},
            {"enable_thinking": False, "reasoning_effort": "none", "thinking_budget": 0},
        ),
        ({"chat_template_kwargs": {"enable_thinking": False}}, {"enable_thinking": False}),
    ],
)
def test_the_prompt_that_is_counted_is_the_one_that_is_sent(fields, options):
    asked = {"model": "scripted", "messages": ASKED, **fields}
    template = TEMPLATE + "{{ thinking_budget }}"
    counted = count_of(read_count(json.dumps(asked).encode()), template)
    sent = chat_of(read_messages(json.dumps({**asked, "max_tokens": 5}).encode()), template, "", "")
    assert (counted.messages, counted.template) == (sent.messages, sent.template)
    assert counted.template.options.items() >= options.items()


def test_how_much_a_response_may_think(engine, gpt):
    gpt.responses.create(model="scripted", input="Hi", reasoning={"effort": "low", "summary": "auto"})
    assert engine.chats[-1].template.options["reasoning_effort"] == "low"


def test_earlier_thoughts_reach_the_template(engine, gpt, claude):
    engine.thought, engine.text = "", TEXT
    after = {"role": "user", "content": "Sure?"}
    said = {"role": "assistant", "content": TEXT, "reasoning_content": THOUGHT}
    gpt.chat.completions.create(model="scripted", messages=[*ASKED, said, after])
    reasoning = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": THOUGHT}],
    }
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": TEXT}]}
    gpt.responses.create(model="scripted", input=[*ASKED, reasoning, message, after])
    blocks = [{"type": "thinking", "thinking": THOUGHT, "signature": "x"}, {"type": "text", "text": TEXT}]
    claude.messages.create(
        model="scripted", messages=[*ASKED, {"role": "assistant", "content": blocks}, after], max_tokens=5
    )
    for asked in engine.chats[-3:]:
        assert [each.role for each in asked.messages] == ["user", "assistant", "user"]
        assert (asked.messages[1].thought, asked.messages[1].content) == (THOUGHT, TEXT)


def test_a_begun_thought_is_continued(engine, gpt):
    engine.thought, engine.text = "", " are 42.</think>It is 42."
    begun = {"role": "assistant", "content": "<think>Six sevens"}
    message = gpt.chat.completions.create(model="scripted", messages=[*ASKED, begun]).choices[0].message
    assert (message.reasoning_content, message.content) == (" are 42.", TEXT)


def test_plain_completions_are_not_divided(engine, gpt):
    engine.thought, engine.text = "", f"<think>{THOUGHT}</think>{TEXT}"
    assert gpt.completions.create(model="scripted", prompt="6 x 7").choices[0].text == engine.text
