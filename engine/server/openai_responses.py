"""OpenAI's responses: https://platform.openai.com/docs/api-reference/responses

Nothing is kept between requests: `previous_response_id` is refused.
"""

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct, field

from engine.protocol import Answer, Message, TextDelta
from engine.server import replies
from engine.server.faults import RequestFault
from engine.server.fields import read_fields
from engine.server.figures import metrics_of
from engine.server.openai_chat import HARMLESS, ROLES
from engine.server.openai_errors import error_of
from engine.server.prompt_request import Content, PromptRequest, SamplingFields, only, text_of
from engine.server.structure import constraint_of

PLAIN = {"format": {"type": "text"}}


class InputItem(Struct, forbid_unknown_fields=True):
    role: Literal["system", "developer", "user", "assistant"]
    content: Content = None
    type: Literal["message"] = "message"
    id: str | None = None
    status: str | None = None


class ResponseFields(SamplingFields, kw_only=True, forbid_unknown_fields=True):
    input: str | list[InputItem]
    instructions: str = ""
    max_output_tokens: int | None = None
    seed: int | None = None
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    include: list[str] = []
    stream_options: dict[str, Any] = {}
    # These are accepted only with the values that change nothing.
    background: bool = False
    text: dict[str, Any] = field(default_factory=lambda: PLAIN)
    tools: list[Any] = []
    tool_choice: Any = "none"
    truncation: str = "disabled"


def read_response(body: bytes) -> PromptRequest:
    """Return what the body of a request asks for. Raises RequestFault."""
    fields = read_fields(body, ResponseFields, HARMLESS)
    only("background", fields.background, False)
    form = fields.text.get("format", PLAIN["format"])
    if not isinstance(form, dict):
        raise RequestFault(400, "bad_field", "'text.format' is not an object.", "text.format")
    only("text.verbosity", fields.text.get("verbosity", "medium"), "medium")
    only("tools", fields.tools, [])
    only("tool_choice", fields.tool_choice, "none", "auto")
    only("truncation", fields.truncation, "disabled")
    only("include", fields.include, [])
    messages = [Message("system", fields.instructions)] if fields.instructions else []
    if isinstance(fields.input, str):
        messages.append(Message("user", fields.input))
    else:
        messages += [
            Message(ROLES[item.role], text_of(item.content, f"input[{index}].content"))
            for index, item in enumerate(fields.input)
        ]
    options = fields.sampling_options(
        constraint_of(form, "text.format"),
        presence_penalty=fields.presence_penalty,
        frequency_penalty=fields.frequency_penalty,
        seed=fields.seed,
        max_new_tokens=fields.max_output_tokens,
    )
    return PromptRequest(model=fields.model, options=options, messages=messages, streams=fields.stream)


class ResponseWording:
    """Words an answer as a `response`, whole and as events with sequence numbers."""

    def __init__(self, asked: PromptRequest, model: str) -> None:
        self._asked, self._model = asked, model
        self._id, self._item = replies.new_id("resp_"), replies.new_id("msg_")
        self._created = replies.now()
        self._sent = 0

    def begin(self) -> Iterator[tuple[str, Any]]:
        response = self._response("in_progress", [], None)
        yield self._event("response.created", response=response)
        yield self._event("response.in_progress", response=response)
        item = self._message("in_progress", [])
        yield self._event("response.output_item.added", output_index=0, item=item)
        part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        yield self._event("response.content_part.added", **self._place(), part=part)

    def add(self, delta: TextDelta) -> Iterator[tuple[str, Any]]:
        if delta.text:
            yield self._event("response.output_text.delta", **self._place(), delta=delta.text, logprobs=[])

    def finish(self, answer: Answer) -> Iterator[tuple[str, Any]]:
        part = self._part(answer.text)
        item = self._message(_status(answer), [part])
        done = {"text": answer.text, "logprobs": []}
        yield self._event("response.output_text.done", **self._place(), **done)
        yield self._event("response.content_part.done", **self._place(), part=part)
        yield self._event("response.output_item.done", output_index=0, item=item)
        status = _status(answer)
        yield self._event(f"response.{status}", response=self.whole(answer))

    def whole(self, answer: Answer) -> dict[str, Any]:
        status = _status(answer)
        return self._response(status, [self._message(status, [self._part(answer.text)])], answer)

    def problem(self, fault: RequestFault) -> tuple[str, Any]:
        error = error_of(fault)["error"]
        return self._event("error", code=error["code"], message=error["message"], param=error["param"])

    def _event(self, kind: str, **fields: Any) -> tuple[str, Any]:
        number = self._sent
        self._sent += 1
        return kind, {"type": kind, "sequence_number": number, **fields}

    def _place(self) -> dict[str, Any]:
        return {"item_id": self._item, "output_index": 0, "content_index": 0}

    def _part(self, text: str) -> dict[str, Any]:
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}

    def _message(self, status: str, content: list[Any]) -> dict[str, Any]:
        message = {"id": self._item, "type": "message", "role": "assistant"}
        return {**message, "status": status, "content": content}

    def _response(self, status: str, output: list[Any], answer: Answer | None) -> dict[str, Any]:
        options = self._asked.options
        system = [message.content for message in self._asked.messages if message.role == "system"]
        return {
            "id": self._id,
            "object": "response",
            "created_at": self._created,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "instructions": system[0] if system else None,
            "metadata": {},
            "model": self._model,
            "output": output,
            "parallel_tool_calls": False,
            "temperature": options.temperature,
            "tool_choice": "none",
            "tools": [],
            "top_p": options.top_p,
            "max_output_tokens": options.max_new_tokens,
            "previous_response_id": None,
            "text": PLAIN,
            "truncation": "disabled",
            "usage": usage_of(answer) if answer else None,
            **({"metrics": metrics_of(answer)} if answer else {}),
        }


def usage_of(answer: Answer) -> dict[str, Any]:
    return {
        "input_tokens": answer.prompt_tokens,
        "input_tokens_details": {"cached_tokens": answer.reused_tokens},
        "output_tokens": answer.tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.prompt_tokens + answer.tokens,
    }


def _status(answer: Answer) -> str:
    return "incomplete" if answer.stop_reason in ("max_new_tokens", "context_full") else "completed"
