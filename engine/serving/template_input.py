"""Messages and tools in the shape that chat templates read, as transformers' documentation defines it."""

from typing import Any

import msgspec

from engine.calls.arguments import arguments_of
from engine.protocol import Message, TemplateInput, Tool, ToolCall
from engine.tokenizer.chat import Plain

NO_INPUT = TemplateInput()


def template_message(message: Message) -> dict[str, Plain]:
    """Return a message as templates read it. A plain one has only its role and content."""
    made: dict[str, Plain] = {"role": message.role, "content": message.content}
    if message.thought:  # templates give it either name
        made |= {"reasoning_content": message.thought, "thinking": message.thought}
    if message.calls:
        made["tool_calls"] = [_call(call) for call in message.calls]
    if message.call_id:
        made["tool_call_id"] = message.call_id
    if message.name:
        made["name"] = message.name
    return made


def template_tool(tool: Tool) -> dict[str, Plain]:
    function = {"name": tool.name, "description": tool.description, "parameters": _json(tool.parameters)}
    return {"type": "function", "function": function}


def is_empty(message: Message) -> bool:
    """Return whether there is nothing to answer in `message`."""
    return message.role != "tool" and not message.calls and not message.content.strip()


def _call(call: ToolCall) -> dict[str, Plain]:
    # An object, because some templates fail at anything else: the chat could not go on after a call cut off.
    function: dict[str, Plain] = {"name": call.name, "arguments": arguments_of(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _json(text: str) -> Any:
    """Return what a JSON text says, or the text itself if it is none."""
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return text
