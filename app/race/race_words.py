"""A race in words: the names of the answers, whether their texts are the same, which one was faster."""

from PySide6.QtCore import QCoreApplication

from app import formatting
from app.race.race_record import RaceLane, RaceRecording

NOTHING = "—"
AROUND = 24  # characters of each answer that show where they part


def _tr(text: str) -> str:
    return QCoreApplication.translate("race_words", text)


def lane_name(race: RaceRecording, lane: int) -> str:
    return name(race.is_of_one_model, lane, race.lanes[lane].target)


def name(is_of_one_model: bool, lane: int, target: str) -> str:
    if not is_of_one_model:
        return target
    return _tr("Plain decoding") if lane == 0 else _tr("SpecExec")


def lane_details(lane: RaceLane) -> str:
    """Return how an answer was made."""
    if lane.drafter == "none":
        how = _tr("one token per pass")
    elif lane.draft:
        how = _tr("drafter: {}, draft: {}").format(formatting.drafter(lane.drafter), lane.draft)
    else:
        how = _tr("drafter: {}").format(formatting.drafter(lane.drafter))
    return " · ".join([lane.target, how, lane.dtype, lane.device])


def optional(value: float | None) -> str:
    return NOTHING if value is None else formatting.decimal(value)


def factor(race: RaceRecording) -> str:
    """Return how many times as fast the faster answer was, as a heading."""
    speeds = [lane.tokens_per_second for lane in race.lanes]
    if speeds[0] is None or speeds[1] is None:
        return _tr("The answers are too short to compare their speed.")
    faster = int(speeds[1] >= speeds[0])
    times = formatting.decimal(max(speeds[0], speeds[1]) / min(speeds[0], speeds[1]))
    if race.is_of_one_model and faster:
        return _tr("SpecExec was {} times as fast").format(times)
    names = lane_name(race, faster), lane_name(race, 1 - faster)
    return _tr("{} was {} times as fast as {}").format(names[0], times, names[1])


def finishes(race: RaceRecording) -> str:
    """Return the times of both answers, as one sentence."""
    parts = [
        _tr("{}: {} tokens in {} s").format(
            lane_name(race, place), formatting.number(lane.tokens), formatting.decimal(lane.seconds)
        )
        for place, lane in enumerate(race.lanes)
    ]
    return " · ".join(parts)


def sameness(race: RaceRecording) -> str:
    """Say whether both answers have the same text, and where they part if not."""
    one, other = race.lanes
    if not race.is_of_one_model:
        return _tr("Two models, two texts.")
    if race.is_same:
        return _tr("Same text: yes, all {} tokens.").format(formatting.number(one.tokens))
    common = race.common_tokens
    if common == min(one.tokens, other.tokens):
        return _tr("Same text: yes, up to the {} tokens of the shorter answer.").format(
            formatting.number(common)
        )
    start = _common_length(one.text, other.text)
    here, there = (_beginning(text[start:]) for text in (one.text, other.text))
    return _tr("Same text: no. After {} tokens, “{}” stands against “{}”.").format(
        formatting.number(common), here, there
    )


def why_they_part(race: RaceRecording) -> str:
    """Explain why answers of one model can differ; "" if they do not."""
    if not race.is_of_one_model or race.common_tokens == min(lane.tokens for lane in race.lanes):
        return ""
    return _tr(
        "With 16-bit numbers, two tokens can be equally probable up to rounding, and a pass over a whole "
        "tree rounds differently from a pass over one token. Either choice is the model's own."
    )


def _beginning(text: str) -> str:
    line = " ".join(text[: 2 * AROUND].split())
    return line[:AROUND].rstrip() + ("…" if len(text) > AROUND else "")


def _common_length(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
