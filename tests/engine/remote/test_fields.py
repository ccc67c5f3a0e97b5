"""A question in the dialect of each kind of server."""

from typing import Any, get_args

import pytest

from engine.protocol import Chat, Constraint, Message, Options, TemplateInput, Tool, ToolCall
from engine.remote.errors import OptionRefused
from engine.remote.fields import chat_fields
from engine.remote.models import RemoteModel, ServerKind

QUESTION = [Message("user", "Hello?")]
CONTINUED = [*QUESTION, Message("assistant", "Yes, ")]


def fields(server: ServerKind, messages: list[Message] = QUESTION, **options: Any) -> dict[str, Any]:
    chat = Chat(id=1, messages=messages, options=Options(**options))
    return chat_fields(chat, RemoteModel("m", server, context=2048), is_openai_itself=False)


@pytest.mark.parametrize("server", get_args(ServerKind))
def test_every_server_gets_the_common_options(server: ServerKind) -> None:
    sent = fields(server, temperature=0.5, top_p=0.9, seed=7, stop=["END"], max_new_tokens=3)
    assert sent["model"] == "m"
    assert sent["messages"] == [{"role": "user", "content": "Hello?"}]
    assert (sent["temperature"], sent["top_p"], sent["seed"]) == (0.5, 0.9, 7)
    assert (sent["stop"], sent["max_tokens"], sent["stream"]) == (["END"], 3, True)


@pytest.mark.parametrize(
    ("server", "name"),
    [("vllm", "repetition_penalty"), ("sglang", "repetition_penalty"), ("llama-server", "repeat_penalty"),
     ("lm-studio", "repeat_penalty"), ("specexec", "repetition_penalty")],
)  # fmt: skip
def test_options_that_are_off_are_sent_lest_the_server_uses_its_defaults(
    server: ServerKind, name: str
) -> None:
    sent = fields(server)
    assert sent[name] == 1.0
    assert sent["top_k"] == (-1 if server == "sglang" else 0)


@pytest.mark.parametrize("option", ["top_k", "min_p", "repetition_penalty"])
def test_a_plain_server_refuses_what_it_does_not_know_by_its_name(option: str) -> None:
    with pytest.raises(OptionRefused, match=option):
        fields("openai", **{option: 2 if option == "top_k" else 0.5})


@pytest.mark.parametrize("server", sorted(set(get_args(ServerKind)) - {"llama-server"}))
@pytest.mark.parametrize("option", ["dry_multiplier", "xtc_probability"])
def test_only_llama_server_knows_dry_and_xtc(server: ServerKind, option: str) -> None:
    assert fields("llama-server", **{option: 0.5})[option] == 0.5
    with pytest.raises(OptionRefused, match=option):
        fields(server, **{option: 0.5})


def test_parameters_of_an_option_that_is_off_change_nothing() -> None:
    fields("vllm", dry_base=2.0, xtc_threshold=0.2)


@pytest.mark.parametrize("server", get_args(ServerKind))
def test_a_thinking_budget_is_refused(server: ServerKind) -> None:
    with pytest.raises(OptionRefused, match="thinking_budget"):
        fields(server, thinking_budget=5)


def test_a_seed_is_chosen_and_small_enough_or_left_to_services() -> None:
    assert 0 <= fields("vllm")["seed"] < 2**31
    assert "seed" not in fields("openai")
    assert fields("vllm", seed=2**40)["seed"] == 2**40
    folded = fields("llama-server", seed=2**62 + 5)["seed"]
    assert 0 <= folded < 2**32 - 1
    assert fields("llama-server", seed=folded)["seed"] == folded, "a recorded seed is sent as it is"


def test_constraints() -> None:
    schema = Constraint(kind="json_schema", text='{"type": "object"}')
    form = {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": True},
    }
    assert fields("openai", constraint=schema)["response_format"] == form
    regex = Constraint(kind="regex", text="a+")
    assert fields("vllm", constraint=regex)["structured_outputs"] == {"regex": "a+"}
    assert fields("sglang", constraint=regex)["regex"] == "a+"
    choice = Constraint(kind="choice", choices=("a.b", 'c"d'))
    assert fields("sglang", constraint=choice)["regex"] == r'(a\.b|c"d)'
    assert fields("llama-server", constraint=choice)["grammar"] == r'root ::= "a.b" | "c\"d"'
    for server in ("openai", "ollama", "lm-studio", "llama-server"):
        with pytest.raises(OptionRefused, match="regex"):
            fields(server, constraint=regex)
    with pytest.raises(OptionRefused, match="GBNF"):
        fields("llama-server", constraint=Constraint(kind="grammar", text='start: "a"'))


def test_continuing_an_answer() -> None:
    sent = fields("vllm", CONTINUED)
    assert (sent["continue_final_message"], sent["add_generation_prompt"]) == (True, False)
    assert fields("llama-server", CONTINUED)["messages"][-1]["content"] == "Yes, "
    for server in ("openai", "ollama", "lm-studio"):
        with pytest.raises(OptionRefused, match="does not continue"):
            fields(server, CONTINUED)


def test_log_probabilities_and_biases() -> None:
    sent = fields("vllm", log_probs=3, logit_bias={5: -1.0})
    assert (sent["logprobs"], sent["top_logprobs"], sent["logit_bias"]) == (True, 3, {"5": -1.0})
    for options in ({"log_probs": 0}, {"logit_bias": {1: 1.0}}):
        with pytest.raises(OptionRefused):
            fields("ollama", **options)


def test_a_text_without_a_template_is_refused() -> None:
    with pytest.raises(OptionRefused, match="template"):
        chat_fields(Chat(id=1, messages=[], prompt="Once"), RemoteModel("m", "vllm"), is_openai_itself=False)


def test_tools_their_calls_and_results_are_sent_in_openais_form() -> None:
    call = ToolCall(id="c1", name="add", arguments='{"a": 1}')
    chat = Chat(
        id=1,
        messages=[
            Message("user", "Add."),
            Message("assistant", "<think>Hm</think>I add.", calls=[call]),
            Message("tool", "2", call_id="c1", name="add"),
        ],
        options=Options(),
        template=TemplateInput(
            tools=[Tool(name="add", description="Adds.", parameters='{"type": "object"}')]
        ),
    )
    fields = chat_fields(chat, RemoteModel("m", "openai"), False)
    assert fields["tools"] == [
        {
            "type": "function",
            "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object"}},
        }
    ]
    called = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    assert fields["messages"][1:] == [
        {"role": "assistant", "content": "I add.", "tool_calls": [called]},
        {"role": "tool", "content": "2", "tool_call_id": "c1"},
    ]
