"""Words an answer as OpenAI's responses do."""

from collections.abc import Iterator
from typing import Any

from engine.calls.offer import OfferedTool
from engine.protocol import Answer, Committed
from engine.server import replies
from engine.server.answer_parts import AnswerPart, PartDelta
from engine.server.faults import RequestFault
from engine.server.figures import metrics_of
from engine.server.openai_errors import error_of
from engine.server.openai_responses import PLAIN
from engine.server.prompt_request import PromptRequest

PREFIXES = {"text": "msg_", "thought": "rs_", "call": "fc_"}
CONTENT = {"text": "output_text", "thought": "reasoning_text"}  # the content and the events of an item


class ResponseWording:
    """Words an answer as a `response`, whole and as events with sequence numbers. Each part is one item."""

    def __init__(self, asked: PromptRequest, model: str) -> None:
        self._asked, self._model = asked, model
        self._id, self._created = replies.new_id("resp_"), replies.now()
        self._items: list[str] = []  # the ids of the items so far
        self._open: AnswerPart | None = None  # the last item's part, unless it is done
        self._sent = 0

    def begin(self) -> Iterator[tuple[str, Any]]:
        response = self._response("in_progress", [], None)
        yield self._event("response.created", response=response)
        yield self._event("response.in_progress", response=response)

    def add(self, delta: PartDelta) -> Iterator[tuple[str, Any]]:
        if delta.is_first:
            yield from self._end_item("completed")
            yield from self._begin_item(delta.part)
        yield from self._delta(delta)

    def _delta(self, delta: PartDelta) -> Iterator[tuple[str, Any]]:
        kind, text = delta.part.kind, delta.text
        if kind != "call":
            name = f"response.{CONTENT[kind]}.delta"
            yield self._event(name, **self._place(), delta=text, **_log_probs(delta.part))
        elif text:
            yield self._event("response.function_call_arguments.delta", **self._call_place(), delta=text)

    def note(self, committed: Committed) -> None:
        """Log-probabilities are not part of this interface."""

    def finish(self, answer: Answer, parts: list[AnswerPart]) -> Iterator[tuple[str, Any]]:
        status = _status(answer)
        if not parts:
            yield from self._begin_item(AnswerPart("text"))
        yield from self._end_item(status)
        yield self._event(f"response.{status}", response=self.whole(answer, parts))

    def whole(self, answer: Answer, parts: list[AnswerPart]) -> dict[str, Any]:
        status = _status(answer)
        parts = parts or [AnswerPart("text")]
        while len(self._items) < len(parts):
            self._items.append(replies.new_id(PREFIXES[parts[len(self._items)].kind]))
        last = len(parts) - 1
        output = [
            _item(id, part, status if index == last else "completed")
            for index, (id, part) in enumerate(zip(self._items, parts, strict=True))
        ]
        return self._response(status, output, answer)

    def problem(self, fault: RequestFault) -> tuple[str, Any]:
        error = error_of(fault)["error"]
        return self._event("error", code=error["code"], message=error["message"], param=error["param"])

    def _begin_item(self, part: AnswerPart) -> Iterator[tuple[str, Any]]:
        self._open = part
        self._items.append(replies.new_id(PREFIXES[part.kind]))
        item = _item(self._items[-1], AnswerPart(part.kind, "", part.id, part.name), "in_progress")
        item = item if part.kind == "call" else {**item, "content": []}
        yield self._event("response.output_item.added", output_index=len(self._items) - 1, item=item)
        if part.kind == "call":
            return
        yield self._event(
            "response.content_part.added", **self._place(), part=_content(AnswerPart(part.kind))
        )

    def _end_item(self, status: str) -> Iterator[tuple[str, Any]]:
        part, self._open = self._open, None
        if part is None:
            return
        if part.kind == "call":
            done = {"name": part.name, "arguments": part.text}
            yield self._event("response.function_call_arguments.done", **self._call_place(), **done)
        else:
            name = f"response.{CONTENT[part.kind]}.done"
            yield self._event(name, **self._place(), text=part.text, **_log_probs(part))
            yield self._event("response.content_part.done", **self._place(), part=_content(part))
        item = _item(self._items[-1], part, status)
        yield self._event("response.output_item.done", output_index=len(self._items) - 1, item=item)

    def _event(self, kind: str, **fields: Any) -> tuple[str, Any]:
        number = self._sent
        self._sent += 1
        return kind, {"type": kind, "sequence_number": number, **fields}

    def _call_place(self) -> dict[str, Any]:
        return {"item_id": self._items[-1], "output_index": len(self._items) - 1}

    def _place(self) -> dict[str, Any]:
        return {"item_id": self._items[-1], "output_index": len(self._items) - 1, "content_index": 0}

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
            "parallel_tool_calls": self._asked.offer.several,
            "temperature": options.temperature,
            "tool_choice": self._asked.offer.choice,
            "tools": [_tool(tool) for tool in self._asked.offer.tools],
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
        "output_tokens_details": {"reasoning_tokens": answer.thought_tokens},
        "total_tokens": answer.prompt_tokens + answer.tokens,
    }


def _tool(tool: OfferedTool) -> dict[str, Any]:
    named = {"type": "function", "name": tool.name, "description": tool.description}
    return {**named, "parameters": tool.schema, "strict": tool.strict}


def _item(id: str, part: AnswerPart, status: str) -> dict[str, Any]:
    """Return a part as an item of the output."""
    if part.kind == "call":
        call = {"call_id": part.id, "name": part.name, "arguments": part.text}
        return {"id": id, "type": "function_call", "status": status, **call}
    if part.kind == "thought":
        item: dict[str, Any] = {"id": id, "type": "reasoning", "summary": [], "encrypted_content": None}
    else:
        item = {"id": id, "type": "message", "role": "assistant"}
    return {**item, "status": status, "content": [_content(part)]}


def _content(part: AnswerPart) -> dict[str, Any]:
    content = {"type": CONTENT[part.kind], "text": part.text}
    return {**content, "annotations": [], "logprobs": []} if part.kind == "text" else content


def _log_probs(part: AnswerPart) -> dict[str, Any]:
    return {"logprobs": []} if part.kind == "text" else {}


def _status(answer: Answer) -> str:
    return "incomplete" if answer.stop_reason in ("max_new_tokens", "context_full") else "completed"
