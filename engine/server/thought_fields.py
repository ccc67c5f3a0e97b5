"""How much a model thinks before it answers, as requests ask for it."""

from typing import Literal

from engine.protocol import TemplateOption

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


def effort_options(effort: Effort | None) -> dict[str, TemplateOption]:
    """Return an effort as the variables that chat templates know. None: what the template does by itself."""
    if effort is None:
        return {}
    return {**switched(effort != "none"), "reasoning_effort": effort}


def switched(thinks: bool) -> dict[str, TemplateOption]:
    """Return the variables that turn thinking on or off; templates know it under either name."""
    return {"enable_thinking": thinks, "thinking": thinks}


def budget_of(effort: Effort | None, budget: int | None) -> int | None:
    """Return the budget of the thought: none for the effort "none", which not every template knows."""
    return 0 if effort == "none" else budget
