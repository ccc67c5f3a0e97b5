"""`specexec bench panel`: measures what telemetry costs, by comparing decoding with and without a panel that
paints it, and how long the panel takes to paint a large tree.

The panel is `app.startup.replay`, which runs in a process of its own, as the window does, and reads the
events in the format of a trace.
"""

import argparse
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

from engine import protocol
from engine.bench.options import add_repeats_option, say
from engine.errors import BadOption, Interrupted, MissingExtra
from engine.protocol import trace
from engine.serving.service import EngineService
from engine.terminal import (
    Commands,
    add_command,
    add_model_options,
    cancelled_by_ctrl_c,
    load_request,
    validated,
)

QUESTION = "Write a Python function that reverses a linked list, and explain it."
FRAME_S = 0.034  # the window's shortest interval between updates
FRAMES = 60


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "panel",
        run,
        "measure what the window's panel costs",
        "Answers one question with and without a panel that paints every iteration, in turns, and prints how "
        "much slower decoding is beside the panel. Then times frames of large random trees.",
    )
    add_model_options(parser)
    parser.add_argument(
        "--drafter", metavar="NAME", default="auto", help="drafter, as in specexec chat (default: auto)"
    )
    parser.add_argument(
        "--budget",
        type=int,
        metavar="N",
        default=1024,
        help="maximum number of nodes of a tree (default: %(default)s)",
    )
    parser.add_argument(
        "--tokens",
        type=int,
        metavar="N",
        default=48,
        help="maximum number of tokens per answer (default: %(default)s)",
    )
    add_repeats_option(parser, 4, "number of pairs of answers")
    parser.add_argument(
        "--nodes",
        type=int,
        metavar="N",
        default=2048,
        help="number of nodes of the random trees (default: %(default)s)",
    )


def run(parsed: argparse.Namespace) -> int:
    if min(parsed.tokens, parsed.repeats, parsed.nodes) < 1:
        raise BadOption(
            "--tokens, --repeats and --nodes must be at least 1.", "Omit them to use the defaults."
        )
    fields = {"drafter": parsed.drafter, "budget": parsed.budget, "seed": 0}
    options = validated(protocol.Options, fields)
    engine = EngineService()
    with cancelled_by_ctrl_c() as cancelled:
        loaded = engine.load(load_request(parsed), lambda event: None, cancelled)
        header = trace.header(loaded, options, "")
        try:
            cost = measure(engine, header, parsed.tokens, parsed.repeats, say, cancelled)
        finally:
            engine.unload()
        large = frames_of(header, parsed.nodes)
    print(as_json(cost, large, parsed.nodes) if parsed.json else "\n".join(lines(cost, large, parsed.nodes)))
    return 0


class FrameTimes(msgspec.Struct, frozen=True):
    """The times of the panel's frames.

    `frames`: the number of frames. `median_ms`, `worst_ms`: the median and the longest time, in milliseconds,
    to take in the events of a frame and paint the tree. `processor_s`: processor seconds of the whole
    process, including its start.
    """

    frames: int
    median_ms: float | None
    worst_ms: float | None
    processor_s: float


class IterationCost(msgspec.Struct, frozen=True):
    """The mean cost of an iteration in one answer: wall-clock seconds, and processor seconds of the
    engine."""

    s: float
    processor_s: float


class Cost(msgspec.Struct, frozen=True):
    """The costs of answers decoded in pairs: one without the panel, one with it.

    `nodes`: the mean number of nodes in a tree. `plain`: the answers without the panel, one from each pair.
    `watched`: those with it. `frames`: the panel's frames during the answers.
    """

    nodes: int
    plain: list[IterationCost]
    watched: list[IterationCost]
    frames: FrameTimes

    @property
    def slowdown(self) -> float:
        """The share of wall-clock time that the panel adds: the median over the pairs."""
        pairs = zip(self.plain, self.watched, strict=True)
        return median(watched.s / plain.s for plain, watched in pairs) - 1

    @property
    def processor(self) -> float:
        """The share of processor time that the panel adds to the engine: the median over the pairs. Other
        load on the machine disturbs it less than `slowdown`."""
        pairs = zip(self.plain, self.watched, strict=True)
        return median(watched.processor_s / plain.processor_s for plain, watched in pairs) - 1


class Painter:
    """A context manager that runs the panel in a process of its own, without a display.

    `frames`: the panel's frame times; None until the process has ended without an error.
    """

    def __init__(self, header: trace.TraceHeader) -> None:
        """Start the panel. Raises MissingExtra if it does not start."""
        self.frames: FrameTimes | None = None
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "app.startup.replay", "-", "--frames"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen")},
        )
        try:
            self._write(header)
        except OSError:
            raise _no_panel() from None
        self._outbox = protocol.Outbox(self._send)  # as in the engine: decoding never waits for the panel

    def add(self, event: protocol.Event) -> None:
        self._outbox.put(event)

    def __enter__(self) -> "Painter":
        return self

    def __exit__(self, *error: object) -> None:
        self._outbox.close()
        output, _ = self._process.communicate()
        if self._process.returncode == 0:
            self.frames = msgspec.json.decode(output, type=FrameTimes)

    def _send(self, event: protocol.Event) -> None:
        self._write(trace.TimedEvent(time.perf_counter() - self._started, event))

    def _write(self, line: msgspec.Struct) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(line) + b"\n")
        self._process.stdin.flush()


def measure(
    engine: EngineService,
    header: trace.TraceHeader,
    tokens: int,
    repeats: int,
    say: Callable[[str], None],
    cancelled: Callable[[], bool],
) -> Cost:
    """Measure the same answer with and without the panel, in turns, `repeats` times each.

    Raises Interrupted if `cancelled` returns true; MissingExtra if the panel does not run; and the errors
    from answering.
    """
    plain: list[IterationCost] = []
    watched: list[IterationCost] = []
    nodes: list[int] = []

    def one(emit: Callable[[protocol.Event], None], telemetry: bool) -> IterationCost:
        assert engine.session is not None
        engine.session.forget()
        options = msgspec.structs.replace(header.options, telemetry=telemetry, max_new_tokens=tokens)
        chat = protocol.Chat(id=0, messages=[protocol.Message("user", QUESTION)], options=options)
        before = time.process_time()
        answer = engine.answer(chat, emit, cancelled)
        processor_s = time.process_time() - before
        if answer.stop_reason == "cancelled":
            raise Interrupted("The benchmark was interrupted.", "Run the same command again to restart it.")
        spent = answer.seconds
        whole = spent.draft + spent.target + spent.stream_wait + spent.other
        passes = max(1, answer.target_passes)
        return IterationCost(whole / passes, processor_s / passes)

    with Painter(header) as painter:

        def show(event: protocol.Event) -> None:
            painter.add(event)
            if isinstance(event, protocol.IterationDone):
                nodes.append(len(event.tree.tokens))

        one(lambda event: None, telemetry=False)  # warms up
        for repeat in range(repeats):
            say(f"answer {repeat + 1} of {repeats}")
            # The order alternates, because a machine's speed changes from minute to minute.
            for telemetry in (repeat % 2 == 0, repeat % 2 == 1):
                answers = watched if telemetry else plain
                answers.append(one(show if telemetry else lambda event: None, telemetry))
    if painter.frames is None:
        raise _no_panel()
    return Cost(round(sum(nodes) / max(1, len(nodes))), plain, watched, painter.frames)


def frames_of(header: trace.TraceHeader, nodes: int) -> FrameTimes:
    """Measure how long the panel takes to paint random trees of `nodes` nodes. Raises MissingExtra if the
    panel does not run."""
    with Painter(header) as painter:
        for iteration in range(1, FRAMES + 1):
            tree = random_tree(nodes, seed=iteration)
            painter.add(protocol.TreeGrown(request=0, iteration=iteration, tree=tree))
            time.sleep(FRAME_S)
    if painter.frames is None:
        raise _no_panel()
    return painter.frames


def random_tree(nodes: int, seed: int) -> protocol.TreeNodes:
    """Return a tree grown the way drafters grow them: the more probable a node, the more children it has, and
    each child is less probable than its parent."""
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


def _no_panel() -> MissingExtra:
    return MissingExtra("The panel cannot be started.", "Install the libraries that the window needs.")


def lines(cost: Cost, large: FrameTimes, nodes: int) -> list[str]:
    """Return the results as lines of text. large: the frame times of random trees of `nodes` nodes."""
    plain, watched = (median(each.s for each in answers) for answers in (cost.plain, cost.watched))
    return [
        f"one iteration, {cost.nodes} nodes: {plain:.3f} s, with the panel {watched:.3f} s: "
        f"{cost.slowdown:+.1%} (median of {len(cost.plain)} pairs, {_spread(cost)})",
        f"processor time of the engine: {cost.processor:+.1%}",
        f"frames during the answers: {_ms(cost.frames)}",
        f"frames of {nodes} nodes: {_ms(large)}",
    ]


def as_json(cost: Cost, large: FrameTimes, nodes: int) -> str:
    """Return the results as one JSON object."""
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


def _ms(frames: FrameTimes) -> str:
    if frames.median_ms is None or frames.worst_ms is None:
        return "none"
    return f"{frames.frames}, median {frames.median_ms:.1f} ms, slowest {frames.worst_ms:.1f} ms"
