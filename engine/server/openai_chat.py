"""OpenAI's chat completions: https://platform.openai.com/docs/api-reference/chat"""

from typing import Any, Literal

from msgspec import Struct, field

from engine.calls.offer import ToolOffer
from engine.protocol import Message, ToolCall
from engine.protocol.thought_control import Effort
from engine.server.faults import RequestFault
from engine.server.fields import read_fields
from engine.server.openai_fields import CompletionFields
from engine.server.prompt_request import (
    Content,
    PromptRequest,
    budget_of,
    only,
    text_of,
)
from engine.server.structure import constraint_of
from engine.server.tool_fields import offer_of, tool_of

HARMLESS = frozenset({
    "user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key",
    "prompt_cache_retention",
    "cache_prompt", "id_slot", "timings_per_token", "return_progress",
})  # fmt: skip
Role = Literal["system", "user", "assistant", "tool"]
ROLES: dict[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool",
}  # fmt: skip


class Function(Struct, forbid_unknown_fields=True):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class ChatTool(Struct, forbid_unknown_fields=True):
    type: Literal["function"]
    function: Function


class FunctionName(Struct, forbid_unknown_fields=True):
    name: str


class ChatChoice(Struct, forbid_unknown_fields=True):
    type: Literal["function"]
    function: FunctionName


class CalledFunction(Struct):
    name: str
    arguments: str = "{}"


class ChatCall(Struct):
    """A call that an earlier answer has made."""

    id: str
    function: CalledFunction
    type: Literal["function"] = "function"


class ChatMessage(Struct, forbid_unknown_fields=True):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Content = None
    name: str | None = None
    tool_call_id: str | None = None
    refusal: None = None
    audio: None = None
    tool_calls: list[ChatCall] | None = None
    function_call: None = None
    annotations: list[Any] | None = None
    # the thought of an earlier answer; vLLM has given it both names
    reasoning_content: str | None = None
    reasoning: str | None = None


class ChatFields(CompletionFields, kw_only=True, forbid_unknown_fields=True):
    messages: list[ChatMessage]
    logprobs: bool = False
    top_logprobs: int = 0
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    response_format: dict[str, Any] = field(default_factory=lambda: {"type": "text"})
    reasoning_effort: Effort | None = None
    include_reasoning: bool = True
    tools: list[ChatTool] = []
    tool_choice: Literal["none", "auto", "required"] | ChatChoice = "auto"
    parallel_tool_calls: bool = True
    # These are accepted only with the values that change nothing.
    modalities: list[str] = field(default_factory=lambda: ["text"])
    functions: list[Any] = []
    verbosity: str = "medium"


def read_chat(body: bytes) -> PromptRequest:
    """Return what the body of a request asks for. Raises RequestFault."""
    fields = read_fields(body, ChatFields, HARMLESS)
    only("n", fields.n, 1)
    only("modalities", fields.modalities, ["text"])
    only("functions", fields.functions, [])
    only("verbosity", fields.verbosity, "medium")
    if fields.top_logprobs and not fields.logprobs:
        raise RequestFault(400, "bad_field", "'top_logprobs' requires 'logprobs'.", "top_logprobs")
    options = fields.completion_options(
        fields.max_completion_tokens or fields.max_tokens,
        fields.top_logprobs if fields.logprobs else None,
        constraint_of(fields.response_format, "response_format"),
        thinking_budget=budget_of(fields.reasoning_effort, fields.budget_of_thought),
    )
    return PromptRequest(
        model=fields.model,
        options=options,
        messages=[_message(each, f"messages[{index}]") for index, each in enumerate(fields.messages)],
        thinks=fields.reasoning_effort,
        template_options=fields.chat_template_kwargs,
        offer=_offer(fields),
        shows_thoughts=fields.include_reasoning,
        streams=fields.stream,
        includes_usage=fields.stream_options.include_usage,
    )


def _offer(fields: ChatFields) -> ToolOffer:
    functions = [tool.function for tool in fields.tools]
    tools = [tool_of(each.name, each.description, each.parameters, each.strict) for each in functions]
    choice = fields.tool_choice
    if isinstance(choice, ChatChoice):
        return offer_of(tools, "required", choice.function.name)
    return offer_of(tools, choice, several=fields.parallel_tool_calls)


def _message(given: ChatMessage, where: str) -> Message:
    """Return a message as the engine takes it. where: the field's name. Raises RequestFault."""
    return Message(
        ROLES[given.role],
        text_of(given.content, f"{where}.content"),
        thought=given.reasoning_content or given.reasoning or "",
        calls=[
            ToolCall(id=call.id, name=call.function.name, arguments=call.function.arguments or "{}")
            for call in given.tool_calls or ()
        ],
        call_id=given.tool_call_id or "",
        name=(given.name or "") if given.role == "tool" else "",
    )
