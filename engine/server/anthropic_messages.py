"""Anthropic's messages: https://docs.anthropic.com/en/api/messages"""

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct, field

from engine.protocol import Answer, Message, TextDelta
from engine.server import replies
from engine.server.faults import RequestFault, unsupported
from engine.server.fields import read_fields
from engine.server.figures import metrics_of
from engine.server.prompt_request import Content, PromptRequest, SamplingFields, only, text_of
from engine.server.structure import constraint_of

HARMLESS = frozenset(
    {"metadata", "service_tier", "cache_control", "container", "context_management", "betas"}
)
STOPPED = {
    "end_of_sequence": "end_turn", "stop_string": "stop_sequence", "max_new_tokens": "max_tokens",
    "context_full": "model_context_window_exceeded",
}  # fmt: skip
_TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
    404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 503: "overloaded_error",
}  # fmt: skip


class Turn(Struct, forbid_unknown_fields=True):
    role: Literal["user", "assistant", "system"]
    content: Content = None


class CountFields(Struct, kw_only=True):
    """What both paths share. `count_tokens` ignores all other fields, which cannot change a count."""

    model: str
    messages: list[Turn]
    system: Content = None


class MessageFields(SamplingFields, kw_only=True, forbid_unknown_fields=True):
    messages: list[Turn]
    max_tokens: int
    system: Content = None
    stop_sequences: list[str] = []
    seed: int | None = None
    output_config: dict[str, Any] = {}
    # These are accepted only with the values that change nothing.
    tools: list[Any] = []
    tool_choice: dict[str, Any] = field(default_factory=lambda: {"type": "none"})
    thinking: dict[str, Any] = field(default_factory=lambda: {"type": "disabled"})


def read_messages(body: bytes) -> PromptRequest:
    """Return what the body of a request asks for. Raises RequestFault."""
    fields = read_fields(body, MessageFields, HARMLESS)
    only("tools", fields.tools, [])
    only("tool_choice.type", fields.tool_choice.get("type"), "none", "auto")
    only("thinking.type", fields.thinking.get("type"), "disabled")
    form = fields.output_config.get("format", {"type": "text"})
    if not isinstance(form, dict) or len(fields.output_config) > ("format" in fields.output_config):
        raise unsupported("output_config", "Of 'output_config', only 'format' is supported.")
    options = fields.sampling_options(
        constraint_of(form, "output_config.format"),
        seed=fields.seed,
        max_new_tokens=fields.max_tokens,
        stop=fields.stop_sequences,
    )
    return PromptRequest(
        model=fields.model,
        options=options,
        messages=_messages(fields.system, fields.messages),
        streams=fields.stream,
    )


def read_count(body: bytes) -> list[Message]:
    """Return the messages whose tokens are to be counted. Raises RequestFault."""
    fields = read_fields(body, CountFields, frozenset())
    return _messages(fields.system, fields.messages)


def _messages(system: Content, turns: list[Turn]) -> list[Message]:
    first = [Message("system", text_of(system, "system"))] if system else []
    return first + [
        Message(turn.role, text_of(turn.content, f"messages[{index}].content"))
        for index, turn in enumerate(turns)
    ]


class MessageWording:
    """Words an answer as a `message`, whole and as events."""

    def __init__(self, asked: PromptRequest, model: str) -> None:
        self._model = model
        self._id = replies.new_id("msg_")

    def begin(self) -> Iterator[tuple[str, Any]]:
        usage = {"input_tokens": 0, "output_tokens": 0}
        message = {**self._message([], None, None), "usage": usage}
        yield "message_start", {"type": "message_start", "message": message}
        block = {"type": "text", "text": ""}
        yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
        yield "ping", {"type": "ping"}

    def add(self, delta: TextDelta) -> Iterator[tuple[str, Any]]:
        if delta.text:
            added = {"type": "text_delta", "text": delta.text}
            yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": added}

    def finish(self, answer: Answer) -> Iterator[tuple[str, Any]]:
        yield "content_block_stop", {"type": "content_block_stop", "index": 0}
        stop = {"stop_reason": STOPPED.get(answer.stop_reason, "end_turn"), "stop_sequence": _stop(answer)}
        end = {"type": "message_delta", "delta": stop, "usage": usage_of(answer)}
        yield "message_delta", {**end, "metrics": metrics_of(answer)}
        yield "message_stop", {"type": "message_stop"}

    def whole(self, answer: Answer) -> dict[str, Any]:
        content = [{"type": "text", "text": answer.text}] if answer.text else []
        message = self._message(content, STOPPED.get(answer.stop_reason, "end_turn"), _stop(answer))
        return {**message, "usage": usage_of(answer), "metrics": metrics_of(answer)}

    def problem(self, fault: RequestFault) -> tuple[str, Any]:
        return "error", error_of(fault)

    def _message(self, content: list[Any], reason: str | None, stop: str | None) -> dict[str, Any]:
        return {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": content,
            "stop_reason": reason,
            "stop_sequence": stop,
        }


def usage_of(answer: Answer) -> dict[str, Any]:
    return {
        "input_tokens": answer.prompt_tokens - answer.reused_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": answer.reused_tokens,
        "output_tokens": answer.tokens,
    }


def error_of(fault: RequestFault) -> dict[str, Any]:
    kind = _TYPES.get(fault.status, "invalid_request_error" if fault.status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": fault.message}}


def _stop(answer: Answer) -> str | None:
    return answer.stop_string or None
