"""OpenAI's completions of a text, without a chat template:
https://platform.openai.com/docs/api-reference/completions"""

from collections.abc import Iterator
from typing import Any

from engine.protocol import Answer, Committed
from engine.server import replies
from engine.server.answer_parts import AnswerPart, PartDelta
from engine.server.chat_reply import usage_of
from engine.server.faults import RequestFault, unsupported
from engine.server.fields import read_fields
from engine.server.figures import metrics_of, timings_of
from engine.server.openai_chat import HARMLESS
from engine.server.openai_errors import error_of
from engine.server.openai_fields import CompletionFields
from engine.server.prompt_request import PromptRequest, only

TextLogProbs = dict[str, list[Any]]


class TextFields(CompletionFields, kw_only=True, forbid_unknown_fields=True):
    prompt: str | list[Any] = ""
    best_of: int = 1
    echo: bool = False
    suffix: str = ""
    logprobs: int | None = None
    max_tokens: int = 16


def read_text(body: bytes) -> PromptRequest:
    """Return what the body of a request asks for. Raises RequestFault."""
    fields = read_fields(body, TextFields, HARMLESS | {"parallel_tool_calls"})
    for name in ("n", "best_of"):
        only(name, getattr(fields, name), 1)
    only("suffix", fields.suffix, "")
    only("echo", fields.echo, False)
    prompt = fields.prompt
    if isinstance(prompt, list):
        if len(prompt) != 1 or not isinstance(prompt[0], str):
            raise unsupported(
                "prompt", "'prompt' must be one text: several texts and token ids are not supported."
            )
        prompt = prompt[0]
    options = fields.completion_options(fields.max_tokens, fields.logprobs, shown=[])
    return PromptRequest(
        model=fields.model,
        options=options,
        prompt=prompt,
        streams=fields.stream,
        includes_usage=fields.stream_options.include_usage,
    )


class TextWording:
    """Words an answer as `text_completion`, whole and as events."""

    def __init__(self, asked: PromptRequest, model: str) -> None:
        self._asked, self._model = asked, model
        self._id, self._created = replies.new_id("cmpl-"), replies.now()
        self._unsent: TextLogProbs = _none()  # log-probabilities of tokens
        self._sent = 0  # characters of committed tokens

    def begin(self) -> Iterator[tuple[str, Any]]:
        return iter(())

    def add(self, delta: PartDelta) -> Iterator[tuple[str, Any]]:
        yield "", self._chunk(delta.text, None)

    def note(self, committed: Committed) -> None:
        for piece, entry, texts in zip(
            committed.pieces, committed.log_probs, committed.top_texts, strict=True
        ):
            self._unsent["tokens"].append(piece)
            self._unsent["token_logprobs"].append(min(0.0, entry.log_prob))
            best = zip(texts, entry.top, strict=True)
            self._unsent["top_logprobs"].append({text: min(0.0, log_prob) for text, (_, log_prob) in best})
            self._unsent["text_offset"].append(self._sent)
            self._sent += len(piece)

    def finish(self, answer: Answer, parts: list[AnswerPart]) -> Iterator[tuple[str, Any]]:
        last = self._chunk("", replies.FINISHED.get(answer.stop_reason, "stop"))
        yield "", {**last, "timings": timings_of(answer)}
        if self._asked.includes_usage:
            figures = {"usage": usage_of(answer), "metrics": metrics_of(answer)}
            yield "", {**self._head(), "choices": [], **figures}

    def whole(self, answer: Answer, parts: list[AnswerPart]) -> dict[str, Any]:
        reason = replies.FINISHED.get(answer.stop_reason, "stop")
        figures = {
            "usage": usage_of(answer),
            "timings": timings_of(answer),
            "metrics": metrics_of(answer),
        }
        return {**self._head(), "choices": [self._choice(answer.text, reason, self._unsent)], **figures}

    def problem(self, fault: RequestFault) -> tuple[str, Any]:
        return "", error_of(fault)

    def _head(self) -> dict[str, Any]:
        return {
            "id": self._id,
            "object": "text_completion",
            "created": self._created,
            "model": self._model,
            "system_fingerprint": None,
        }

    def _choice(self, text: str, reason: str | None, log_probs: TextLogProbs) -> dict[str, Any]:
        listed = log_probs if self._asked.options.log_probs is not None else None
        return {"text": text, "index": 0, "logprobs": listed, "finish_reason": reason}

    def _chunk(self, text: str, reason: str | None) -> dict[str, Any]:
        log_probs, self._unsent = self._unsent, _none()
        chunk = {**self._head(), "choices": [self._choice(text, reason, log_probs)]}
        return {**chunk, "usage": None} if self._asked.includes_usage else chunk


def _none() -> TextLogProbs:
    return {"tokens": [], "token_logprobs": [], "top_logprobs": [], "text_offset": []}
