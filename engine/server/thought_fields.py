"""How much a model thinks before it answers, as requests ask for it."""

from typing import Literal

from engine.protocol import TemplateOption
from engine.protocol.thoughts import switched

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


def effort_options(effort: Effort | None) -> dict[str, TemplateOption]:
    """Return an effort as the variables that chat templates know. None: what the template does by itself."""
    if effort is None:
        return {}
    return {**switched(effort != "none"), "reasoning_effort": effort}


def budget_of(effort: Effort | None, budget: int | None) -> int | None:
    """Return the budget of the thought: none for the effort "none", which not every template knows."""
    return 0 if effort == "none" else budget
