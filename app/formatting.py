"""Numbers, durations and results as text in the user's language."""

from PySide6.QtCore import QCoreApplication, QLocale

from app.store import AnswerReport, ModelPair, StoredMessage
from engine.protocol.messages import Answer, Loaded, LoadProgress, StopReason


def _tr(text: str) -> str:
    return QCoreApplication.translate("words", text)


def number(value: int) -> str:
    """Return a whole number with group separators; without them if it is too large for Qt."""
    return QLocale().toString(value) if abs(value) < 1 << 63 else str(value)


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
    """Return a size as text in bytes, kB, MB or a larger unit, where 1 kB is 1024 bytes."""
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
        case "cancelled":
            return _tr("stopped by you")


def message_summary(message: StoredMessage) -> str:
    """Return the line to show below a stored answer."""
    if message.state == "interrupted":
        return _tr("incomplete")
    return answer_summary(message.reports[-1]) if message.reports else ""


def answer_summary(answer: Answer | AnswerReport) -> str:
    """Return the line to show below an answer: tokens, speed, seed, stop reason."""
    parts = [_tr("1 token") if answer.tokens == 1 else _tr("{} tokens").format(number(answer.tokens))]
    if answer.tokens_per_second is not None:
        parts.append(_tr("{} tokens/s").format(decimal(answer.tokens_per_second)))
    if answer.tokens_per_pass is not None:
        parts.append(_tr("{} tokens per pass").format(decimal(answer.tokens_per_pass)))
    if answer.time_to_first_token_s is not None:
        parts.append(_tr("first token after {} s").format(decimal(answer.time_to_first_token_s)))
    parts.append(_tr("seed {}").format(answer.seed))
    parts = [part.replace(" ", "\u00a0") for part in parts]  # so that lines wrap only between the figures
    parts.append(stop_reason(answer.stop_reason))
    if isinstance(answer, AnswerReport):
        parts.append(pair(answer.pair))
    return "\u00a0· ".join(parts)


def pair(pair: ModelPair) -> str:
    """Return the names of target and draft."""
    return _tr("{} with {}").format(pair.target, pair.draft) if pair.draft else pair.target


def load_stage(progress: LoadProgress) -> str:
    """Return the stage that loading a model has reached, with the progress of the stage."""
    stages = {
        "libraries": _tr("Starting the libraries"),
        "reading": _tr("Reading the model files"),
        "tokenizer": _tr("Reading the tokenizer"),
        "kernels": _tr("Preparing the weight formats"),
        "draft": _tr("Loading the draft"),
        "target": _tr("Loading the target"),
    }
    stage = stages[progress.stage]
    if not progress.total:
        return stage + "…"
    figures = nbytes(progress.done), nbytes(progress.total)
    if progress.layers:
        return _tr("{}: layer {} of {}, {} of {}").format(stage, progress.layer, progress.layers, *figures)
    return _tr("{}: {} of {}").format(stage, *figures)


def model_details(loaded: Loaded) -> str:
    """Return draft, number format, device and context of the loaded model."""
    draft = _tr("draft {}").format(loaded.draft.name) if loaded.draft else _tr("no draft model")
    context = _tr("context {} tokens").format(number(loaded.context))
    return " · ".join([draft, loaded.dtype, loaded.device, context])
