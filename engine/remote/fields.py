"""A question as the fields of a request in OpenAI's interface, in the dialect of each kind of server.

An option that a kind of server does not have is refused if it would change the text. Options that a server
has are always sent, also those that are off: without them, servers use defaults of their own.
"""

import json
import re
import secrets
from collections.abc import Callable
from typing import Any

from engine.protocol import Chat, Constraint, Message, Options, Tool
from engine.protocol.thoughts import THOUGHT_MARKS
from engine.remote.errors import OptionRefused
from engine.remote.models import RemoteModel, ServerKind

MOST_RANDOM_SEED = 2**31  # what every server takes
_LLAMA_CONTEXT = 4096  # tokens, if it does not tell
_LLAMA_MOST_SEED = 2**32 - 2  # one more stands for a random one

# The names of options that only some servers have, by the options' own names.
_NAMES: dict[ServerKind, dict[str, str]] = {
    "vllm": {"top_k": "top_k", "min_p": "min_p", "repetition_penalty": "repetition_penalty"},
    "sglang": {"top_k": "top_k", "min_p": "min_p", "repetition_penalty": "repetition_penalty"},
    "specexec": {"top_k": "top_k", "min_p": "min_p", "repetition_penalty": "repetition_penalty"},
    "llama-server": {
        "top_k": "top_k", "min_p": "min_p", "repetition_penalty": "repeat_penalty",
        "dry_multiplier": "dry_multiplier", "dry_base": "dry_base",
        "dry_allowed_length": "dry_allowed_length", "dry_range": "dry_penalty_last_n",
        "dry_breakers": "dry_sequence_breakers",
        "xtc_probability": "xtc_probability", "xtc_threshold": "xtc_threshold",
    },
    "lm-studio": {"top_k": "top_k", "repetition_penalty": "repeat_penalty"},
    "ollama": {},
    "openai": {},
}  # fmt: skip
_COMMON = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
# What changes nothing while another option is off.
_BELONGS = {
    "dry_base": "dry_multiplier", "dry_allowed_length": "dry_multiplier", "dry_range": "dry_multiplier",
    "dry_breakers": "dry_multiplier", "xtc_threshold": "xtc_probability",
}  # fmt: skip
_CONTINUES = {
    "vllm": {"continue_final_message": True, "add_generation_prompt": False},
    "sglang": {"continue_final_message": True},
    "llama-server": {},
    "specexec": {},
}
_FIGURES: dict[ServerKind, dict[str, Any]] = {
    "vllm": {
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        "return_token_ids": True,
    },
    "sglang": {"stream_options": {"include_usage": True, "continuous_usage_stats": True}},
    "llama-server": {"timings_per_token": True, "return_progress": True},
}  # what a server must be asked for to tell


def chat_fields(chat: Chat, model: RemoteModel, is_openai_itself: bool) -> dict[str, Any]:
    """Return the fields of a request for /chat/completions.

    is_openai_itself: whether the server is OpenAI's own, which has another name for the most tokens. Raises
    OptionRefused; BadOption.
    """
    if chat.prompt is not None:
        raise OptionRefused(
            "An engine elsewhere does not continue a text without the model's chat template.",
            "Ask it as a chat.",
        )
    options, server = chat.options, model.server
    fields: dict[str, Any] = {
        "model": model.id,
        "messages": messages_of(chat.messages),
        "stream": True,
        "stream_options": {"include_usage": True},
        **_FIGURES.get(server, {}),
        **{name: getattr(options, name) for name in _COMMON},
        **_sampling(options, model),
        **_constraint(options.constraint, server),
    }
    if chat.template.tools:
        fields["tools"] = [_offered(tool) for tool in chat.template.tools]
    if chat.messages and chat.messages[-1].role == "assistant":
        if server not in _CONTINUES:
            raise OptionRefused(
                f"{_called(server)} does not continue an answer.",
                "Ask it to go on in a new question, or regenerate the answer.",
            )
        fields |= _CONTINUES[server]
    if (seed := seed_of(options, server)) is not None:
        fields["seed"] = seed
    if options.max_new_tokens is not None:
        fields["max_completion_tokens" if is_openai_itself else "max_tokens"] = options.max_new_tokens
    if options.stop:
        fields["stop"] = options.stop
    if options.logit_bias:
        if server == "ollama":
            raise _refused("logit_bias", server)
        fields["logit_bias"] = {str(token): bias for token, bias in options.logit_bias.items()}
    if options.log_probs is not None:
        if server == "ollama":
            raise _refused("log_probs", server)
        fields |= {"logprobs": True, "top_logprobs": options.log_probs}
    return fields


def seed_of(options: Options, server: ServerKind) -> int | None:
    """Return the seed to send; None: none, because some services refuse a field that they do not know.

    llama.cpp, which LM Studio and Ollama use too, takes 32 bits. Since a seed does not give the same text on
    two engines anyway, a larger one is folded.
    """
    if options.seed is None:
        return None if server == "openai" else secrets.randbelow(MOST_RANDOM_SEED)
    is_short = server in ("llama-server", "lm-studio", "ollama")
    return options.seed % (_LLAMA_MOST_SEED + 1) if is_short else options.seed


def messages_of(messages: list[Message]) -> list[dict[str, Any]]:
    """Return the messages without the thoughts of earlier answers, which models do not get again."""
    last = len(messages) - 1
    return [_message(message, is_last=index == last) for index, message in enumerate(messages)]


def _message(message: Message, *, is_last: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.role == "assistant" and not is_last:
        fields["content"] = without_thought(message.content)
    if message.calls:
        fields["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.role == "tool":
        fields["tool_call_id"] = message.call_id
    return fields


def _offered(tool: Tool) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": json.loads(tool.parameters),
    }
    return {"type": "function", "function": function}


def without_thought(text: str) -> str:
    begun = text.lstrip()
    for opening, closing in THOUGHT_MARKS.items():
        if begun.startswith(opening):
            _, mark, rest = begun.partition(closing)
            return rest.lstrip() if mark else ""
    return text


def _sampling(options: Options, model: RemoteModel) -> dict[str, Any]:
    server = model.server
    names = _NAMES[server]
    fields: dict[str, Any] = {}
    for name in _NAMES["llama-server"]:
        value = getattr(options, name)
        gate = _BELONGS.get(name)
        is_off = gate is not None and not getattr(options, gate)
        if name in names:
            fields[names[name]] = value
        elif not is_off and value != getattr(Options(), name):
            raise _refused(name, server)
    if options.thinking_budget is not None:
        raise _refused("thinking_budget", server)
    if server == "sglang":
        fields["top_k"] = options.top_k or -1
    if server == "llama-server":
        # Repetitions are searched in the whole chat, as everywhere in this program.
        whole = model.context or _LLAMA_CONTEXT
        fields["dry_penalty_last_n"] = options.dry_range or whole
        fields["repeat_last_n"] = whole
    return fields


def _constraint(constraint: Constraint | None, server: ServerKind) -> dict[str, Any]:
    """Return the fields that say what the text must be."""
    if constraint is None:
        return {}
    own = _OWN_CONSTRAINTS.get(server, {}).get(constraint.kind)
    if own is not None:
        return own(constraint)
    if constraint.kind == "json_schema":
        schema = {"name": "answer", "schema": json.loads(constraint.text), "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    if constraint.kind == "json_object" and server != "lm-studio":
        return {"response_format": {"type": "json_object"}}
    raise OptionRefused(
        f"{_called(server)} does not hold an answer to a constraint of this kind ({constraint.kind}).",
        "Take a JSON schema, or ask a model on this machine.",
    )


def _structured(name: str) -> Callable[[Constraint], dict[str, Any]]:
    return lambda constraint: {"structured_outputs": {name: constraint.text}}


def _choice(constraint: Constraint) -> dict[str, Any]:
    return {"structured_outputs": {"choice": list(constraint.choices)}}


def _choice_as_regex(constraint: Constraint) -> dict[str, Any]:
    return {"regex": "(" + "|".join(map(re.escape, constraint.choices)) + ")"}


def _choice_as_gbnf(constraint: Constraint) -> dict[str, Any]:
    # A JSON string in ASCII has the escapes that GBNF has, but for characters beyond U+FFFF.
    texts = [json.dumps(choice, ensure_ascii=False) for choice in constraint.choices]
    return {"grammar": "root ::= " + " | ".join(texts)}


def _gbnf(constraint: Constraint) -> dict[str, Any]:
    if "::=" not in constraint.text:
        raise OptionRefused(
            "llama-server takes a grammar in GBNF only.", "Write it in GBNF, or ask a model on this machine."
        )
    return {"grammar": constraint.text}


_OWN_CONSTRAINTS: dict[ServerKind, dict[str, Callable[[Constraint], dict[str, Any]]]] = {
    "vllm": {"regex": _structured("regex"), "grammar": _structured("grammar"), "choice": _choice},
    "specexec": {"regex": _structured("regex"), "grammar": _structured("grammar"), "choice": _choice},
    "sglang": {
        "regex": lambda constraint: {"regex": constraint.text},
        "grammar": lambda constraint: {"ebnf": constraint.text},
        "choice": _choice_as_regex,
    },
    "llama-server": {"grammar": _gbnf, "choice": _choice_as_gbnf},
}

_CALLED: dict[ServerKind, str] = {
    "vllm": "vLLM", "sglang": "SGLang", "lm-studio": "LM Studio", "ollama": "Ollama",
    "llama-server": "llama-server", "specexec": "specexec serve", "openai": "A server of this kind",
}  # fmt: skip


def _called(server: ServerKind) -> str:
    return _CALLED[server]


def _refused(name: str, server: ServerKind) -> OptionRefused:
    return OptionRefused(
        f"{_called(server)} does not know the option {name}.",
        "Leave it at its default for this chat, or ask a model on this machine.",
    )
