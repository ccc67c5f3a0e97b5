"""OpenAI's chat completions: https://platform.openai.com/docs/api-reference/chat"""

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct, field

from engine.protocol import Answer, Committed, Message, TextDelta
from engine.server import replies
from engine.server.faults import RequestFault
from engine.server.fields import read_fields
from engine.server.figures import metrics_of, timings_of
from engine.server.openai_errors import error_of
from engine.server.openai_fields import CompletionFields
from engine.server.prompt_request import (
    Content,
    PromptRequest,
    only,
    text_of,
)
from engine.server.structure import constraint_of

HARMLESS = frozenset({
    "user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key",
    "prompt_cache_retention", "parallel_tool_calls",
    "cache_prompt", "id_slot", "timings_per_token", "return_progress",
})  # fmt: skip
ROLES: dict[str, Literal["system", "user", "assistant"]] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant",
}  # fmt: skip


class ChatMessage(Struct, forbid_unknown_fields=True):
    role: Literal["system", "developer", "user", "assistant"]
    content: Content = None
    name: str | None = None
    refusal: None = None
    audio: None = None
    tool_calls: list[None] | None = None
    function_call: None = None
    annotations: list[Any] | None = None
    reasoning_content: str | None = (
        None  # an earlier answer's thoughts, which are not sent to the model again
    )


class ChatFields(CompletionFields, kw_only=True, forbid_unknown_fields=True):
    messages: list[ChatMessage]
    logprobs: bool = False
    top_logprobs: int = 0
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    response_format: dict[str, Any] = field(default_factory=lambda: {"type": "text"})
    # These are accepted only with the values that change nothing.
    modalities: list[str] = field(default_factory=lambda: ["text"])
    tools: list[Any] = []
    tool_choice: Any = "none"
    functions: list[Any] = []
    verbosity: str = "medium"


def read_chat(body: bytes) -> PromptRequest:
    """Return what the body of a request asks for. Raises RequestFault."""
    fields = read_fields(body, ChatFields, HARMLESS)
    only("n", fields.n, 1)
    only("modalities", fields.modalities, ["text"])
    only("tools", fields.tools, [])
    only("tool_choice", fields.tool_choice, "none", "auto")
    only("functions", fields.functions, [])
    only("verbosity", fields.verbosity, "medium")
    if fields.top_logprobs and not fields.logprobs:
        raise RequestFault(400, "bad_field", "'top_logprobs' requires 'logprobs'.", "top_logprobs")
    messages = [
        Message(ROLES[message.role], text_of(message.content, f"messages[{index}].content"))
        for index, message in enumerate(fields.messages)
    ]
    options = fields.completion_options(
        fields.max_completion_tokens or fields.max_tokens,
        fields.top_logprobs if fields.logprobs else None,
        constraint_of(fields.response_format, "response_format"),
    )
    return PromptRequest(
        model=fields.model,
        options=options,
        messages=messages,
        streams=fields.stream,
        includes_usage=fields.stream_options.include_usage,
    )


class ChatWording:
    """Words an answer as chat completions: `chat.completion` whole, `chat.completion.chunk` as events."""

    def __init__(self, asked: PromptRequest, model: str) -> None:
        self._asked, self._model = asked, model
        self._id, self._created = replies.new_id("chatcmpl-"), replies.now()
        self._log_probs: list[dict[str, Any]] = []

    def begin(self) -> Iterator[tuple[str, Any]]:
        yield "", self._chunk({"role": "assistant", "content": ""})

    def add(self, delta: TextDelta) -> Iterator[tuple[str, Any]]:
        log_probs = log_probs_of(delta.committed) if delta.committed else []
        self._log_probs += log_probs
        if delta.text or log_probs:
            yield "", self._chunk({"content": delta.text}, log_probs=log_probs)

    def finish(self, answer: Answer) -> Iterator[tuple[str, Any]]:
        last = self._chunk({}, finish_reason=replies.FINISHED.get(answer.stop_reason, "stop"))
        yield "", {**last, "timings": timings_of(answer)}
        if self._asked.includes_usage:
            figures = {"usage": usage_of(answer), "metrics": metrics_of(answer)}
            yield "", {**self._head("chat.completion.chunk"), "choices": [], **figures}

    def whole(self, answer: Answer) -> dict[str, Any]:
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": answer.text, "refusal": None},
            "logprobs": {"content": self._log_probs, "refusal": None} if self._wants_log_probs else None,
            "finish_reason": replies.FINISHED.get(answer.stop_reason, "stop"),
        }
        return {
            **self._head("chat.completion"),
            "choices": [choice],
            "usage": usage_of(answer),
            "timings": timings_of(answer),
            "metrics": metrics_of(answer),
        }

    def problem(self, fault: RequestFault) -> tuple[str, Any]:
        return "", error_of(fault)

    @property
    def _wants_log_probs(self) -> bool:
        return self._asked.options.log_probs is not None

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": self._id,
            "object": kind,
            "created": self._created,
            "model": self._model,
            "system_fingerprint": None,
        }

    def _chunk(
        self,
        delta: dict[str, Any],
        finish_reason: str | None = None,
        log_probs: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        listed = {"content": log_probs, "refusal": None} if self._wants_log_probs and log_probs else None
        choice = {"index": 0, "delta": delta, "logprobs": listed, "finish_reason": finish_reason}
        chunk = {**self._head("chat.completion.chunk"), "choices": [choice]}
        return {**chunk, "usage": None} if self._asked.includes_usage else chunk


def usage_of(answer: Answer) -> dict[str, Any]:
    return {
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.tokens,
        "total_tokens": answer.prompt_tokens + answer.tokens,
        "prompt_tokens_details": {"cached_tokens": answer.reused_tokens},
        "completion_tokens_details": {"accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0},
    }


def log_probs_of(committed: Committed) -> list[dict[str, Any]]:
    """Return one entry for each token: its text, UTF-8 bytes, log-probability, and the most probable ones."""
    return [
        {
            **_token(piece, entry.log_prob),
            "top_logprobs": [
                _token(text, log_prob) for text, (_, log_prob) in zip(texts, entry.top, strict=True)
            ],
        }
        for piece, entry, texts in zip(
            committed.pieces, committed.log_probs, committed.top_texts, strict=True
        )
    ]


def _token(text: str, log_prob: float) -> dict[str, Any]:
    return {"token": text, "logprob": min(0.0, log_prob), "bytes": list(text.encode())}
