"""OpenAI's chat completions: https://platform.openai.com/docs/api-reference/chat"""

from typing import Any, Literal

from msgspec import Struct, field

from engine.protocol import Message, TemplateInput
from engine.server.faults import RequestFault
from engine.server.fields import read_fields
from engine.server.openai_fields import CompletionFields
from engine.server.prompt_request import (
    Content,
    PromptRequest,
    only,
    text_of,
)
from engine.server.structure import constraint_of
from engine.server.thinking import Effort, budget_of, effort_options

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
        Message(
            ROLES[message.role],
            text_of(message.content, f"messages[{index}].content"),
            thought=message.reasoning_content or message.reasoning or "",
        )
        for index, message in enumerate(fields.messages)
    ]
    options = fields.completion_options(
        fields.max_completion_tokens or fields.max_tokens,
        fields.top_logprobs if fields.logprobs else None,
        constraint_of(fields.response_format, "response_format"),
        thinking_budget=budget_of(fields.reasoning_effort, fields.budget_of_thought),
    )
    return PromptRequest(
        model=fields.model,
        options=options,
        messages=messages,
        template=TemplateInput(
            options={**effort_options(fields.reasoning_effort), **fields.chat_template_kwargs}
        ),
        shows_thoughts=fields.include_reasoning,
        streams=fields.stream,
        includes_usage=fields.stream_options.include_usage,
    )
