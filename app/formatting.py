"""Numbers, durations and results as text in the user's language."""

from PySide6.QtCore import QCoreApplication, QLocale

from app.store import AnswerReport, ModelPair, StoredMessage
from engine.protocol.messages import Loaded, LoadProgress, StopReason
from engine.protocol.thought_control import ThoughtChoice

MOST = (1 << 63) - 1  # the largest number that Qt's functions take


def _tr(text: str) -> str:
    return QCoreApplication.translate("words", text)


def number(value: int) -> str:
    """Return a whole number with group separators; without them if it is too large for Qt."""
    return QLocale().toString(value) if abs(value) <= MOST else str(value)


def decimal(value: float) -> str:
    """Return a number with two decimals below 10, one below 100, and none from 100."""
    return QLocale().toString(value, "f", 0 if value >= 100 else 1 if value >= 10 else 2)


def rounded(value: float) -> str:
    """Return an estimate with two decimals below 1, one below 10, and none from 10."""
    return QLocale().toString(value, "f", 0 if value >= 10 else 1 if value >= 1 else 2)


def duration(seconds: float) -> str:
    """Return a duration, rounded, in seconds, minutes, hours or days."""
    if seconds < 90:
        return _tr("{} s").format(max(1, round(seconds)))
    if seconds < 90 * 60:
        return _tr("{} min").format(round(seconds / 60))
    if seconds < 48 * 3600:
        return _tr("{} h").format(rounded(seconds / 3600))
    return _tr("{} days").format(round(seconds / 86400))


def nbytes(value: int) -> str:
    """Return a size as text in bytes, kB, MB or a larger unit, where 1 kB is 1024 bytes.

    The largest is MOST, also for what is larger.
    """
    value = min(max(value, -MOST), MOST)
    return QLocale().formattedDataSize(value, 1, QLocale.DataSizeFormat.DataSizeTraditionalFormat)


def excerpt(text: str, length: int = 120) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def stop_reason(reason: StopReason) -> str:
    """Return the reason why an answer ended, as text."""
    match reason:
        case "end_of_sequence":
            return _tr("complete")
        case "stop_string":
            return _tr("ended at a stop string")
        case "max_new_tokens":
            return _tr("ended at the token limit")
        case "context_full":
            return _tr("the context is full; start a new chat (Ctrl+N)")
        case "repetition":
            return _tr("it repeats itself")
        case "cancelled":
            return _tr("stopped by you")


def message_ending(message: StoredMessage) -> str:
    """Return why a stored answer is not whole, as text; "" if it is."""
    if message.state == "interrupted":
        return _sentence(_tr("incomplete"))
    if not message.reports or message.reports[-1].stop_reason in ("end_of_sequence", "stop_string"):
        return ""
    return _sentence(stop_reason(message.reports[-1].stop_reason))


def message_figures(message: StoredMessage) -> list[tuple[str, str]]:
    """Return the figures of a stored answer; none if the answer is incomplete."""
    is_known = message.reports and message.state != "interrupted"
    return answer_figures(message.reports[-1]) if is_known else []


def message_speed(message: StoredMessage) -> str:
    """Return the speed of a stored answer; "" if the answer is incomplete or the speed not known."""
    is_known = message.reports and message.state != "interrupted"
    return _speed(message.reports[-1]) if is_known else ""


def answer_figures(answer: AnswerReport) -> list[tuple[str, str]]:
    """Return names and values: tokens, speed, seed, stop reason and models. Unknown ones are left out."""
    per_pass, first_s = answer.tokens_per_pass, answer.time_to_first_token_s
    figures = [
        (_tr("Tokens"), number(answer.tokens)),
        (_tr("Thought"), _thought(answer)),
        (_tr("Speed"), _speed(answer)),
        (_tr("Tokens per pass"), "" if per_pass is None else decimal(per_pass)),
        (_tr("First token after"), "" if first_s is None else _tr("{} s").format(decimal(first_s))),
        (_tr("Seed"), "" if answer.seed is None else str(answer.seed)),
        (_tr("End"), stop_reason(answer.stop_reason)),
        (_tr("Model"), pair(answer.pair)),
    ]
    return [(name, value) for name, value in figures if value]


def _speed(answer: AnswerReport) -> str:
    speed = answer.tokens_per_second
    return "" if speed is None else _tr("{} tokens/s").format(decimal(speed))


def _thought(answer: AnswerReport) -> str:
    if not answer.thought_tokens:
        return ""
    return _tr("{} tokens in {}").format(number(answer.thought_tokens), duration(answer.thought_s))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def pair(pair: ModelPair) -> str:
    """Return the names of target and draft, or of a model elsewhere and its place."""
    if pair.place:
        return _tr("{} at {}").format(pair.target, pair.place)
    return _tr("{} with {}").format(pair.target, pair.draft) if pair.draft else pair.target


def drafter(name: str) -> str:
    """Return the name of a drafter that is shown. name: as in `Loaded.drafters`, or several joined by “+”; an
    unknown one is shown as it is."""
    names = {
        "specexec": "SpecExec",
        "specinfer": "SpecInfer",
        "sps": _tr("Speculative sampling"),
        "recycling": "Token Recycling",
        "pld": _tr("Prompt lookup"),
        "lookahead": "Lookahead",
        "eagle": "EAGLE",
        "medusa": "Medusa",
        "p-eagle": "P-EAGLE",
        "dflash": "DFlash",
        "assistant": "Gemma 4 Assistant",
        "merged": _tr("Several, merged"),
        "none": _tr("None (plain decoding)"),
    }
    return " + ".join(names.get(each, each) for each in name.split("+"))


def thought_choice(choice: ThoughtChoice) -> str:
    """Return the name of a choice of how much the model thinks."""
    names: dict[ThoughtChoice, str] = {
        None: _tr("As the model does by itself"),
        True: _tr("On"),
        False: _tr("Off"),
        "minimal": _tr("Minimal"),
        "low": _tr("Low"),
        "medium": _tr("Medium"),
        "high": _tr("High"),
        "xhigh": _tr("Very high"),
        "max": _tr("Maximum"),
        "none": _tr("Off"),
    }
    return names[choice]


def load_stage(progress: LoadProgress) -> str:
    """Return the stage that loading a model has reached, with the progress of the stage."""
    stages = {
        "libraries": _tr("Starting the libraries"),
        "reading": _tr("Reading the model files"),
        "tokenizer": _tr("Reading the vocabulary"),
        "planning": _tr("Fitting the model to this machine"),
        "kernels": _tr("Preparing the model; this takes longer the first time"),
        "draft": _tr("Loading the small model that guesses ahead"),
        "target": _tr("Loading the model"),
        "compiling": _tr("Preparing your graphics card"),
    }
    stage = stages[progress.stage]
    if not progress.total:
        return stage + "…"
    show = number if progress.stage in ("kernels", "compiling") else nbytes
    return _tr("{}: {} of {}").format(stage, show(progress.done), show(progress.total))


def about_model(text: str) -> str:
    """Return what the catalogue says about a model, in the user's language. text: `CatalogModel.about`."""
    return QCoreApplication.translate("catalog", text)


def model_details(loaded: Loaded) -> str:
    """Return draft, number format, device and context of the loaded model; "" for what is not known."""
    if loaded.place:
        known = _tr("context {} tokens").format(number(loaded.context)) if loaded.context else ""
        return " · ".join(filter(None, [loaded.place, known]))
    context = _tr("context {} tokens").format(number(loaded.context))
    draft = _tr("draft {}").format(loaded.draft.name) if loaded.draft else _tr("no draft model")
    return " · ".join([draft, loaded.dtype, loaded.device, context])


def draft_name(loaded: Loaded) -> str:
    """Return the name of the draft, or what the heads are, with the word for it; "" if none is loaded. Heads
    are named after their folder, which says little; `model_details` has that name."""
    if loaded.draft is None:
        return ""
    kinds = {
        "eagle": "EAGLE",
        "eagle3": "EAGLE-3",
        "medusa": "Medusa",
        "p-eagle": "P-EAGLE",
        "dflash": "DFlash",
    }
    kind = kinds.get(loaded.draft.architecture)
    return _tr("draft {}").format(_tr("{} heads").format(kind) if kind else loaded.draft.name)
