"""Anthropic's messages: https://docs.anthropic.com/en/api/messages"""

from typing import Any, Literal

from msgspec import Struct, field

from engine.protocol import Message, Options, TemplateInput, TemplateOption
from engine.server.fields import read_fields
from engine.server.prompt_request import (
    Content,
    PromptRequest,
    SamplingFields,
    only,
    refused_content,
    text_of,
)
from engine.server.structure import constraint_of
from engine.server.thinking import Effort, budget_of, effort_options, switched

HARMLESS = frozenset(
    {"metadata", "service_tier", "cache_control", "container", "context_management", "betas"}
)


class Block(Struct):
    """A part of a message's content. Its kind is checked where it is read."""

    type: str
    text: str = ""
    thinking: str = ""


class Turn(Struct, forbid_unknown_fields=True):
    role: Literal["user", "assistant", "system"]
    content: str | list[Block] | None = None


class Thinking(Struct, forbid_unknown_fields=True):
    type: Literal["enabled", "disabled", "adaptive"]
    budget_tokens: int | None = None
    display: Literal["summarized", "omitted"] | None = None


class CountFields(Struct, kw_only=True):
    """What both paths share. `count_tokens` ignores all other fields, which cannot change a count."""

    model: str
    messages: list[Turn]
    system: Content = None
    thinking: Thinking | None = None


class OutputConfig(Struct, forbid_unknown_fields=True):
    format: dict[str, Any] = field(default_factory=lambda: {"type": "text"})
    effort: Effort | None = None


class MessageFields(SamplingFields, kw_only=True, forbid_unknown_fields=True):
    messages: list[Turn]
    max_tokens: int
    system: Content = None
    stop_sequences: list[str] = []
    seed: int | None = None
    output_config: OutputConfig = field(default_factory=lambda: OutputConfig())
    thinking: Thinking | None = None
    # These are accepted only with the values that change nothing.
    tools: list[Any] = []
    tool_choice: dict[str, Any] = field(default_factory=lambda: {"type": "none"})


def read_messages(body: bytes) -> PromptRequest:
    """Return what the body of a request asks for. Raises RequestFault."""
    fields = read_fields(body, MessageFields, HARMLESS)
    only("tools", fields.tools, [])
    only("tool_choice.type", fields.tool_choice.get("type"), "none", "auto")
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
        template=TemplateInput(
            options={**effort_options(effort), **_switch(thinking), **fields.chat_template_kwargs}
        ),
        shows_thoughts=thinking is None or thinking.display != "omitted",
        streams=fields.stream,
    )


def read_count(body: bytes) -> PromptRequest:
    """Return the prompt whose tokens are to be counted. Raises RequestFault."""
    fields = read_fields(body, CountFields, frozenset())
    return PromptRequest(
        model=fields.model,
        options=Options(),
        messages=_messages(fields.system, fields.messages),
        template=TemplateInput(options=_switch(fields.thinking)),
    )


def _switch(thinking: Thinking | None) -> dict[str, TemplateOption]:
    return {} if thinking is None else switched(thinking.type != "disabled")


def _budget(fields: MessageFields, effort: Effort | None) -> int | None:
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
    blocks = [Block("text", turn.content)] if isinstance(turn.content, str) else turn.content or []
    for block in blocks:
        match block.type:
            case "text":
                message.content += block.text
            case "thinking" if turn.role == "assistant":
                message.thought += block.thinking
            case "redacted_thinking" if turn.role == "assistant":
                pass  # a thought that another server has kept to itself
            case _:
                raise refused_content(where, block.type)
    return [message]
