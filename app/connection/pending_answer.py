"""Queued questions, answers in progress or still to be saved, and the options for requesting an answer.
Imports no Qt."""

import secrets
from dataclasses import dataclass

from msgspec import structs

from app.connection.tool_use import ToolRequest
from app.store import AnswerReport, AttachedFile, ChatSettings
from app.store.under_way import AnswerUnderWay
from engine.protocol import messages
from engine.protocol.thought_control import control_of
from engine.protocol.thoughts import SHOWN


@dataclass(frozen=True, slots=True)
class Waiting:
    """A queued question; it is asked once the engine is ready."""

    chat: int
    text: str
    files: tuple[AttachedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Answering:
    """An answer in progress, its chat, and what it was asked with."""

    chat: int
    under_way: AnswerUnderWay
    request: ToolRequest

    @property
    def message(self) -> int:
        return self.under_way.id


@dataclass(frozen=True, slots=True)
class UnsavedAnswer:
    """An answer that has ended, and whose end could not be saved yet. calls: whether it calls tools."""

    chat: int
    under_way: AnswerUnderWay
    calls: bool = False


def request_options(settings: ChatSettings, telemetry: bool) -> messages.Options:
    """Return the options for a request. If the settings contain no seed, choose a random one, so that
    regenerating gives another answer."""
    own = {"telemetry": telemetry, "shown": list(SHOWN)}
    options = messages.Options(**{**structs.asdict(settings.options), **own})
    return options if options.seed is not None else structs.replace(options, seed=secrets.randbits(63))


def template_input(settings: ChatSettings, pair: messages.Loaded) -> messages.TemplateInput:
    """Return what the pair's chat template reads besides the messages."""
    control = control_of(pair.chat_template)
    return messages.TemplateInput(
        options=control.variables(settings.thinks, settings.options.thinking_budget)
    )


def settings_to_repeat(report: AnswerReport) -> ChatSettings:
    """Return settings that give the same answer again: the settings in the report, with the seed, drafter,
    budgets and recording that it has."""
    recorded = {
        "seed": report.seed,
        "drafter": report.drafter or "auto",
        "budgets": report.budgets,
        "recording": report.recording,
    }
    return structs.replace(report.settings, options=structs.replace(report.settings.options, **recorded))
