"""What an engine elsewhere tells of its speculation, in words. Imports no widgets."""

from PySide6.QtCore import QCoreApplication

from app import formatting
from engine.protocol.messages import Answer, IterationDone, Loaded, Speculation

MOST_POSITIONS = 12


def _tr(text: str) -> str:
    return QCoreApplication.translate("told", text)


def no_tree(loaded: Loaded) -> str:
    """Return the sentence for pages that need trees."""
    return _tr("This engine does not tell its tree.") + " " + _tr("It answers at {}.").format(loaded.place)


def lines(loaded: Loaded, answer: Answer | None, newest: IterationDone | None) -> list[str]:
    """Return what is known of the answer in progress, or of the complete one, a sentence each."""
    said = [no_tree(loaded)]
    if answer is not None:
        said += _of_answer(answer)
    elif newest is not None and newest.step is not None:
        said.append(
            _tr("Step {}: {} of {} drafted tokens accepted.").format(
                formatting.number(newest.iteration),
                formatting.number(newest.step.accepted),
                formatting.number(newest.step.drafted),
            )
        )
    return said


def why(answer: Answer, loaded: Loaded) -> list[str]:
    """Explain the speed of an answer from elsewhere, as far as its engine tells, a sentence each."""
    said = []
    if answer.tokens_per_second is not None:
        said.append(
            _tr("The answer came from {} with {} tokens/s, the way through the network included.").format(
                loaded.place, formatting.decimal(answer.tokens_per_second)
            )
        )
    return [*said, *_of_answer(answer), no_tree(loaded)]


def _of_answer(answer: Answer) -> list[str]:
    told = answer.speculation
    if told is None:
        return [_tr("It says nothing about speculation.")]
    if not told.drafted:
        return [_tr("It drafted no tokens.")]
    said = [_accepted(told)]
    if told.steps:
        said.append(
            _tr("On average, {} drafted tokens were accepted in each of {} steps.").format(
                formatting.decimal(told.accepted / told.steps), formatting.number(told.steps)
            )
        )
        if told.per_position:
            said.append(_positions(told.per_position, told.steps))
    if answer.tokens_per_pass is not None:
        said.append(_tr("Tokens per pass: {}.").format(formatting.decimal(answer.tokens_per_pass)))
    if told.with_others:
        said.append(_tr("These are counts of the whole server, in which answers to others may be contained."))
    return said


def _accepted(told: Speculation) -> str:
    share = 100 * told.accepted / told.drafted
    return _tr("{} of {} drafted tokens were accepted ({} %).").format(
        formatting.number(told.accepted), formatting.number(told.drafted), round(share)
    )


def _positions(accepted: list[int], steps: int) -> str:
    shares = [
        _tr("{}: {} %").format(place, round(100 * count / steps))
        for place, count in enumerate(accepted[:MOST_POSITIONS], 1)
    ]
    return _tr("Accepted by position: {}").format(" · ".join(shares))
