"""Calls by a real model: Qwen 2.5 Coder, whose chat template takes tools in Hermes' format."""

import json

import pytest

from engine import protocol
from engine.protocol import AnswerBegun, TextDelta
from engine.server.chat_request import chat_of, count_of, parts_of
from engine.server.openai_chat import read_chat
from engine.serving.service import EngineService
from tests.engine.conftest import model_file

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", "fahrenheit"]}},
    "required": ["city", "unit"],
    "additionalProperties": False,
}
WEATHER = {
    "type": "function",
    "function": {"name": "weather", "description": "The weather now.", "parameters": SCHEMA},
}
QUESTION = {"role": "user", "content": "What is the weather in Oslo, in celsius?"}


@pytest.fixture(scope="module")
def engine():
    path = model_file("coder-draft")
    engine = EngineService()
    load = protocol.Load(id=1, target=str(path), draft="none", device="cpu", context=1024)
    loaded = engine.load(load, lambda event: None, lambda: False)
    return engine, loaded.chat_template


def ask(engine, **fields):
    service, template = engine
    body = {
        "model": "m",
        "messages": [QUESTION],
        "tools": [WEATHER],
        "temperature": 0,
        "max_tokens": 60,
        **fields,
    }
    asked = read_chat(json.dumps(body).encode())
    parts = parts_of(asked, template)

    def emit(event):
        if isinstance(event, AnswerBegun):
            parts.begin(event)
        elif isinstance(event, TextDelta):
            list(parts.add(event))

    answer = service.answer(chat_of(asked, template, "", ""), emit, lambda: False)
    list(parts.finish())
    assert answer.prompt_tokens == service.count(count_of(asked, template)).tokens
    return parts.parts, answer


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "weather"}}])
def test_a_forced_call_follows_its_schema_with_every_drafter(engine, choice):
    texts = set()
    for drafter in ("none", "auto", "pld"):
        parts, answer = ask(engine, tool_choice=choice, drafter=drafter, parallel_tool_calls=False)
        (part,) = parts
        assert (part.kind, part.name) == ("call", "weather")
        given = json.loads(part.text)
        assert set(given) == {"city", "unit"}
        assert given["unit"] in ("celsius", "fahrenheit")
        texts.add(answer.text)
    assert len(texts) == 1


def test_a_sampled_call_follows_its_schema(engine):
    (part,), _ = ask(engine, tool_choice="required", parallel_tool_calls=False, temperature=1.5, seed=3)
    assert set(json.loads(part.text)) == {"city", "unit"}


def test_the_model_reads_the_result_of_its_call(engine):
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c1", "content": '{"degrees": -17, "sky": "snow"}'}
    parts, _ = ask(engine, messages=[QUESTION, said, result])
    assert parts[-1].kind == "text"
    assert "17" in parts[-1].text


def test_a_chat_without_tools_keeps_its_prompt(engine):
    service, _ = engine
    plain = service.session.pair.tokenizer.encode_chat([{"role": "user", "content": "Hi"}])
    asked = protocol.Count(id=1, messages=[protocol.Message("user", "Hi")])
    assert service.count(asked).tokens == len(plain) == 30
