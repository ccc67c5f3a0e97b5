"""What watching costs: decoding with a panel that paints beside it, against decoding that nobody watches; and
how long a frame of a large tree takes.

The panel is `app.thinking.replay` in a process of its own, as in the window; it reads events as a trace.
"""

import json
import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

import msgspec

from engine import protocol, trace
from engine.errors import Interrupted, MissingExtra
from engine.service import Engine

QUESTION = "Write a Python function that reverses a linked list, and explain it."
FRAME_S = 0.034  # the window is brought up to date no more often
FRAMES = 60


class Frames(msgspec.Struct, frozen=True):
    """Of the panel: how many, milliseconds of each, events taken in and tree painted; seconds of a processor
    that the process took in all, its start included."""

    frames: int
    median_ms: float | None
    worst_ms: float | None
    processor_s: float


class Iteration(msgspec.Struct, frozen=True):
    """Means of one answer: seconds of an iteration on the clock, and of processors in the engine."""

    s: float
    processor_s: float


class Cost(msgspec.Struct, frozen=True):
    """Of each pair of answers: nobody watching, somebody watching."""

    nodes: int  # of a tree, on average
    plain: list[Iteration]
    watched: list[Iteration]
    frames: Frames

    @property
    def slowdown(self) -> float:
        """Share of time that watching takes on the clock: the median of the pairs."""
        pairs = zip(self.plain, self.watched, strict=True)
        return median(watched.s / plain.s for plain, watched in pairs) - 1

    @property
    def processor(self) -> float:
        """Share of the engine's processor time that watching takes: what a machine that is busy with other
        things can say."""
        pairs = zip(self.plain, self.watched, strict=True)
        return median(watched.processor_s / plain.processor_s for plain, watched in pairs) - 1


class Painter:
    """A panel in a process of its own, without a display. Used as a context; `frames` after it has ended."""

    def __init__(self, header: trace.Header) -> None:
        """Raises MissingExtra where it does not start."""
        self.frames: Frames | None = None
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "app.thinking.replay", "-", "--frames"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen")},
        )
        try:
            self._write(header)
        except OSError:
            raise MissingExtra("The panel cannot be shown here.", "Install the window's libraries.") from None
        self._outbox = protocol.Outbox(self._send)  # as in the engine process: decoding waits for nobody

    def add(self, event: protocol.Event) -> None:
        self._outbox.put(event)

    def __enter__(self) -> "Painter":
        return self

    def __exit__(self, *error: object) -> None:
        self._outbox.close()
        said, _ = self._process.communicate()
        if self._process.returncode == 0:
            self.frames = msgspec.json.decode(said, type=Frames)

    def _send(self, event: protocol.Event) -> None:
        self._write(trace.Timed(time.perf_counter() - self._started, event))

    def _write(self, line: msgspec.Struct) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(line) + b"\n")
        self._process.stdin.flush()


def measure(
    engine: Engine,
    header: trace.Header,
    tokens: int,
    repeats: int,
    say: Callable[[str], None],
    cancelled: Callable[[], bool],
) -> Cost:
    """The same answer over and over, watched and not in turns. Raises Interrupted, MissingExtra, and what
    answering raises."""
    plain: list[Iteration] = []
    watched: list[Iteration] = []
    nodes: list[int] = []

    def one(emit: Callable[[protocol.Event], None], watch: bool) -> Iteration:
        assert engine.session is not None
        engine.session.forget()
        options = msgspec.structs.replace(header.options, watch=watch, max_new_tokens=tokens)
        chat = protocol.Chat(id=0, messages=[protocol.Message("user", QUESTION)], options=options)
        before = time.process_time()
        answer = engine.answer(chat, emit, cancelled)
        processor_s = time.process_time() - before
        if answer.stop_reason == "cancelled":
            raise Interrupted("The bench was ended.", "Start it again.")
        spent = answer.seconds
        whole = spent.draft + spent.target + spent.stream_wait + spent.other
        passes = max(1, answer.target_passes)
        return Iteration(whole / passes, processor_s / passes)

    with Painter(header) as painter:

        def show(event: protocol.Event) -> None:
            painter.add(event)
            if isinstance(event, protocol.IterationDone):
                nodes.append(len(event.tree.tokens))

        one(lambda event: None, watch=False)  # warms up
        for repeat in range(repeats):
            say(f"answer {repeat + 1} of {repeats}")
            # In turns also who comes first: a machine's speed changes from minute to minute.
            for watch in (repeat % 2 == 0, repeat % 2 == 1):
                answers = watched if watch else plain
                answers.append(one(show if watch else lambda event: None, watch))
    if painter.frames is None:
        raise MissingExtra("The panel cannot be shown here.", "Install the window's libraries.")
    return Cost(round(sum(nodes) / max(1, len(nodes))), plain, watched, painter.frames)


def frames_of(header: trace.Header, nodes: int) -> Frames:
    """Frames of random trees of so many nodes. Raises MissingExtra."""
    with Painter(header) as painter:
        for iteration in range(1, FRAMES + 1):
            tree = random_tree(nodes, seed=iteration)
            painter.add(protocol.TreeGrown(request=0, iteration=iteration, tree=tree))
            time.sleep(FRAME_S)
    if painter.frames is None:
        raise MissingExtra("The panel cannot be shown here.", "Install the window's libraries.")
    return painter.frames


def random_tree(nodes: int, seed: int) -> protocol.TreeNodes:
    """Grown as trees are: a likely node has more children, and a child is less likely."""
    numbers = random.Random(seed)
    parents: list[int] = []
    log_probs: list[float] = []
    weights = [1.0]
    for _ in range(nodes):
        (parent,) = numbers.choices(range(-1, len(parents)), weights)
        share = numbers.uniform(0.05, 0.95)
        parents.append(parent)
        log_probs.append(math.log(share))
        weights.append(weights[parent + 1] * share)
    return protocol.TreeNodes(
        root_text=" the",
        tokens=list(range(nodes)),
        parents=parents,
        log_probs=log_probs,
        sources=[numbers.choice([1, 1, 1, 2, 4, 5]) for _ in range(nodes)],
        texts=[numbers.choice([" and", " the", "\n", " reverse", "()", " linked"]) for _ in range(nodes)],
    )


def lines(cost: Cost, large: Frames, nodes: int) -> list[str]:
    """The figures as text."""
    plain, watched = (median(each.s for each in answers) for answers in (cost.plain, cost.watched))
    return [
        f"one iteration, {cost.nodes} nodes: {plain:.3f} s, watched {watched:.3f} s: {cost.slowdown:+.1%} "
        f"(median of {len(cost.plain)} pairs, {_spread(cost)})",
        f"the engine's processor time: {cost.processor:+.1%}",
        f"frames meanwhile: {_ms(cost.frames)}",
        f"frames of {nodes} nodes: {_ms(large)}",
    ]


def as_json(cost: Cost, large: Frames, nodes: int) -> str:
    more = {
        "slowdown": cost.slowdown,
        "processor": cost.processor,
        "large": {"nodes": nodes, **msgspec.to_builtins(large)},
    }
    return json.dumps({**msgspec.to_builtins(cost), **more})


def _spread(cost: Cost) -> str:
    pairs = zip(cost.plain, cost.watched, strict=True)
    ratios = [watched.s / plain.s - 1 for plain, watched in pairs]
    return f"{min(ratios):+.1%} to {max(ratios):+.1%}"


def _ms(frames: Frames) -> str:
    if frames.median_ms is None or frames.worst_ms is None:
        return "none"
    return f"{frames.frames}, median {frames.median_ms:.1f} ms, slowest {frames.worst_ms:.1f} ms"
