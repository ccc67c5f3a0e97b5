"""The wizard's texts for plans, times and licences, for users who know nothing about models."""

from PySide6.QtCore import QCoreApplication

from app.formatting import about_model, duration, rounded
from app.widgets.fault_words import in_words
from app.wizard.selection.offers import Offer, Offers
from engine.errors import SpecExecError
from engine.planner import READING_SPEED, Plan
from engine.planner.plan import Fit

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


def about(offer: Offer) -> str:
    """Return what the target is and what it is good at."""
    return about_model(offer.about)


def experience(offer: Offer) -> str:
    """Return a sentence on the weights with which this project has run the target's architecture."""
    if offer.run_here:
        return _tr("Its architecture was tested with real weights.")
    return _tr("Its architecture was tested with tiny random models only.")


def reason(offers: Offers) -> str:
    """Return why the recommended offer is, and whether the processor helps with it."""
    why = {
        "fluent": _tr(
            "The largest model that reliably answers soon and at reading speed on this machine, without "
            "reading from the disk."
        ),
        "mixture": _tr("A mixture of experts: it answers faster here than the largest other model."),
        "fastest": _tr("The fastest model for this machine; larger ones would keep you waiting."),
        "none": _tr("Not even the smallest model runs on this machine."),
    }[offers.reason]
    return " ".join(filter(None, [why, help_sentence(offers.recommended.plan)]))


def help_sentence(plan: Plan) -> str:
    """Return what the processor does beside a graphics card as a sentence, or "" if it does not help."""
    if not plan.helped:
        return ""
    if plan.experts:
        return _tr(
            "The processor computes with some experts where they lie in memory, beside the graphics card."
        )
    return _tr("The processor computes with some weights where they lie in memory, beside the graphics card.")


def alternative(offer: Offer) -> str:
    """Return the speed of an alternative to the recommended offer, and what it is."""
    figures = _tr("About {} tokens/s, first word after {}.").format(speed(offer), first_token(offer.plan))
    return f"{figures} {about(offer)}"


def speed(offer: Offer) -> str:
    """Return the predicted speed for a table cell."""
    return "–" if offer.speed is None else rounded(offer.speed)


def speed_sentence(offer: Offer) -> str:
    """Return a sentence with the predicted speed and what it means for a reader."""
    value = offer.speed
    if value is None:
        return _tr("Will not run: {} is needed.").format(offer.plan.missing or _tr("more memory"))
    figure = _tr("About {} tokens/s, estimated").format(rounded(value))
    if value >= 2 * READING_SPEED:
        meaning = _tr("much faster than you read")
    elif value >= READING_SPEED:
        meaning = _tr("as fast as you read")
    elif value >= 1:
        meaning = _tr("slower than you read, but usable for a conversation")
    else:
        meaning = _tr("slow: about {} for a short answer").format(duration(100 / value))
    return _tr("{}: {}.").format(figure, meaning)


def first_token_sentence(plan: Plan) -> str:
    """Return the predicted time to the first token as a sentence, or "" if there is no prediction."""
    seconds = plan.time_to_first_token_s
    return (
        ""
        if seconds is None
        else _tr("After a long question, the first word appears after about {}.").format(duration(seconds))
    )


def first_token(plan: Plan) -> str:
    """Return the time to the first token for a table cell."""
    return "–" if plan.time_to_first_token_s is None else duration(plan.time_to_first_token_s)


def fit(where: Fit) -> str:
    """Return where a model runs, for a table cell."""
    return {
        "in VRAM": _tr("Graphics card"),
        "in RAM": _tr("Memory"),
        "VRAM + RAM": _tr("Card and memory"),
        "with SSD": _tr("Streams from disk"),
        "will not run": _tr("Will not run"),
    }[where]


def fit_sentence(where: Fit) -> str:
    """Return where a model runs as a sentence, or "" if it does not run."""
    return {
        "in VRAM": _tr("It fits on the graphics card."),
        "in RAM": _tr("It fits in memory."),
        "VRAM + RAM": _tr("It is split between the graphics card and memory."),
        "with SSD": _tr("It is larger than memory, so part of it is read from the disk repeatedly."),
        "will not run": "",
    }[where]


def license(name: str) -> str:
    """Return the display name of a licence."""
    return _LICENSES.get(name, name) or _tr("see the model's page")


def licenses(offer: Offer) -> str:
    """Return the names of an offer's licences, with a note if an account is required."""
    named = ", ".join(license(id) for id in offer.licenses) or _tr("see the model's page")
    return _tr("{} · account required").format(named) if offer.gated else named


def name(offer: Offer) -> str:
    """Return the names of target and draft."""
    return (
        _tr("{} + draft {}").format(offer.target.name, offer.draft.name) if offer.draft else offer.target.name
    )


def draft(offer: Offer) -> str:
    """Return the name of the draft, or of what the target's maker trained to draft for it; "" for neither."""
    return offer.draft.name if offer.draft else short(offer.companion)


def short(repository: str) -> str:
    """Return a repository's name without its owner."""
    return repository.rpartition("/")[2]


def companion_sentence(offer: Offer) -> str:
    """Return a sentence about what the target's maker trained to draft for it, or "" if there is none."""
    if not offer.companion:
        return ""
    text = _tr("{} has its maker's draft, {}, on this machine. The estimate is without that draft.")
    if offer.lacks_companion and offer.missing:
        text = _tr("{} is downloaded with its maker's draft, {}. The estimate is without that draft.")
    elif offer.lacks_companion:
        text = _tr(
            "{} is on this machine; its maker's draft, {}, is downloaded. The estimate is without that draft."
        )
    return text.format(offer.target.name, short(offer.companion))


def left_out(companion: str, error: SpecExecError) -> str:
    """Return why a target is downloaded or loaded without its companion, as a sentence."""
    reason = in_words(error)[0]
    return _tr("{}, its maker's draft for this model, is left out: {}").format(companion, reason)


def form(offer: Offer) -> str:
    """Return the format of the target's weights."""
    return offer.target.mix or offer.target.format.upper()
