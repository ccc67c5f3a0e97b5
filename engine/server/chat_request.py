"""The engine's request for what a client asks, in the terms of the loaded model's chat template."""

from msgspec import structs

from engine import protocol
from engine.calls.formats import CallFormat
from engine.protocol import TemplateInput
from engine.server.answer_parts import AnswerParts
from engine.server.faults import RequestFault
from engine.server.prompt_request import PromptRequest


def chat_of(asked: PromptRequest, format: CallFormat, asker: str, target: str) -> protocol.Chat:
    """Return the request. target: the model that must answer. Raises RequestFault if the request sets the
    form of the answer and requires a call."""
    options = asked.options
    enforced = format.constraint(asked.offer)
    if asked.offer.choice == "required" and options.constraint:
        raise RequestFault(
            400, "bad_field", "The answer cannot have a form of its own and be a call.", "tool_choice"
        )
    if asked.prompt is None:
        shown = [*options.shown, *format.shown] if asked.offer.tools else options.shown
        options = structs.replace(options, constraint=options.constraint or enforced, shown=shown)
    return protocol.Chat(
        id=0,
        messages=format.messages(asked.messages, asked.offer),
        prompt=asked.prompt,
        options=options,
        asker=asker,
        target=target,
        template=template_of(asked, format),
    )


def count_of(asked: PromptRequest, format: CallFormat) -> protocol.Count:
    """Return the request for the number of a prompt's tokens."""
    messages = format.messages(asked.messages, asked.offer)
    return protocol.Count(id=0, messages=messages, template=template_of(asked, format))


def template_of(asked: PromptRequest, format: CallFormat) -> TemplateInput:
    tools = [tool.as_tool() for tool in asked.offer.tools] if format.is_native else []
    return structs.replace(asked.template, tools=tools)


def parts_of(asked: PromptRequest, format: CallFormat) -> AnswerParts:
    """Return what divides the answer into its parts."""
    reader = format.reader(list(asked.offer.tools)) if asked.offer.tools else None
    return AnswerParts(
        protocol.begun_in(asked.messages),
        is_plain=asked.prompt is not None,
        calls=reader,
        several=asked.offer.several,
    )
