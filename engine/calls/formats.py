"""The formats of calls, recognised by the model's chat template.

A new format is one file and one entry here.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

from msgspec import structs

from engine.calls import (
    gemma,
    generic,
    glm,
    harmony,
    hermes,
    lfm2,
    llama,
    mistral,
    nemotron,
    olmo,
    qwen_coder,
)
from engine.calls.grammar import CallForms, forced, offered
from engine.calls.offer import OfferedTool, ToolOffer
from engine.calls.reader import CallReader
from engine.protocol import Constraint, Message


def _unchanged(messages: list[Message], offer: ToolOffer) -> list[Message]:
    return messages


def _short_ids(messages: list[Message], offer: ToolOffer) -> list[Message]:
    """Return messages with ids of nine letters, the only ones that Mistral's templates take."""

    def short(id: str) -> str:
        return id if re.fullmatch("[A-Za-z0-9]{9}", id) else hashlib.sha256(id.encode()).hexdigest()[:9]

    return [
        structs.replace(
            message,
            calls=[structs.replace(call, id=short(call.id)) for call in message.calls],
            call_id=short(message.call_id) if message.call_id else "",
        )
        for message in messages
    ]


@dataclass(frozen=True, slots=True)
class CallFormat:
    """A format.

    words: a template with one of these texts has it. reader: reads an answer. forms: the calls as a grammar.
    mark: the text with which every call begins, and only calls; "": there is none. shown: special tokens
    that are part of it. messages: changes a chat for the template. is_native: whether the template itself
    takes tools.
    """

    name: str
    words: tuple[str, ...]
    reader: Callable[[list[OfferedTool]], CallReader]
    forms: Callable[[list[OfferedTool]], CallForms]
    mark: str = ""
    shown: tuple[str, ...] = ()
    messages: Callable[[list[Message], ToolOffer], list[Message]] = _unchanged
    is_native: bool = True

    def constraint(self, offer: ToolOffer) -> Constraint | None:
        """Return what enforces the choice that the request has made, or None."""
        if not offer.tools:
            return None
        if offer.choice == "required":
            return forced(self.forms(offer.callable), offer.several)
        if self.mark and (not offer.several or any(tool.strict for tool in offer.tools)):
            tools = [tool if tool.strict else _loose(tool) for tool in offer.tools]
            return offered(self.forms(tools), self.mark, offer.several)
        return None


def _loose(tool: OfferedTool) -> OfferedTool:
    """Return a tool whose calls may have any arguments."""
    return OfferedTool(tool.name, tool.description, {"type": "object"})


_MISTRALS = (mistral.MARK, mistral.ARGUMENTS, mistral.ID)
FORMATS = (
    CallFormat(
        "harmony", (harmony.CHANNEL,), lambda tools: harmony.HarmonyReader(), harmony.forms,
        "", (harmony.CONSTRAIN,),
    ),
    CallFormat(
        "mistral", (mistral.ARGUMENTS,), lambda tools: mistral.MistralReader(), mistral.named_forms,
        mistral.MARK, _MISTRALS, _short_ids,
    ),
    CallFormat(
        "mistral list", (mistral.MARK,), lambda tools: mistral.MistralReader(), mistral.list_forms,
        "", _MISTRALS, _short_ids,
    ),
    CallFormat(
        "gemma", (gemma.OPENING,), lambda tools: gemma.GemmaReader(), gemma.forms,
        gemma.OPENING, (gemma.OPENING, gemma.CLOSING, gemma.QUOTE),
    ),
    CallFormat(
        "nemotron", (nemotron.OPENING,), lambda tools: nemotron.NemotronReader(), nemotron.forms,
        "", (nemotron.OPENING, nemotron.CLOSING),
    ),
    CallFormat(
        "seed", (qwen_coder.SEED_OPENING,), qwen_coder.SeedReader, qwen_coder.seed_forms,
        qwen_coder.SEED_OPENING, (qwen_coder.SEED_OPENING, qwen_coder.SEED_CLOSING),
    ),
    CallFormat(
        "qwen coder", (qwen_coder.FUNCTION,), qwen_coder.QwenCoderReader, qwen_coder.forms,
        qwen_coder.OPENING, (qwen_coder.OPENING, qwen_coder.CLOSING),
    ),
    CallFormat(
        "glm", (glm.KEY,), glm.GlmReader, glm.forms, glm.OPENING,
        (glm.OPENING, glm.CLOSING, glm.KEY, glm.END_KEY, glm.VALUE, glm.END_VALUE),
    ),
    CallFormat(
        "hermes", (hermes.OPENING,), hermes.HermesReader, hermes.forms,
        hermes.OPENING, (hermes.OPENING, hermes.CLOSING),
    ),
    CallFormat(
        "llama", (llama.TAG, "ipython"), lambda tools: llama.LlamaReader({tool.name for tool in tools}),
        llama.forms, "", (llama.TAG,),
    ),
    CallFormat(
        "olmo", (olmo.OPENING,), olmo.OlmoReader, olmo.forms, "", (olmo.OPENING, olmo.CLOSING),
    ),
    CallFormat(
        "lfm2", (lfm2.OPENING,), lfm2.Lfm2Reader, lfm2.forms, lfm2.OPENING, (lfm2.OPENING, lfm2.CLOSING),
    ),
    CallFormat(
        "lfm2 without calls", lfm2.TOOL_LISTS, lfm2.Lfm2Reader, lfm2.forms,
        lfm2.OPENING, (lfm2.OPENING, lfm2.CLOSING), lfm2.with_calls_as_text,
    ),
)  # fmt: skip
GENERIC = CallFormat(
    "generic", (), hermes.HermesReader, hermes.forms,
    hermes.OPENING, (), generic.explained, is_native=False,
)  # fmt: skip


def format_of(template: str) -> CallFormat:
    """Return the format of a chat template; the generic one if it takes no tools, or is not known."""
    if not re.search(r"\btools\b", template):
        return GENERIC
    return next((each for each in FORMATS if any(word in template for word in each.words)), GENERIC)
