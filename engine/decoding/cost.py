"""What an iteration costs, by its size: a prediction, corrected by what was measured."""

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

LAST = 8  # measurements remembered for each size
FADE_SECONDS = 0.8  # factor by which the weight of a measured time falls with each one after it
NEAR = 0.25  # weight of a time that was measured at half or twice the size in question
CHANGE = 2.0  # a time longer or shorter by this factor is an outlier,
AGREEING, AMONG = 2, 3  # or, if so many of the last so many times agree, the machine's speed has changed
HOPE = 0.4  # an untried smaller size is assumed to be faster: seconds ~ size ** HOPE
# Until passes have shown how their times differ with their misses, so much of a time is laid to these. That
# weighs as much as this share of a pass.
LAID_TO_MISSES = 0.5
UNTAUGHT = 0.03
MOST_LAID = 0.9  # the largest share of any measured time that is laid to misses
# Misses grow as rows ** GROWTH until passes tell: so do the experts that rows use if they share 60 % of their
# choices, as consecutive tokens do. That weighs as much as TAUGHT steps from a size to its double, and that a
# cache is not filling as much as STEADY passes. A step weighs less by FADE_STEPS with each pass after it.
GROWTH = 0.6
TAUGHT = 2.0
STEADY = 0.5
FADE_STEPS = 0.95
FADE_MISSES = 0.85  # factor by which the weight of a pass's misses falls with each pass

Seconds = Callable[[int], float]


def unknown(size: int) -> float:
    """A prediction of seconds where none is known: all sizes take equally long."""
    return 1.0


@dataclass(frozen=True, slots=True)
class WorkDone:
    """Counts of what the models have done so far.

    misses: experts that were not in the cache when a pass of the target chose them, on their way or not;
    firsts: things that were done once and for all, such as compiling a kernel (`engine.firsts`).
    """

    misses: int = 0
    firsts: int = 0

    def __sub__(self, before: "WorkDone") -> "WorkDone":
        """Return what was done since `before`."""
        return WorkDone(self.misses - before.misses, self.firsts - before.firsts)


class Misses:
    """The experts that a pass over so many rows finds missing: level * rows ** growth.

    The level is that of the last passes, whatever their sizes: it falls while a cache fills. The growth is
    below 1 because rows share experts. It follows from what changes from a pass to the next one: the
    logarithm of the misses, by growth times that of the rows, and by a drift while the cache fills.
    """

    def __init__(self) -> None:
        self._past: deque[tuple[int, int]] = deque(maxlen=2 * LAST)  # (rows, misses)
        # Sums over changes (x, y) of the logarithms of rows and of misses: of 1, x, x * x, y, x * y.
        self._sums = np.zeros(5)

    def add(self, rows: int, misses: int) -> None:
        """Note the misses of a pass."""
        if self._past:
            other, before = self._past[-1]
            x, y = math.log2(rows / other), math.log2((misses + 1) / (before + 1))
            self._sums = FADE_STEPS * self._sums + np.array([1, x, x * x, y, x * y])
        self._past.append((rows, misses))

    @property
    def growth(self) -> float:
        count, x, xx, y, xy = map(float, self._sums + np.array([STEADY, 0, TAUGHT, 0, TAUGHT * GROWTH]))
        return min(1.0, max(0.0, (count * xy - x * y) / (count * xx - x * x)))

    def at(self, rows: int) -> float:
        """Return the expected misses of a pass."""
        weighed = [(FADE_MISSES**age, *past) for age, past in enumerate(reversed(self._past))]
        missed = sum(weight * misses for weight, _, misses in weighed)
        if not missed:
            return 0.0
        growth = self.growth
        return missed / sum(weight * math.pow(other / rows, growth) for weight, other, _ in weighed)


@dataclass(frozen=True, slots=True)
class _TimedPass:
    number: int  # in the order of time
    size: int
    seconds: float
    misses: int


class CostCurve:
    """An estimate of seconds as a function of size, from a prediction and noisy, drifting measurements:
    computing(size) + misses(size) * price.

    Computing is the prediction times a factor, a line fitted to how nearby measurements compare with it. The
    price is the seconds of a miss. Where nothing is ever missing, computing is all.
    """

    def __init__(self, predicted: Seconds = unknown) -> None:
        """predicted: size -> seconds without misses; only the ratios of its values matter."""
        self._predicted = predicted
        self._misses = Misses()
        self._price = 0.0
        self._count = 0
        self._changed = False
        # The last measurements, by size, so that those of one size never displace those of another.
        self._measured: dict[int, deque[_TimedPass]] = {}
        # Those of any size, with 1 or -1 if they were longer or shorter than others of their size by CHANGE.
        self._recent: deque[tuple[int, _TimedPass]] = deque(maxlen=AMONG)

    def miss(self, size: int, misses: int) -> None:
        """Note how many experts were missing, whether the time is added or not."""
        self._misses.add(size, misses)

    def add(self, size: int, seconds: float, misses: int = 0) -> bool:
        """Note a measurement; return whether it shows that the machine's speed has changed. An outlier is
        forgotten unless another one follows soon: then the measurements before them are."""
        self._count += 1
        measured = _TimedPass(self._count, size, seconds, misses)
        deviation = self._deviation(measured)
        self._recent.append((deviation, measured))
        agreeing = [measured]
        if deviation:
            agreeing = [other for direction, other in self._recent if direction == deviation]
            if len(agreeing) < AGREEING:
                return False
            self._measured.clear()
            self._recent.clear()
            self._changed = True
        for each in agreeing:
            self._measured.setdefault(each.size, deque(maxlen=LAST)).append(each)
        if len(self._measured) > 1:  # times at two sizes tell again how they compare with the prediction
            self._changed = False
        self._price = self._fitted_price()
        return bool(deviation)

    def knows(self, size: int) -> bool:
        """Return whether this size was measured."""
        return size in self._measured

    def __bool__(self) -> bool:
        """Return whether anything was measured."""
        return bool(self._measured)

    @property
    def is_predicted(self) -> bool:
        """Whether the machine's speed is known to be in proportion to the prediction; after a change, it is
        once two sizes were measured."""
        return not self._changed

    def at(self, size: int) -> float:
        """Return the estimated seconds at `size`; the predicted ones before anything is measured.

        Untried sizes get optimistic estimates, so that they are tried: while only one size is measured, the
        prediction is taken to be right in proportion; after a change of the machine's speed, a size smaller
        than the measured one is taken to be faster, and for a larger one the prediction is trusted.
        """
        if not self._measured:
            return self._predicted(size)
        return self._computing(size) + self._price * self._misses.at(size)

    def _computing(self, size: int) -> float:
        least, most = min(self._measured), max(self._measured)
        predicted = self._predicted(size)
        if size > most and self._changed:
            return self._computing(most) * predicted / self._predicted(most)
        if size < least and self._changed:
            faster = min(float((size / least) ** HOPE), predicted / self._predicted(least))
            return self._computing(least) * faster
        near: dict[int, float] = {other: NEAR ** abs(math.log2(other / size)) for other in self._measured}
        points = [  # plain numbers: for so few, numpy's overhead would dominate
            (
                each.size,
                self._beside_misses(each) / self._predicted(each.size),
                near[each.size] * FADE_SECONDS ** (self._count - each.number),
            )
            for each in self._all()
        ]
        total = sum(weight for _, _, weight in points)
        size_0 = sum(weight * other for other, _, weight in points) / total
        ratio_0 = sum(weight * ratio for _, ratio, weight in points) / total
        spread = sum(weight * (other - size_0) ** 2 for other, _, weight in points)
        common = sum(weight * (other - size_0) * (ratio - ratio_0) for other, ratio, weight in points)
        slope = max(0.0, common / spread) if spread > 0 else 0.0
        return predicted * max(ratio_0 + slope * (size - size_0), min(ratio for _, ratio, _ in points) / 2)

    def _all(self) -> Iterable[_TimedPass]:
        return (each for of_size in self._measured.values() for each in of_size)

    def _beside_misses(self, measured: _TimedPass) -> float:
        return measured.seconds - self._price * measured.misses

    def _deviation(self, measured: _TimedPass) -> int:
        """Return 1 or -1 if a time is longer or shorter, by CHANGE, than others of its size would have been
        with as many misses; else 0."""
        earlier = [self._beside_misses(past) for past in self._measured.get(measured.size, ())]
        if not earlier:
            return 0
        ratio = measured.seconds / (float(np.median(earlier)) + self._price * measured.misses)
        return (ratio >= CHANGE) - (ratio <= 1 / CHANGE)

    def _fitted_price(self) -> float:
        """Return the seconds of a miss: the price in the best fit of `seconds = factor * predicted + price *
        misses`. Of each time, errors count in proportion to it."""
        points = [
            (self._predicted(each.size) / each.seconds, each.misses / each.seconds) for each in self._all()
        ]
        mean_x, mean_y = sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)
        if not mean_y:
            return 0.0
        # The share of a time that is laid to computing, and to misses, if all were as on average.
        shares = [(x / mean_x, y / mean_y) for x, y in points]
        squares_x = UNTAUGHT + sum(x * x for x, _ in shares)
        squares_y = UNTAUGHT + sum(y * y for _, y in shares)
        products = sum(x * y for x, y in shares)
        to_x = UNTAUGHT * (1 - LAID_TO_MISSES) + sum(x for x, _ in shares)
        to_y = UNTAUGHT * LAID_TO_MISSES + sum(y for _, y in shares)
        share = (squares_x * to_y - products * to_x) / (squares_x * squares_y - products**2)
        most = MOST_LAID * min(1 / y for _, y in points if y)
        return min(most, max(0.0, share / mean_y))
