"""`specexec trace`: print a recorded run, or replay it in a window."""

import argparse
import json
import math
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from engine.errors import BadOption
from engine.protocol import IterationDone, Link, TreeNodes, trace
from engine.terminal import Commands, add_command, say

MOST_NODES = 60  # nodes printed per tree; more would not fit a terminal


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "trace",
        run,
        "print or replay a recorded run",
        "Prints one line per iteration of a run recorded with specexec chat --trace or in the window.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="recorded run")
    parser.add_argument(
        "--iteration",
        type=int,
        metavar="N",
        help="print the token tree of iteration N, counted from 1 (default: one line per iteration)",
    )
    parser.add_argument("--replay", action="store_true", help="replay the run in a window")
    parser.add_argument(
        "--speed",
        type=float,
        metavar="X",
        default=1.0,
        help="speed of the replay, from 0.01 to 100; 1: as recorded (default: 1)",
    )


def run(parsed: argparse.Namespace) -> int:
    recorded = trace.read(parsed.file)
    if parsed.replay:
        if not 0.01 <= parsed.speed <= 100:
            raise BadOption(
                "--speed is out of range: expected 0.01 to 100.", "Omit it to replay as recorded."
            )
        sys.argv = ["specexec trace", str(parsed.file), "--speed", str(parsed.speed)]
        runpy.run_module("app.startup.replay", run_name="__main__")
        return 0
    if parsed.iteration is not None:
        chosen = next((each for each in recorded.iterations if each.iteration == parsed.iteration), None)
        if chosen is None:
            raise BadOption(
                f"The run has no iteration {parsed.iteration}.",
                f"It has {len(recorded.iterations)} iterations.",
            )
        say(*([json.dumps(msgspec.to_builtins(chosen))] if parsed.json else tree_lines(chosen)))
        return 0
    say(*([json.dumps(summary(recorded))] if parsed.json else lines(recorded)))
    return 0


def lines(recorded: trace.Trace) -> Iterator[str]:
    """Yield the run as text: models and settings, then one line per iteration."""
    head = recorded.header
    models = [head.loaded.target.name, *([head.loaded.draft.name] if head.loaded.draft else [])]
    yield f"{' + '.join(models)}, {head.loaded.dtype} on {head.loaded.device}, version {head.version}"
    yield f"seed {head.options.seed}, temperature {head.options.temperature:g}"
    yield f"question: {head.question}"
    for done in recorded.iterations:
        yield iteration_line(done, head.loaded.link)


def iteration_line(done: IterationDone, link: Link | None) -> str:
    spent = done.seconds
    whole = spent.draft + spent.target + spent.stream_wait + spent.other
    text = "".join(done.committed.pieces) if done.committed else ""
    waited = f", waited {spent.stream_wait:.2f} s for the {link.kind}" if link else ""
    quoted = f": {json.dumps(text, ensure_ascii=False)}" if text else ""
    nodes = len(done.tree.tokens)
    return (
        f"iteration {done.iteration}: {len(done.accepted)} of {nodes} accepted, {whole:.2f} s{waited}{quoted}"
    )


def summary(recorded: trace.Trace) -> dict[str, object]:
    """Return the object that --json prints: the header, and the iterations without their trees."""
    return {
        "header": msgspec.to_builtins(recorded.header),
        "iterations": [
            {
                "iteration": done.iteration,
                "nodes": len(done.tree.tokens),
                "accepted": len(done.accepted),
                "text": "".join(done.committed.pieces) if done.committed else None,
                "seconds": msgspec.to_builtins(done.seconds),
                "bytes_streamed": done.bytes_streamed,
                "experts": msgspec.to_builtins(done.experts),
            }
            for done in recorded.iterations
        ],
    }


def tree_lines(done: IterationDone) -> Iterator[str]:
    """Yield the tree of one iteration as text: its MOST_NODES most probable nodes and the accepted path,
    indented by depth."""
    tree = done.tree
    target = dict(zip(done.judged.nodes, done.judged.log_probs, strict=True)) if done.judged else {}
    best = sorted(range(len(tree.tokens)), key=cumulative(tree).__getitem__, reverse=True)
    shown = {*best[:MOST_NODES], *done.accepted}
    if len(shown) < len(tree.tokens):
        yield f"showing {len(shown)} of {len(tree.tokens)} nodes, the most probable and the accepted path"
    yield f"  {tree.root_text!r}"
    waiting = [(node, 1) for node in children(tree, -1, shown)]
    while waiting:
        node, depth = waiting.pop()
        mark = "✓" if node in done.accepted else " "
        judged = f", target {math.exp(target[node]):.0%}" if node in target else ""
        drafted = math.exp(min(0.0, tree.log_probs[node]))
        yield f"{mark} {'  ' * depth}{tree.texts[node]!r}  draft {drafted:.0%}{judged}"
        waiting += [(child, depth + 1) for child in children(tree, node, shown)]
    if done.bonus_token is not None:
        yield f"bonus token {done.bonus_text!r}"


def children(tree: TreeNodes, parent: int, shown: set[int]) -> list[int]:
    """Return the shown children of `parent`, the least probable first. The caller takes them from the end of
    the list, so it prints the most probable child first."""
    nodes = [node for node in shown if tree.parents[node] == parent]
    return sorted(nodes, key=lambda node: (tree.log_probs[node], -node))


def cumulative(tree: TreeNodes) -> list[float]:
    """Return, for each node, the log-probability of the path from the root to it."""
    sums: list[float] = []
    for parent, log_prob in zip(tree.parents, tree.log_probs, strict=True):
        sums.append((sums[parent] if parent >= 0 else 0.0) + min(0.0, log_prob))
    return sums
