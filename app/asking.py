"""A question on its way: what waits, what is being answered, with which options. Knows no Qt."""

import secrets
from dataclasses import dataclass

from msgspec import structs

from app.store import ChatSettings, Report
from app.store.under_way import AnswerUnderWay
from engine.protocol import messages


@dataclass(frozen=True, slots=True)
class Waiting:
    """A question that will be asked once the engine is ready."""

    chat: int
    text: str


@dataclass(frozen=True, slots=True)
class Answering:
    """An answer that is being written: at which message of which chat."""

    chat: int
    under_way: AnswerUnderWay

    @property
    def message(self) -> int:
        return self.under_way.id


def to_ask(settings: ChatSettings, watch: bool) -> messages.Options:
    """The engine's options, with a seed of their own, so that regenerating gives another answer."""
    options = messages.Options(**{**structs.asdict(settings.options), "watch": watch})
    return options if options.seed is not None else structs.replace(options, seed=secrets.randbits(63))


def recorded(report: Report) -> ChatSettings:
    """What makes the same answer again."""
    again = {"seed": report.seed, "drafter": report.drafter, "budgets": report.budgets}
    return structs.replace(report.settings, options=structs.replace(report.settings.options, **again))
