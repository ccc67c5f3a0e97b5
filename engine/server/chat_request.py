"""The engine's request for what a client asks, in the terms of the loaded model's chat template."""

from msgspec import structs

from engine import protocol
from engine.calls.formats import format_of
from engine.protocol import TemplateInput
from engine.protocol.thought_control import control_of
from engine.server.answer_parts import AnswerParts
from engine.server.faults import RequestFault
from engine.server.prompt_request import PromptRequest


def chat_of(asked: PromptRequest, template: str, asker: str, target: str) -> protocol.Chat:
    """Return the request. target: the model that must answer. Raises RequestFault if the request sets the
    form of the answer and requires a call."""
    options, format = asked.options, format_of(template)
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
        template=_input_of(asked, template),
    )


def count_of(asked: PromptRequest, template: str) -> protocol.Count:
    """Return the request for the number of a prompt's tokens."""
    messages = format_of(template).messages(asked.messages, asked.offer)
    return protocol.Count(id=0, messages=messages, template=_input_of(asked, template))


def _input_of(asked: PromptRequest, template: str) -> TemplateInput:
    """Return what the template reads besides the messages. What a request sets by name comes first."""
    tools = [tool.as_tool() for tool in asked.offer.tools] if format_of(template).is_native else []
    chosen = control_of(template).variables(asked.thinks, asked.options.thinking_budget)
    return TemplateInput(tools=tools, options={**chosen, **asked.template_options})


def parts_of(asked: PromptRequest, template: str) -> AnswerParts:
    """Return what divides the answer into its parts."""
    reader = format_of(template).reader(list(asked.offer.tools)) if asked.offer.tools else None
    return AnswerParts(
        protocol.begun_in(asked.messages),
        is_plain=asked.prompt is not None,
        calls=reader,
        several=asked.offer.several,
    )
