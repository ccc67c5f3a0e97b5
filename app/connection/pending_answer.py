"""Queued questions, answers in progress, and the options for requesting an answer. Imports no Qt."""

import secrets
from dataclasses import dataclass

from msgspec import structs

from app.store import AnswerReport, AttachedFile, ChatSettings
from app.store.under_way import AnswerUnderWay
from engine.protocol import messages


@dataclass(frozen=True, slots=True)
class Waiting:
    """A queued question; it is asked once the engine is ready."""

    chat: int
    text: str
    files: tuple[AttachedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Answering:
    """An answer in progress and its chat."""

    chat: int
    under_way: AnswerUnderWay

    @property
    def message(self) -> int:
        return self.under_way.id


def request_options(settings: ChatSettings, telemetry: bool) -> messages.Options:
    """Return the options for a request. If the settings contain no seed, choose a random one, so that
    regenerating gives another answer."""
    options = messages.Options(**{**structs.asdict(settings.options), "telemetry": telemetry})
    return options if options.seed is not None else structs.replace(options, seed=secrets.randbits(63))


def settings_to_repeat(report: AnswerReport) -> ChatSettings:
    """Return settings that give the same answer again: the settings in the report, with the seed, drafter
    and budgets that it records."""
    recorded = {"seed": report.seed, "drafter": report.drafter or "auto", "budgets": report.budgets}
    return structs.replace(report.settings, options=structs.replace(report.settings.options, **recorded))
