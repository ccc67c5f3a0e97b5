"""What the wizard says of plans, times and licences, in words for somebody who knows nothing of models."""

from PySide6.QtCore import QCoreApplication, QLocale

from app.wizard.offers import Offer
from engine.planner import Plan
from engine.planner.plan import Fit
from engine.planner.recommending import READING_SPEED

_LICENSES = {
    "apache-2.0": "Apache 2.0",
    "mit": "MIT",
    "gemma": "Gemma",
    "llama2": "Llama 2",
    "llama3": "Llama 3",
    "llama3.1": "Llama 3.1",
    "llama3.2": "Llama 3.2",
    "llama3.3": "Llama 3.3",
    "other": "",
}


def _tr(text: str) -> str:
    return QCoreApplication.translate("wizard", text)


def rounded(value: float) -> str:
    """As exactly as an estimate may be told: two figures."""
    return QLocale().toString(value, "f", 0 if value >= 10 else 1 if value >= 1 else 2)


def speed(plan: Plan) -> str:
    """Of a table's cell."""
    value = plan.predicted_tokens_per_second
    return "–" if value is None else rounded(value)


def told_speed(plan: Plan) -> str:
    """In a sentence, with what it means."""
    value = plan.predicted_tokens_per_second
    if value is None:
        return _tr("Will not run: {} is needed.").format(plan.missing or _tr("more memory"))
    figure = _tr("About {} tokens/s, estimated").format(rounded(value))
    if value >= 2 * READING_SPEED:
        meaning = _tr("much faster than you read")
    elif value >= READING_SPEED:
        meaning = _tr("as fast as you read")
    elif value >= 1:
        meaning = _tr("slower than you read, but fit for a conversation")
    else:
        meaning = _tr("slow: about {} for a short answer").format(duration(100 / value))
    return f"{figure}: {meaning}."


def told_first_token(plan: Plan) -> str:
    seconds = plan.time_to_first_token_s
    return (
        ""
        if seconds is None
        else _tr("The first word comes after about {} of reading a long question.").format(duration(seconds))
    )


def first_token(plan: Plan) -> str:
    return "–" if plan.time_to_first_token_s is None else duration(plan.time_to_first_token_s)


def fit(where: Fit) -> str:
    return {
        "in VRAM": _tr("Graphics card"),
        "in RAM": _tr("Memory"),
        "VRAM + RAM": _tr("Card and memory"),
        "with SSD": _tr("Streams from disk"),
        "will not run": _tr("Will not run"),
    }[where]


def told_fit(where: Fit) -> str:
    return {
        "in VRAM": _tr("It fits on the graphics card."),
        "in RAM": _tr("It fits into memory."),
        "VRAM + RAM": _tr("It is shared between graphics card and memory."),
        "with SSD": _tr("It is larger than memory: a part of it is read from the disk again and again."),
        "will not run": "",
    }[where]


def duration(seconds: float) -> str:
    """One unit, rounded as a person would."""
    if seconds < 90:
        return _tr("{} s").format(max(1, round(seconds)))
    if seconds < 90 * 60:
        return _tr("{} min").format(round(seconds / 60))
    if seconds < 48 * 3600:
        return _tr("{} h").format(rounded(seconds / 3600))
    return _tr("{} days").format(round(seconds / 86400))


def license(name: str) -> str:
    return _LICENSES.get(name, name) or _tr("see its page")


def licenses(offer: Offer) -> str:
    named = ", ".join(license(each) for each in offer.licenses) or _tr("see its page")
    return _tr("{} · account needed").format(named) if offer.gated else named


def name(offer: Offer) -> str:
    return (
        _tr("{} + draft {}").format(offer.target.name, offer.draft.name) if offer.draft else offer.target.name
    )


def form(offer: Offer) -> str:
    """In which form its weights come."""
    return offer.target.mix or offer.target.format.upper()
