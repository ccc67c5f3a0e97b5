"""Words an answer as OpenAI's chat completions do."""

from collections.abc import Iterator
from typing import Any

from engine.protocol import Answer, Committed
from engine.server import replies
from engine.server.answer_parts import AnswerPart, PartDelta, joined
from engine.server.faults import RequestFault
from engine.server.figures import metrics_of, timings_of
from engine.server.openai_errors import error_of
from engine.server.prompt_request import PromptRequest


class ChatWording:
    """Words an answer as chat completions: `chat.completion` whole, `chat.completion.chunk` as events."""

    def __init__(self, asked: PromptRequest, model: str) -> None:
        self._asked, self._model = asked, model
        self._id, self._created = replies.new_id("chatcmpl-"), replies.now()
        self._calls = 0  # the number of calls so far
        self._unsent: list[dict[str, Any]] = []  # log-probabilities of tokens

    def begin(self) -> Iterator[tuple[str, Any]]:
        yield "", self._chunk({"role": "assistant", "content": ""})

    def add(self, delta: PartDelta) -> Iterator[tuple[str, Any]]:
        match delta.part.kind:
            case "text":
                yield "", self._chunk({"content": delta.text})
            case "call":
                self._calls += delta.is_first
                call: dict[str, Any] = {"function": {"arguments": delta.text}}
                call = _call(delta.part, delta.text) if delta.is_first else call
                yield "", self._chunk({"tool_calls": [{"index": self._calls - 1, **call}]})
            case "thought" if self._asked.shows_thoughts:
                yield "", self._chunk({"reasoning_content": delta.text})

    def note(self, committed: Committed) -> None:
        self._unsent += log_probs_of(committed)

    def finish(self, answer: Answer, parts: list[AnswerPart]) -> Iterator[tuple[str, Any]]:
        if self._unsent:
            yield "", self._chunk({"content": ""})
        last = self._chunk({}, {"finish_reason": _reason(answer, parts), "stop_reason": _stop(answer)})
        yield "", {**last, "timings": timings_of(answer)}
        if self._asked.includes_usage:
            figures = {"usage": usage_of(answer), "metrics": metrics_of(answer)}
            yield "", {**self._head("chat.completion.chunk"), "choices": [], **figures}

    def whole(self, answer: Answer, parts: list[AnswerPart]) -> dict[str, Any]:
        choice = {
            "index": 0,
            "message": self._message(parts),
            "logprobs": {"content": self._unsent, "refusal": None} if self._wants_log_probs else None,
            "finish_reason": _reason(answer, parts),
            "stop_reason": _stop(answer),
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

    def _message(self, parts: list[AnswerPart]) -> dict[str, Any]:
        text, thought = joined(parts, "text"), joined(parts, "thought")
        calls = [_call(part, part.text) for part in parts if part.kind == "call"]
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        if calls:
            message |= {"content": text or None, "tool_calls": calls}
        if thought and self._asked.shows_thoughts:
            message["reasoning_content"] = thought
        return message

    def _chunk(self, delta: dict[str, Any], ending: dict[str, Any] | None = None) -> dict[str, Any]:
        listed = {"content": self._unsent, "refusal": None} if self._unsent else None
        self._unsent = []
        choice = {"index": 0, "delta": delta, "logprobs": listed, **(ending or {"finish_reason": None})}
        chunk = {**self._head("chat.completion.chunk"), "choices": [choice]}
        return {**chunk, "usage": None} if self._asked.includes_usage else chunk


def _call(part: AnswerPart, arguments: str) -> dict[str, Any]:
    return {"id": part.id, "type": "function", "function": {"name": part.name, "arguments": arguments}}


def _reason(answer: Answer, parts: list[AnswerPart]) -> str:
    reason = replies.FINISHED.get(answer.stop_reason, "stop")
    return "tool_calls" if reason == "stop" and any(part.kind == "call" for part in parts) else reason


def _stop(answer: Answer) -> str | None:
    """Return the stop string that ended the answer; vLLM's field."""
    return answer.stop_string or None


def usage_of(answer: Answer) -> dict[str, Any]:
    return {
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.tokens,
        "total_tokens": answer.prompt_tokens + answer.tokens,
        "prompt_tokens_details": {"cached_tokens": answer.reused_tokens},
        "completion_tokens_details": {
            "reasoning_tokens": answer.thought_tokens,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
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
