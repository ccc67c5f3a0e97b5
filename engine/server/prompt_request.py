"""What a client asks for, whichever interface it speaks; the parts of requests that interfaces share."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Struct

from engine.calls.offer import NO_OFFER, ToolOffer
from engine.protocol import Constraint, Message, Options, TemplateOption
from engine.protocol.thought_control import Effort, ThoughtChoice
from engine.protocol.thoughts import SHOWN
from engine.server.faults import RequestFault, unsupported
from engine.server.structure import StructuredOutputs, one_of


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """A prompt and how to answer it.

    model: the name that the client gave. messages: the chat; empty if `prompt` is a text to continue.
    thinks: whether, or how hard, the model is to think. template_options: further variables of the chat
    template. offer: the tools that the answer may call. shows_thoughts: whether the client wants thoughts.
    streams: whether it wants events instead of one JSON object.
    """

    model: str
    options: Options
    messages: list[Message] = field(default_factory=list)
    prompt: str | None = None
    thinks: ThoughtChoice = None
    template_options: dict[str, TemplateOption] = field(default_factory=dict)
    offer: ToolOffer = NO_OFFER
    shows_thoughts: bool = True
    streams: bool = False
    includes_usage: bool = False


class TemplateFields(Struct, kw_only=True):
    """The fields, besides messages and tools, that reach the chat template, and so change the prompt."""

    chat_template_kwargs: dict[str, TemplateOption] = {}
    # the same under the names that the interfaces of SGLang, vLLM and llama-server have for it; -1: no limit
    thinking_budget: int | None = None
    thinking_token_budget: int | None = None
    thinking_budget_tokens: int | None = None

    @property
    def budget_of_thought(self) -> int | None:
        given = (self.thinking_budget, self.thinking_token_budget, self.thinking_budget_tokens)
        budget = next((each for each in given if each is not None), None)
        return None if budget == -1 else budget


class SamplingFields(TemplateFields, kw_only=True, forbid_unknown_fields=True):
    """The fields by which every interface sets the choice of tokens. Those that are not in the interface's
    own documentation have the names that llama-server and vLLM give them."""

    model: str
    stream: bool = False
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    drafter: str = "auto"
    budget: int | None = None
    structured_outputs: StructuredOutputs = StructuredOutputs()

    def sampling_options(self, form: Constraint | None = None, **others: Any) -> Options:
        """form: what the interface's own field says about the form of the answer. others: further options."""
        forms = [each for each in (form, self.structured_outputs.constraint()) if each is not None]
        return Options(
            constraint=one_of(forms, "structured_outputs"),
            stop_loops=False,  # nobody is there who could let the answer continue
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=max(0, self.top_k),  # -1 stands for none, too
            min_p=self.min_p,
            repetition_penalty=self.repetition_penalty,
            drafter=self.drafter,
            budget=self.budget,
            **{"thinking_budget": self.budget_of_thought, "shown": list(SHOWN), **others},
        )


class TextPart(Struct):
    """A part of a message's content. Its kind is checked by `text_of`."""

    type: str
    text: str = ""


Content = str | list[TextPart] | None


def text_of(content: Content, where: str) -> str:
    """Return the text of a message. Raises RequestFault for pictures, sounds and files."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    for part in content:
        if part.type not in ("text", "input_text", "output_text", "reasoning_text"):
            raise refused_content(where, part.type)
    return "".join(part.text for part in content)


def refused_content(where: str, kind: str) -> RequestFault:
    return unsupported(where, f"Content of the type '{kind[:100]}' is not supported: the model reads text.")


def biases_of(logit_bias: dict[str, float]) -> dict[int, float]:
    """Return the biases by token id. Raises RequestFault."""
    try:
        return {int(token): bias for token, bias in logit_bias.items()}
    except ValueError:
        raise RequestFault(
            400, "bad_field", "The keys of 'logit_bias' are token ids.", "logit_bias"
        ) from None


def stops_of(stop: str | list[str]) -> list[str]:
    return [stop] if isinstance(stop, str) else stop


def budget_of(effort: Effort | None, budget: int | None) -> int | None:
    """Return the budget of the thought: none for the effort "none", which not every template knows."""
    return 0 if effort == "none" else budget


def only(name: str, value: object, *allowed: object) -> None:
    """Raise RequestFault unless `value`, of the field `name`, is one of those that change nothing."""
    if value not in allowed:
        raise unsupported(
            name, f"The value {msgspec.json.encode(value).decode()[:100]} of '{name}' is not supported."
        )
