"""Anthropic's messages: https://docs.anthropic.com/en/api/messages"""

import json
from typing import Any, Literal

from msgspec import Struct, field

from engine.calls.offer import ToolOffer
from engine.protocol import Message, Options, ToolCall
from engine.protocol.thought_control import Effort, ThoughtChoice
from engine.server.fields import read_fields
from engine.server.prompt_request import (
    Content,
    PromptRequest,
    SamplingFields,
    TemplateFields,
    budget_of,
    refused_content,
    text_of,
)
from engine.server.structure import constraint_of
from engine.server.tool_fields import offer_of, tool_of

HARMLESS = frozenset(
    {"metadata", "service_tier", "cache_control", "container", "context_management", "betas"}
)


class ContentBlock(Struct):
    """A part of a message's content. Its kind is checked where it is read."""

    type: str
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, Any] = {}
    tool_use_id: str = ""
    content: Content = None


class Turn(Struct, forbid_unknown_fields=True):
    role: Literal["user", "assistant", "system"]
    content: str | list[ContentBlock] | None = None


class MessageTool(Struct, forbid_unknown_fields=True):
    name: str
    input_schema: dict[str, Any]
    description: str | None = None
    type: Literal["custom"] | None = None
    strict: bool | None = None
    cache_control: dict[str, Any] | None = None
    eager_input_streaming: bool | None = None  # arguments are always sent while they are written
    input_examples: None = None


class MessageChoice(Struct, forbid_unknown_fields=True):
    type: Literal["auto", "any", "tool", "none"] = "auto"
    name: str = ""
    disable_parallel_tool_use: bool = False


class Thinking(Struct, forbid_unknown_fields=True):
    type: Literal["enabled", "disabled", "adaptive"]
    budget_tokens: int | None = None
    display: Literal["summarized", "omitted"] | None = None


class OutputConfig(Struct, forbid_unknown_fields=True):
    format: dict[str, Any] = field(default_factory=lambda: {"type": "text"})
    effort: Effort | None = None


class CountFields(TemplateFields, kw_only=True):
    """What makes the prompt: what both paths share. `count_tokens` ignores all other fields, which cannot
    change a count."""

    model: str
    messages: list[Turn]
    system: Content = None
    output_config: OutputConfig = field(default_factory=lambda: OutputConfig())
    thinking: Thinking | None = None
    tools: list[MessageTool] = []
    tool_choice: MessageChoice = field(default_factory=MessageChoice)


class MessageFields(SamplingFields, kw_only=True, forbid_unknown_fields=True):
    messages: list[Turn]
    max_tokens: int
    system: Content = None
    stop_sequences: list[str] = []
    seed: int | None = None
    output_config: OutputConfig = field(default_factory=lambda: OutputConfig())
    thinking: Thinking | None = None
    tools: list[MessageTool] = []
    tool_choice: MessageChoice = field(default_factory=MessageChoice)


def read_messages(body: bytes) -> PromptRequest:
    """Return what the body of a request asks for. Raises RequestFault."""
    fields = read_fields(body, MessageFields, HARMLESS)
    effort, thinking = fields.output_config.effort, fields.thinking
    options = fields.sampling_options(
        constraint_of(fields.output_config.format, "output_config.format"),
        seed=fields.seed,
        max_new_tokens=fields.max_tokens,
        stop=fields.stop_sequences,
        thinking_budget=_budget(fields, effort),
    )
    return PromptRequest(
        model=fields.model,
        options=options,
        messages=_messages(fields.system, fields.messages),
        thinks=_choice(thinking, effort),
        template_options=fields.chat_template_kwargs,
        offer=_offer(fields.tools, fields.tool_choice),
        shows_thoughts=thinking is None or thinking.display != "omitted",
        streams=fields.stream,
    )


def read_count(body: bytes) -> PromptRequest:
    """Return the prompt whose tokens are to be counted: the one that a message with the same fields has.
    Raises RequestFault."""
    fields = read_fields(body, CountFields, frozenset())
    effort = fields.output_config.effort
    return PromptRequest(
        model=fields.model,
        options=Options(thinking_budget=_budget(fields, effort)),
        messages=_messages(fields.system, fields.messages),
        thinks=_choice(fields.thinking, effort),
        template_options=fields.chat_template_kwargs,
        offer=_offer(fields.tools, fields.tool_choice),
    )


CHOICES: dict[str, Literal["none", "auto", "required"]] = {
    "auto": "auto", "any": "required", "tool": "required", "none": "none",
}  # fmt: skip


def _offer(given: list[MessageTool], choice: MessageChoice) -> ToolOffer:
    tools = [tool_of(each.name, each.description, each.input_schema, each.strict) for each in given]
    named = choice.name if choice.type == "tool" else ""
    return offer_of(tools, CHOICES[choice.type], named, not choice.disable_parallel_tool_use)


def _choice(thinking: Thinking | None, effort: Effort | None) -> ThoughtChoice:
    if thinking is None:
        return effort
    return False if thinking.type == "disabled" else effort or True


def _budget(fields: CountFields | MessageFields, effort: Effort | None) -> int | None:
    """Return the budget of the thought."""
    if fields.thinking is not None and fields.thinking.type == "disabled":
        return 0
    if fields.thinking is not None and fields.thinking.budget_tokens is not None:
        return fields.thinking.budget_tokens
    return budget_of(effort, fields.budget_of_thought)


def _messages(system: Content, turns: list[Turn]) -> list[Message]:
    messages = [Message("system", text_of(system, "system"))] if system else []
    for index, turn in enumerate(turns):
        messages += _turn(turn, f"messages[{index}].content")
    return messages


def _turn(turn: Turn, where: str) -> list[Message]:
    """Return a turn as messages. where: the field's name. Raises RequestFault."""
    message = Message(turn.role, "")
    results: list[Message] = []
    blocks = [ContentBlock("text", turn.content)] if isinstance(turn.content, str) else turn.content or []
    for block in blocks:
        match block.type:
            case "text":
                message.content += block.text
            case "tool_result" if turn.role == "user":
                results.append(Message("tool", text_of(block.content, where), call_id=block.tool_use_id))
            case "tool_use" if turn.role == "assistant":
                arguments = json.dumps(block.input, ensure_ascii=False)
                call = ToolCall(id=block.id, name=block.name, arguments=arguments)
                message.calls = [*message.calls, call]
            case "thinking" if turn.role == "assistant":
                message.thought += block.thinking
            case "redacted_thinking" if turn.role == "assistant":
                pass  # a thought that another server has kept to itself
            case _:
                raise refused_content(where, block.type)
    return [*results, message] if message.content or not results else results
