"""Words an answer as Anthropic's messages do."""

from collections.abc import Iterator
from typing import Any

from engine.calls.arguments import arguments_of
from engine.protocol import Answer, Committed
from engine.server import replies
from engine.server.answer_parts import AnswerPart, PartDelta
from engine.server.faults import RequestFault
from engine.server.figures import metrics_of
from engine.server.prompt_request import PromptRequest

# Anthropic signs thoughts, so that it can tell whether they are its own. Thoughts are not checked here.
SIGNATURE = "specexec-unsigned"
STOPPED = {
    "end_of_sequence": "end_turn", "stop_string": "stop_sequence", "max_new_tokens": "max_tokens",
    "context_full": "model_context_window_exceeded",
}  # fmt: skip
_TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
    404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 503: "overloaded_error",
}  # fmt: skip


class MessageWording:
    """Words an answer as a `message`, whole and as events. Each part is one block."""

    def __init__(self, asked: PromptRequest, model: str) -> None:
        self._model = model
        self._shows_thoughts = asked.shows_thoughts
        self._id = replies.new_id("msg_")
        self._open: PartDelta | None = None  # the last addition to a block that is not done

    def begin(self) -> Iterator[tuple[str, Any]]:
        usage = {"input_tokens": 0, "output_tokens": 0}
        message = {**self._message([], None, None), "usage": usage}
        yield "message_start", {"type": "message_start", "message": message}
        yield "ping", {"type": "ping"}

    def add(self, delta: PartDelta) -> Iterator[tuple[str, Any]]:
        if delta.is_first:
            yield from self._end_block()
            block = _block(AnswerPart(delta.part.kind, "", delta.part.id, delta.part.name))
            block = {**block, "signature": ""} if delta.part.kind == "thought" else block
            yield self._event("start", delta.index, content_block=block)
        self._open = delta
        if delta.part.kind == "text":
            added = {"type": "text_delta", "text": delta.text}
        elif delta.part.kind == "call":
            added = {"type": "input_json_delta", "partial_json": delta.text}
        elif self._shows_thoughts:
            added = {"type": "thinking_delta", "thinking": delta.text}
        else:
            return
        yield self._event("delta", delta.index, delta=added)

    def note(self, committed: Committed) -> None:
        """Log-probabilities are not part of this interface."""

    def finish(self, answer: Answer, parts: list[AnswerPart]) -> Iterator[tuple[str, Any]]:
        yield from self._end_block()
        stop = {"stop_reason": _reason(answer, parts), "stop_sequence": answer.stop_string or None}
        end = {"type": "message_delta", "delta": stop, "usage": usage_of(answer)}
        yield "message_delta", {**end, "metrics": metrics_of(answer)}
        yield "message_stop", {"type": "message_stop"}

    def whole(self, answer: Answer, parts: list[AnswerPart]) -> dict[str, Any]:
        shown = [
            part if part.kind != "thought" or self._shows_thoughts else AnswerPart("thought")
            for part in parts
        ]
        message = self._message(list(map(_block, shown)), _reason(answer, parts), answer.stop_string or None)
        return {**message, "usage": usage_of(answer), "metrics": metrics_of(answer)}

    def problem(self, fault: RequestFault) -> tuple[str, Any]:
        return "error", error_of(fault)

    def _end_block(self) -> Iterator[tuple[str, Any]]:
        last, self._open = self._open, None
        if last is None:
            return
        if last.part.kind == "thought":
            signed = {"type": "signature_delta", "signature": SIGNATURE}
            yield self._event("delta", last.index, delta=signed)
        yield self._event("stop", last.index)

    def _event(self, kind: str, index: int, **fields: Any) -> tuple[str, Any]:
        name = f"content_block_{kind}"
        return name, {"type": name, "index": index, **fields}

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


def _block(part: AnswerPart) -> dict[str, Any]:
    """Return a part as a block of the content."""
    if part.kind == "thought":
        return {"type": "thinking", "thinking": part.text, "signature": SIGNATURE}
    if part.kind == "call":
        return {"type": "tool_use", "id": part.id, "name": part.name, "input": arguments_of(part.text)}
    return {"type": "text", "text": part.text}


def _reason(answer: Answer, parts: list[AnswerPart]) -> str:
    reason = STOPPED.get(answer.stop_reason, "end_turn")
    return "tool_use" if reason == "end_turn" and any(part.kind == "call" for part in parts) else reason


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
