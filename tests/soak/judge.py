"""What may grow with each question, and the judgement of a series of samples. No Qt, no processes."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

KIB, MIB = 1 << 10, 1 << 20
ROUND = 20  # questions in which a person does everything once, and so loads the model anew


@dataclass(frozen=True, slots=True)
class Sample:
    """Measurements after a question, when window and engine rest. nbytes: memory that belongs to the process
    alone. `engine_nbytes` is without the written rows of its KV caches, which the context bounds."""

    minute: float
    question: int
    window_nbytes: float
    engine_nbytes: float
    server_nbytes: float
    store_nbytes: float
    objects: float  # Python's, in the window
    qobjects: float
    timers: float
    window_handles: float
    engine_handles: float
    server_handles: float
    window_threads: float
    engine_threads: float
    server_threads: float


@dataclass(frozen=True, slots=True)
class ServerSample:
    """Measurements of a server that its clients have left, after so many of their questions. processes: all
    that the server has started, directly or not."""

    minute: float
    question: int
    server_nbytes: float
    engine_nbytes: float
    server_handles: float
    engine_handles: float
    server_threads: float
    engine_threads: float
    processes: float


Samples = Sequence[Sample] | Sequence[ServerSample]


@dataclass(frozen=True, slots=True)
class Limit:
    """How much a measurement may grow per question in the second half of a soak.

    `slack`: growth over the whole second half that is never judged, because it lies within the noise.
    """

    per_question: float
    slack: float
    unit: float = 1
    unit_name: str = ""


LIMITS = {
    # The open chat keeps its messages and their reports: about 8 KiB for each question.
    "window_nbytes": Limit(32 * KIB, 4 * MIB, MIB, "MiB"),
    "engine_nbytes": Limit(16 * KIB, 2 * MIB, MIB, "MiB"),
    "server_nbytes": Limit(8 * KIB, MIB, MIB, "MiB"),
    # Question and answer, report, full-text index; edits, branches and regenerated answers add versions.
    "store_nbytes": Limit(48 * KIB, MIB, KIB, "KiB"),
    # The messages of the open chat and their reports, some 20 objects for each question.
    "objects": Limit(40, 400),
    # The rows shown are as many at any time, but those of messages with several versions have more buttons.
    "qobjects": Limit(0.5, 30),
    "timers": Limit(0.05, 4),
    "window_handles": Limit(0.02, 2),
    "engine_handles": Limit(0.02, 2),
    "server_handles": Limit(0.02, 2),
    "window_threads": Limit(0.02, 2),
    "engine_threads": Limit(0.02, 2),
    "server_threads": Limit(0.02, 2),
}

SERVER_LIMITS = {
    "server_nbytes": Limit(2 * KIB, MIB / 2, MIB, "MiB"),
    "engine_nbytes": Limit(4 * KIB, MIB, MIB, "MiB"),
    "server_handles": Limit(0.004, 1),
    "engine_handles": Limit(0.004, 1),
    "server_threads": Limit(0.004, 1),
    "engine_threads": Limit(0.004, 1),
    "processes": Limit(0.004, 1),
}


def slope(samples: Samples, name: str) -> float:
    """Return the growth per question: the median of the slopes between all pairs of rounds (Theil-Sen), which
    a few outliers do not change. Of each round, the least value counts: what is held only until the model is
    loaded again, such as a grammar, is no growth."""
    rounds = groupby(samples, key=lambda sample: (sample.question - 1) // ROUND)
    lowest = [min(each, key=lambda sample: getattr(sample, name)) for _, each in rounds]
    points = [(sample.question, getattr(sample, name)) for sample in lowest]
    pairs = [(one, other) for one, other in combinations(points, 2) if one[0] != other[0]]
    return statistics.median((b[1] - a[1]) / (b[0] - a[0]) for a, b in pairs) if pairs else 0.0


def second_half(samples: Samples) -> Samples:
    """Return the samples after the warm-up."""
    return samples[len(samples) // 2 :]


def growing(samples: Samples, limits: Mapping[str, Limit] = LIMITS) -> list[str]:
    """Return the names of the measurements that grow without a bound."""
    half = second_half(samples)
    questions = half[-1].question - half[0].question
    found = []
    for name, limit in limits.items():
        by = slope(half, name)
        if by > limit.per_question and by * questions > limit.slack:
            found.append(name)
    return found


def table(samples: Samples, limits: Mapping[str, Limit] = LIMITS) -> Iterator[str]:
    """Yield the lines of a Markdown table: each measurement at the start, the quartiles and the end, and its
    growth per question in the second half."""
    last = len(samples) - 1
    shown = [samples[last * quarter // 4] for quarter in range(5)]
    too_much = growing(samples, limits)
    yield (
        "| | "
        + " | ".join(f"{each.minute:.0f} min, question {each.question}" for each in shown)
        + (" | per question, second half | limit |")
    )
    yield "|---" * (len(shown) + 3) + "|"
    for name, limit in limits.items():
        values = " | ".join(number(getattr(each, name) / limit.unit) for each in shown)
        by = slope(second_half(samples), name)
        small = KIB if limit.unit > 1 else 1
        title = " ".join(name.replace("nbytes", "memory").split("_")).replace("store memory", "store")
        unit = f", {limit.unit_name}" if limit.unit_name else ""
        per = f"{by / small:+.2f}{' KiB' if small > 1 else ''}"
        allowed = f"{limit.per_question / small:g}{' KiB' if small > 1 else ''}"
        verdict = " **grows**" if name in too_much else ""
        yield f"| {title}{unit} | {values} | {per}{verdict} | {allowed} |"


def number(value: float) -> str:
    return f"{value:,.1f}" if value % 1 else f"{value:,.0f}"
