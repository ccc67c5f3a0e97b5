"""Calls for models whose chat template takes no tools: Hermes' format, explained in the system message."""

import json

from engine.calls.hermes import CLOSING, OPENING
from engine.calls.offer import ToolOffer
from engine.protocol import Message, ToolCall

INSTRUCTIONS = f"""# Tools

You may call one or more functions to answer the user. Each line between <tools> and </tools> describes one:
<tools>
%s
</tools>

To call a function, write its name and its arguments as JSON between {OPENING} and {CLOSING}:
{OPENING}
{{"name": "the function's name", "arguments": {{"argument": "value"}}}}
{CLOSING}
The results are in the next message, between <tool_response> and </tool_response>."""


def explained(messages: list[Message], offer: ToolOffer) -> list[Message]:
    """Return a chat with the tools in its system message, and with calls and their results as text."""
    made: list[Message] = []
    for message in messages:
        if message.role == "tool":
            text = f"<tool_response>\n{message.content}\n</tool_response>"
            if made and made[-1].role == "user" and made[-1].content.endswith("</tool_response>"):
                made[-1].content += f"\n{text}"
            else:
                made.append(Message("user", text))
        elif message.calls:
            texts = [message.content, *map(_text, message.calls)]
            made.append(Message(message.role, "\n".join(filter(None, texts)), thought=message.thought))
        else:
            made.append(message)
    if not offer.tools:
        return made
    tools = [
        {"name": tool.name, "description": tool.description, "parameters": tool.schema}
        for tool in offer.tools
    ]
    instructions = INSTRUCTIONS % "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
    if made and made[0].role == "system":
        return [Message("system", f"{made[0].content}\n\n{instructions}"), *made[1:]]
    return [Message("system", instructions), *made]


def _text(call: ToolCall) -> str:
    name = json.dumps(call.name, ensure_ascii=False)
    return f'{OPENING}\n{{"name": {name}, "arguments": {call.arguments}}}\n{CLOSING}'
