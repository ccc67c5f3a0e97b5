"""Records an answer as one lane of a race. No Qt.

The times are the engine's own, so they do not depend on when the window gets the events. If the window is
late, it gets the text of several passes at once, or misses an iteration. What lies between two known points
is then spread evenly, and text by the lengths of the tokens' own texts.
"""

from bisect import bisect_left
from collections.abc import Callable

from app.race.race_record import RaceLane, RacePass
from engine.protocol.messages import Answer, IterationDone, Loaded, TextDelta

USUAL_LENGTH = 4  # characters of a token whose text is not known

Point = tuple[int, float]  # a number of tokens or passes, and what there was then


class LaneRecorder:
    """Takes the texts and the iterations of an answer, then the answer."""

    def __init__(self) -> None:
        self._lengths: list[Point] = []  # of the text after a number of tokens
        self._seconds: list[Point] = []  # from the first token, after a number of passes
        self._tokens: list[Point] = []  # after a number of passes
        self._weights: list[float] = [0.0]  # lengths of the tokens' own texts, summed up; one per token

    def add(self, event: TextDelta | IterationDone) -> None:
        if isinstance(event, TextDelta):
            before = self._lengths[-1][1] if self._lengths else 0
            if not self._lengths or event.tokens > self._lengths[-1][0]:
                self._lengths.append((event.tokens, before + len(event.text)))
            return
        if event.iteration == 1:  # also if the engine starts over because memory ran out
            self._seconds, self._tokens = [], []
            self._weights = [0.0, len(event.tree.root_text)]
        is_newer = not self._tokens or event.target_passes > self._tokens[-1][0]
        if is_newer and event.tokens_per_second > 0:
            self._seconds.append((event.target_passes, (event.tokens - 1) / event.tokens_per_second))
            self._tokens.append((event.target_passes, event.tokens))
            self._weigh(event)

    def finish(self, answer: Answer, loaded: Loaded) -> RaceLane:
        """Return the lane."""
        seconds = (answer.tokens - 1) / answer.tokens_per_second if answer.tokens_per_second else 0.0
        all_seconds = _whole([(0, 0.0), *self._seconds], (answer.target_passes, seconds))
        all_tokens = _whole([(0, 1), *self._tokens], (answer.target_passes, answer.tokens))
        all_lengths = _whole([(0, 0), *self._lengths], (answer.tokens, len(answer.text)))
        passes: list[RacePass] = []
        start, t = 0, 0.0
        for number in range(answer.target_passes + 1):
            tokens = round(_between(all_tokens, number))
            end = round(_between(all_lengths, tokens, self._weight))
            t = max(t, _between(all_seconds, number))
            if not passes or tokens > passes[-1].tokens:
                passes.append(RacePass(t, tokens, answer.text[start:end]))
                start = max(start, end)
        return RaceLane(
            target=loaded.target.name,
            draft=loaded.draft.name if loaded.draft else None,
            drafter=answer.drafter,
            dtype=loaded.dtype,
            device=loaded.device,
            passes=passes,
            token_ids=answer.token_ids,
            target_passes=answer.target_passes,
        )

    def _weigh(self, done: IterationDone) -> None:
        texts = [done.tree.texts[node] for node in done.accepted]
        if done.bonus_token is not None:
            texts.append(done.bonus_text)
        missed = done.tokens + 1 - len(self._weights) - len(texts)
        for length in [*[USUAL_LENGTH] * missed, *map(len, texts)]:
            self._weights.append(self._weights[-1] + length)

    def _weight(self, tokens: int) -> float:
        known = min(tokens, len(self._weights) - 1)
        return self._weights[known] + USUAL_LENGTH * (tokens - known)


def _whole(points: list[Point], last: Point) -> list[Point]:
    """Return the points before the last one, and the last one."""
    return [*(point for point in points if point[0] < last[0]), last]


def _between(points: list[Point], at: int, weight: Callable[[int], float] = float) -> float:
    """Return the value at a place, spread by `weight` between the two points around it."""
    after = min(len(points) - 1, bisect_left(points, at, key=lambda point: point[0]))
    place, value = points[after]
    if place <= at or not after:
        return value
    before, start = points[after - 1]
    whole = weight(place) - weight(before)
    return start + (value - start) * (weight(at) - weight(before)) / whole if whole > 0 else value
