"""Anthropic's interface, through Anthropic's own client."""

from collections.abc import Iterator

import pytest

from tests.engine.server.conftest import RunningServer
from tests.engine.server.official import anthropic

GREEDY = {"temperature": 0}  # the client no longer has an argument for it
CAPITAL = [{"role": "user", "content": "What is the capital of Japan?"}]


@pytest.fixture
def client(server: RunningServer) -> "Iterator[anthropic.Anthropic]":
    with anthropic.Anthropic(base_url=server.address, api_key="none", max_retries=0) as client:
        yield client


def test_a_message_is_answered(server, client):
    message = client.messages.create(model=server.model, messages=CAPITAL, max_tokens=30, extra_body=GREEDY)
    assert "Tokyo" in message.content[0].text
    assert message.stop_reason == "end_turn"
    assert message.usage.output_tokens > 0


def test_events_give_the_same_text_as_one_object(server, client):
    asked = dict(model=server.model, messages=CAPITAL, max_tokens=30, extra_body=GREEDY, system="Be brief.")
    whole = client.messages.create(**asked)
    with client.messages.stream(**asked) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text == whole.content[0].text
    assert final.stop_reason == whole.stop_reason
    assert final.usage.output_tokens == whole.usage.output_tokens
    assert final.usage.cache_read_input_tokens > 0


def test_why_an_answer_ended(server, client):
    cut = client.messages.create(model=server.model, messages=CAPITAL, max_tokens=2, extra_body=GREEDY)
    assert cut.stop_reason == "max_tokens"
    stopped = client.messages.create(
        model=server.model, messages=CAPITAL, max_tokens=30, extra_body=GREEDY, stop_sequences=["Tokyo"]
    )
    assert (stopped.stop_reason, stopped.stop_sequence) == ("stop_sequence", "Tokyo")


def test_tokens_are_counted_as_they_are_read(server, client):
    system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    counted = client.messages.count_tokens(model=server.model, messages=CAPITAL, system=system)
    message = client.messages.create(
        model=server.model, messages=CAPITAL, max_tokens=1, system=system, extra_body=GREEDY
    )
    usage = message.usage
    assert counted.input_tokens == usage.input_tokens + usage.cache_read_input_tokens


def test_an_answer_can_be_begun(server, client):
    begun = [*CAPITAL, {"role": "assistant", "content": "The capital of Japan is"}]
    message = client.messages.create(model=server.model, messages=begun, max_tokens=8, extra_body=GREEDY)
    assert message.content[0].text.startswith(" Tokyo")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tools", [{"name": "web_search", "type": "web_search_20250305"}]),
        ("mcp_servers", [{}]),
    ],
)
def test_what_would_change_the_text_is_refused_by_name(server, client, field, value):
    with pytest.raises(anthropic.BadRequestError, match=field):
        client.messages.create(model=server.model, messages=CAPITAL, max_tokens=2, extra_body={field: value})


def test_faults_have_the_shape_of_the_interface(server, client):
    with pytest.raises(anthropic.NotFoundError) as refused:
        client.messages.create(model="no-such-model", messages=CAPITAL, max_tokens=2)
    assert refused.value.body["error"]["type"] == "not_found_error"
