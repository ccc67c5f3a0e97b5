"""Numbers and outcomes in words a person reads, in the person's language."""

from PySide6.QtCore import QCoreApplication, QLocale

from app.store import Message, ModelPair, Report
from engine.protocol.messages import Answer, Loaded, LoadProgress, StopReason


def _tr(text: str) -> str:
    return QCoreApplication.translate("words", text)


def number(value: int) -> str:
    return QLocale().toString(value)


def decimal(value: float) -> str:
    """Three figures at most, as far as they say something."""
    return QLocale().toString(value, "f", 0 if value >= 100 else 1 if value >= 10 else 2)


def nbytes(value: int) -> str:
    return QLocale().formattedDataSize(value, 1, QLocale.DataSizeFormat.DataSizeTraditionalFormat)


def stop_reason(reason: StopReason) -> str:
    match reason:
        case "end_of_sequence":
            return _tr("complete")
        case "stop_string":
            return _tr("ended at a stop string")
        case "max_new_tokens":
            return _tr("ended at the token limit")
        case "context_full":
            return _tr("the context is full: start a new chat (Ctrl+N) to go on")
        case "cancelled":
            return _tr("stopped by you")


def message_summary(message: Message) -> str:
    """The line below an answer that is kept."""
    if message.state == "interrupted":
        return _tr("not completed")
    return answer_summary(message.reports[-1]) if message.reports else ""


def answer_summary(answer: Answer | Report) -> str:
    """The line below an answer."""
    parts = [_tr("1 token") if answer.tokens == 1 else _tr("{} tokens").format(number(answer.tokens))]
    if answer.tokens_per_second is not None:
        parts.append(_tr("{} tokens/s").format(decimal(answer.tokens_per_second)))
    if answer.tokens_per_pass is not None:
        parts.append(_tr("{} tokens per pass").format(decimal(answer.tokens_per_pass)))
    if answer.time_to_first_token_s is not None:
        parts.append(_tr("first token after {} s").format(decimal(answer.time_to_first_token_s)))
    parts.append(_tr("seed {}").format(answer.seed))
    parts = [part.replace(" ", "\u00a0") for part in parts]  # lines break between the figures
    parts.append(stop_reason(answer.stop_reason))
    if isinstance(answer, Report):
        parts.append(pair(answer.pair))
    return "\u00a0· ".join(parts)


def pair(pair: ModelPair) -> str:
    """Target and draft."""
    return _tr("{} with {}").format(pair.target, pair.draft) if pair.draft else pair.target


def load_stage(progress: LoadProgress) -> str:
    stages = {
        "libraries": _tr("Starting the libraries"),
        "reading": _tr("Reading the model's files"),
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
    draft = _tr("draft {}").format(loaded.draft.name) if loaded.draft else _tr("no draft model")
    context = _tr("context {} tokens").format(number(loaded.context))
    return " · ".join([draft, loaded.dtype, loaded.device, context])
