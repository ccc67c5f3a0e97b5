"""Requests with tools, in the terms of the loaded model's chat template. Imports no Qt."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import structs

from app.store import ChatSettings, StoredCall, StoredMessage
from app.tools.sieve import CallSieve
from app.tools.toolbox import Toolbox
from engine.calls.formats import format_of
from engine.calls.offer import NO_OFFER, ToolOffer
from engine.protocol import messages

LIMIT_REACHED = "The limit of calls for one question is reached. Answer with what there is."
NO_TOOL = "There is no tool of this name."


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A request for an answer that may call tools. sieve: takes the calls out of it; None if it may make
    none. left: how many calls it may make."""

    conversation: list[messages.Message]
    options: messages.Options
    template: messages.TemplateInput
    sieve: CallSieve | None
    left: int


def with_tools(
    toolbox: Toolbox,
    settings: ChatSettings,
    pair: messages.Loaded,
    path: Sequence[StoredMessage],
    conversation: list[messages.Message],
    options: messages.Options,
    template: messages.TemplateInput,
) -> ToolRequest:
    """Return the request with the tools that may be called. path: the messages that lead to the answer."""
    left = toolbox.most_calls - calls_spent(path)
    tools = [tool.offered for tool in toolbox.all()] if settings.tools and pair.chat_template else []
    offer = ToolOffer(tuple(tools)) if tools and left > 0 else NO_OFFER
    form = format_of(pair.chat_template)
    if offer.tools:
        shown = [*options.shown, *form.shown]
        # An engine elsewhere is told the schemas, and holds calls to them in its own way.
        constraint = options.constraint or (None if pair.place else form.constraint(offer))
        options = structs.replace(options, shown=shown, constraint=constraint)
        if form.is_native:
            template = structs.replace(template, tools=[tool.as_tool() for tool in offer.tools])
    begun = messages.begun_in(conversation)
    sieve = CallSieve(form.reader(list(offer.tools)), begun) if offer.tools else None
    return ToolRequest(form.messages(conversation, offer), options, template, sieve, left)


def calls_spent(path: Sequence[StoredMessage]) -> int:
    """Return how many calls were made since the last question."""
    spent = 0
    for message in reversed(path):
        if message.role == "user":
            break
        spent += len(message.calls)
    return spent


def stored_calls(request: ToolRequest, toolbox: Toolbox) -> list[StoredCall]:
    """Return the calls of a complete answer, as they are stored."""
    found = request.sieve.calls if request.sieve else []
    return [
        _stored(call.id, call.name, call.arguments, place < request.left, toolbox)
        for place, call in enumerate(found)
    ]


def _stored(id: str, name: str, arguments: str, is_within: bool, toolbox: Toolbox) -> StoredCall:
    tool = toolbox.find(name)
    call = StoredCall(id=id, name=name, arguments=arguments)
    if tool is None:
        return structs.replace(call, state="failed", result=NO_TOOL)
    call = structs.replace(call, server=tool.server.name if tool.server else "")
    return call if is_within else structs.replace(call, state="refused", result=LIMIT_REACHED)
