"""OpenAI's interfaces, through OpenAI's own client."""

import json
import re
from collections.abc import Iterator

import pytest

from tests.engine.server.conftest import RunningServer
from tests.engine.server.official import openai

CAPITAL = [{"role": "user", "content": "What is the capital of Japan?"}]
STORY = [{"role": "user", "content": "Write a very long story about the sea."}]


@pytest.fixture
def client(server: RunningServer) -> "Iterator[openai.OpenAI]":
    with openai.OpenAI(base_url=f"{server.address}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_the_model_is_listed_and_described(server, client):
    assert [model.id for model in client.models.list()] == [server.model]
    assert client.models.retrieve(server.model).id == server.model
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("no-such-model")


def test_a_chat_is_answered(server, client):
    done = client.chat.completions.create(model=server.model, messages=CAPITAL, temperature=0, max_tokens=30)
    (choice,) = done.choices
    assert "Tokyo" in choice.message.content
    assert choice.finish_reason == "stop"
    assert done.usage.completion_tokens > 0
    assert done.usage.total_tokens == done.usage.prompt_tokens + done.usage.completion_tokens


def test_events_give_the_same_text_as_one_object(server, client):
    asked = dict(model=server.model, messages=STORY, temperature=0.8, seed=5, max_tokens=40)
    whole = client.chat.completions.create(**asked)
    chunks = list(
        client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
    )
    assert (
        "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
        == whole.choices[0].message.content
    )
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "length"
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens == 40


def test_log_probabilities_of_every_token(server, client):
    asked = dict(
        model=server.model, messages=CAPITAL, temperature=0, max_tokens=6, logprobs=True, top_logprobs=3
    )
    whole = client.chat.completions.create(**asked).choices[0]
    assert "".join(entry.token for entry in whole.logprobs.content) == whole.message.content
    for entry in whole.logprobs.content:
        assert [entry.token, entry.logprob] == [entry.top_logprobs[0].token, entry.top_logprobs[0].logprob]
        assert len(entry.top_logprobs) == 3
        assert bytes(entry.bytes).decode() == entry.token
    chunks = client.chat.completions.create(**asked, stream=True)
    streamed = [entry for c in chunks if c.choices[0].logprobs for entry in c.choices[0].logprobs.content]
    assert [entry.token for entry in streamed] == [entry.token for entry in whole.logprobs.content]


@pytest.mark.parametrize("stop", ["Tokyo", ["nothing", "Tokyo"]])
def test_a_stop_string_ends_the_answer(server, client, stop):
    done = client.chat.completions.create(model=server.model, messages=CAPITAL, temperature=0, stop=stop)
    assert "Tokyo" not in done.choices[0].message.content
    assert done.choices[0].finish_reason == "stop"


def test_a_bias_forbids_a_token(server, client):
    asked = dict(model=server.model, messages=CAPITAL, temperature=0, max_tokens=1)
    assert client.chat.completions.create(**asked).choices[0].message.content == "The"
    other = client.chat.completions.create(**asked, logit_bias={"504": -100})
    assert other.choices[0].message.content != "The"


def test_the_second_turn_reuses_the_rows_of_the_first(server, client):
    first = client.chat.completions.create(model=server.model, messages=STORY, temperature=0, max_tokens=30)
    turns = [
        *STORY,
        {"role": "assistant", "content": first.choices[0].message.content},
        {"role": "user", "content": "Go on."},
    ]
    second = client.chat.completions.create(model=server.model, messages=turns, temperature=0, max_tokens=2)
    assert second.usage.prompt_tokens_details.cached_tokens >= first.usage.prompt_tokens


def test_figures_of_speculation(server, client):
    done = client.chat.completions.create(model=server.model, messages=STORY, temperature=0, max_tokens=60)
    timings, metrics = done.model_extra["timings"], done.model_extra["metrics"]["speculative_decoding"]
    assert timings["predicted_n"] == 60
    assert timings["draft_n"] == sum(metrics["per_step_drafted"]) > 0
    assert timings["draft_n_accepted"] == sum(metrics["per_step_accepted"])
    # each pass brings the accepted nodes and one token more; the first token comes from the prompt
    assert 1 + sum(metrics["per_step_accepted"]) + metrics["num_spec_steps"] >= 60


def test_a_text_is_continued_without_a_template(server, client):
    done = client.completions.create(
        model=server.model, prompt="1, 2, 3, 4, 5, 6,", temperature=0, max_tokens=9, logprobs=1
    )
    choice = done.choices[0]
    assert choice.text.startswith(" 7, 8")
    assert "".join(choice.logprobs.tokens) == choice.text
    assert choice.logprobs.text_offset[1] == len(choice.logprobs.tokens[0])
    chunks = client.completions.create(
        model=server.model, prompt="1, 2, 3, 4, 5, 6,", temperature=0, max_tokens=9, stream=True
    )
    assert "".join(c.choices[0].text for c in chunks) == choice.text


def test_a_response_whole_and_as_events(server, client):
    asked = dict(
        model=server.model, input="What is the capital of Japan?", instructions="Be brief.", temperature=0
    )
    whole = client.responses.create(**asked, max_output_tokens=30)
    assert "Tokyo" in whole.output_text
    assert whole.status == "completed"
    assert whole.usage.output_tokens > 0
    with client.responses.stream(**asked, max_output_tokens=30) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert final.output_text == whole.output_text
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    cut = client.responses.create(**asked, max_output_tokens=2)
    assert (cut.status, cut.incomplete_details.reason) == ("incomplete", "max_output_tokens")


def test_the_parts_of_a_chat_are_read(server, client):
    parts = [{"type": "text", "text": "What is the capital "}, {"type": "text", "text": "of Japan?"}]
    messages = [{"role": "developer", "content": "Answer briefly."}, {"role": "user", "content": parts}]
    done = client.chat.completions.create(
        model=server.model, messages=messages, temperature=0, max_completion_tokens=30, user="me",
        metadata={"a": "b"}, store=False,
    )  # fmt: skip
    assert "Tokyo" in done.choices[0].message.content


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("n", 2),
        ("response_format", {"type": "xml"}),
        ("modalities", ["text", "audio"]),
        ("prediction", {"type": "content", "content": "x"}),
        ("web_search_options", {}),
        ("magic", 1),
    ],
)
def test_what_would_change_the_text_is_refused_by_name(server, client, field, value):
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model=server.model, messages=CAPITAL, extra_body={field: value})
    assert refused.value.param == field
    assert field in refused.value.message


SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 20}, "people": {"type": "integer"}},
    "required": ["city", "people"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "city", "schema": SCHEMA, "strict": True}}


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_satisfies_a_schema(server, client, stream):
    asked = dict(model=server.model, messages=CAPITAL, seed=4, response_format=FORMAT, max_tokens=200)
    if stream:
        chunks = client.chat.completions.create(**asked, stream=True)
        text = "".join(c.choices[0].delta.content or "" for c in chunks)
    else:
        text = client.chat.completions.create(**asked).choices[0].message.content
    answered = json.loads(text)
    assert set(answered) == {"city", "people"}
    assert isinstance(answered["people"], int)


def test_the_other_interfaces_take_a_schema_too(server, client):
    form = {"type": "json_schema", "name": "city", "schema": SCHEMA, "strict": True}
    done = client.responses.create(model=server.model, input="Japan?", text={"format": form}, temperature=0)
    assert set(json.loads(done.output_text)) == {"city", "people"}
    body = {"model": server.model, "messages": CAPITAL, "max_tokens": 200, "temperature": 0}
    with server.client() as http:
        answered = http.post("/v1/messages", json={**body, "output_config": {"format": form}}).json()
    assert set(json.loads(answered["content"][0]["text"])) == {"city", "people"}


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ({"choice": ["Tokyo", "Kyoto"]}, r"Tokyo|Kyoto"),
        ({"regex": "[A-Z][a-z]{3,9}!"}, r"[A-Z][a-z]{3,9}!"),
        ({"grammar": 'root ::= "yes" | "no"'}, r"yes|no"),
        ({"json": {"type": "boolean"}}, r"true|false"),
    ],
)
def test_structured_outputs_as_vllm_takes_them(server, client, outputs, expected):
    done = client.chat.completions.create(
        model=server.model, messages=CAPITAL, max_tokens=60, extra_body={"structured_outputs": outputs}
    )
    assert re.fullmatch(expected, done.choices[0].message.content)


@pytest.mark.parametrize(
    "form",
    [
        {"type": "json_schema", "json_schema": {"name": "x"}},
        {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "no-such-type"}}},
        {"type": "json_schema", "json_schema": {"name": "x", "schema": {"not": {"type": "string"}}}},
    ],
)
def test_a_schema_that_cannot_be_enforced_is_refused(server, client, form):
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model=server.model, messages=CAPITAL, response_format=form)


def test_a_picture_is_refused(server, client):
    picture = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
    with pytest.raises(openai.BadRequestError, match="image_url"):
        client.chat.completions.create(model=server.model, messages=[{"role": "user", "content": picture}])


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"temperature": -1}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"max_tokens": 0}, "max_new_tokens"),
        ({"top_k": 2**70}, "out of range"),
        ({"seed": 2**63}, "seed"),
        ({"logit_bias": {"Tokyo": 1}}, "logit_bias"),
        ({"logit_bias": {"9999999": 1}}, "9999999"),
        ({"logit_bias": {"-1": 1}}, "logit_bias"),
        ({"messages": []}, "nothing to answer"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"drafter": "no-such-drafter"}, "no-such-drafter"),
    ],
)
def test_what_is_out_of_range_is_refused(server, client, fields, place):
    with pytest.raises(openai.BadRequestError, match=place):
        client.chat.completions.create(**{"model": server.model, "messages": CAPITAL, "extra_body": fields})


def test_a_prompt_longer_than_the_context_is_refused_before_the_first_event(server, client):
    long = [{"role": "user", "content": "word " * 3000}]
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError) as refused:
            client.chat.completions.create(model=server.model, messages=long, stream=stream)
        assert refused.value.code == "context_length_exceeded"


def test_another_model_is_refused(server, client):
    with pytest.raises(openai.NotFoundError, match="no-such-model"):
        client.chat.completions.create(model="no-such-model", messages=CAPITAL)


def test_a_client_that_stops_reading_ends_its_answer(server, client):
    stream = client.chat.completions.create(model=server.model, messages=STORY, max_tokens=900, stream=True)
    next(stream)
    stream.close()
    done = client.chat.completions.create(model=server.model, messages=CAPITAL, temperature=0, max_tokens=8)
    assert "Tokyo" in done.choices[0].message.content
    with server.client() as http:
        text = http.get("/metrics").text
    assert (
        json.loads(next(x for x in text.splitlines() if x.startswith("specexec_requests_running")).split()[1])
        == 0
    )
