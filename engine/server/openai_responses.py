"""OpenAI's responses: https://platform.openai.com/docs/api-reference/responses

Nothing is kept between requests: `previous_response_id` is refused.
"""

from typing import Any, Literal

from msgspec import Struct, field

from engine.calls.offer import ToolOffer
from engine.protocol import Message, ToolCall
from engine.protocol.thought_control import Effort
from engine.server.faults import RequestFault
from engine.server.fields import read_fields
from engine.server.openai_chat import HARMLESS, ROLES
from engine.server.prompt_request import (
    Content,
    PromptRequest,
    SamplingFields,
    TextPart,
    budget_of,
    only,
    text_of,
)
from engine.server.structure import constraint_of
from engine.server.tool_fields import offer_of, tool_of

PLAIN = {"format": {"type": "text"}}


class InputItem(Struct, forbid_unknown_fields=True):
    """A message, the thought before one of the assistant's, a call, or its result."""

    type: Literal["message", "reasoning", "function_call", "function_call_output"] = "message"
    id: str | None = None
    status: str | None = None
    role: Literal["system", "developer", "user", "assistant"] = "assistant"
    content: Content = None
    summary: list[TextPart] = []
    encrypted_content: str | None = None  # a thought that another server has kept to itself
    call_id: str = ""
    name: str = ""
    arguments: str = "{}"
    output: Content = None


class ResponseTool(Struct, forbid_unknown_fields=True):
    type: Literal["function"]
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class ResponseChoice(Struct, forbid_unknown_fields=True):
    type: Literal["function"]
    name: str


class Reasoning(Struct, forbid_unknown_fields=True):
    effort: Effort | None = None
    summary: str | None = None  # thoughts are given whole, not summarised
    generate_summary: str | None = None


class ResponseFields(SamplingFields, kw_only=True, forbid_unknown_fields=True):
    input: str | list[InputItem]
    instructions: str = ""
    max_output_tokens: int | None = None
    seed: int | None = None
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    include: list[str] = []
    stream_options: dict[str, Any] = {}
    reasoning: Reasoning = field(default_factory=Reasoning)
    tools: list[ResponseTool] = []
    tool_choice: Literal["none", "auto", "required"] | ResponseChoice = "auto"
    parallel_tool_calls: bool = True
    # These are accepted only with the values that change nothing.
    background: bool = False
    text: dict[str, Any] = field(default_factory=lambda: PLAIN)
    truncation: str = "disabled"


def read_response(body: bytes) -> PromptRequest:
    """Return what the body of a request asks for. Raises RequestFault."""
    fields = read_fields(body, ResponseFields, HARMLESS)
    only("background", fields.background, False)
    form = fields.text.get("format", PLAIN["format"])
    if not isinstance(form, dict):
        raise RequestFault(400, "bad_field", "'text.format' is not an object.", "text.format")
    only("text.verbosity", fields.text.get("verbosity", "medium"), "medium")
    only("truncation", fields.truncation, "disabled")
    only("include", fields.include, [], ["reasoning.encrypted_content"])
    messages = [Message("system", fields.instructions)] if fields.instructions else []
    if isinstance(fields.input, str):
        messages.append(Message("user", fields.input))
    else:
        messages += _messages(fields.input)
    effort = fields.reasoning.effort
    options = fields.sampling_options(
        constraint_of(form, "text.format"),
        presence_penalty=fields.presence_penalty,
        frequency_penalty=fields.frequency_penalty,
        seed=fields.seed,
        max_new_tokens=fields.max_output_tokens,
        thinking_budget=budget_of(effort, fields.budget_of_thought),
    )
    return PromptRequest(
        model=fields.model,
        options=options,
        messages=messages,
        thinks=effort,
        template_options=fields.chat_template_kwargs,
        offer=_offer(fields),
        streams=fields.stream,
    )


def _offer(fields: ResponseFields) -> ToolOffer:
    tools = [tool_of(each.name, each.description, each.parameters, each.strict) for each in fields.tools]
    choice = fields.tool_choice
    if isinstance(choice, ResponseChoice):
        return offer_of(tools, "required", choice.name)
    return offer_of(tools, choice, several=fields.parallel_tool_calls)


def _messages(items: list[InputItem]) -> list[Message]:
    """Return the items as messages. The thoughts, texts and calls of one answer are one message."""
    messages: list[Message] = []
    begun: Message | None = None  # the answer that the items so far are parts of
    for index, item in enumerate(items):
        text = text_of(item.content, f"input[{index}].content")
        if item.type == "function_call_output":
            output = text_of(item.output, f"input[{index}].output")
            messages.append(Message("tool", output, call_id=item.call_id))
        elif item.type == "message" and item.role != "assistant":
            messages.append(Message(ROLES[item.role], text))
        else:
            if begun is None:
                begun = Message("assistant", "")
                messages.append(begun)
            _extend(begun, item, text)
            continue
        begun = None
    return messages


def _extend(message: Message, item: InputItem, text: str) -> None:
    """Add an item to the answer that it is a part of."""
    if item.type == "reasoning":
        message.thought += text or "".join(part.text for part in item.summary)
    elif item.type == "function_call":
        call = ToolCall(id=item.call_id, name=item.name, arguments=item.arguments or "{}")
        message.calls = [*message.calls, call]
    else:
        message.content += text
