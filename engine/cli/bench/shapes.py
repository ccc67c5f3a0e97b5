"""`specexec bench shapes`."""

import argparse
import json
import sys
from collections.abc import Collection
from dataclasses import asdict, replace
from typing import Any

from engine.cli.common import Commands
from engine.errors import BadOption


def add(kinds: Commands) -> None:
    shapes = kinds.add_parser(
        "shapes", help="models of given shapes, with random weights, against their bounds", allow_abbrev=False
    )
    shapes.set_defaults(run=run)
    shapes.add_argument(
        "--shape", metavar="70b|tiny", default="70b", help="of the target; a draft goes with it"
    )
    shapes.add_argument("--layers", type=int, metavar="N", help="of the target")
    shapes.add_argument("--plain-layers", type=int, metavar="N", help="where they are stored in 16 bits")
    shapes.add_argument("--limits", metavar="GiB,…", help="what the target's weights may take on the device")
    shapes.add_argument("--rows", metavar="N,…", default="1,64,256,1024", help="of a pass")
    shapes.add_argument(
        "--parts", metavar="NAME,…", help="of passes,plain,round,iteration,same; default: all"
    )
    shapes.add_argument("--repeats", type=int, metavar="N", default=5)
    shapes.add_argument("--device", choices=["auto", "cuda", "cpu"], default="auto")
    shapes.add_argument("--dtype", choices=["auto", "float32", "bfloat16", "float16"], default="auto")
    shapes.add_argument("--json", action="store_true", help="print one JSON object")


def run(parsed: argparse.Namespace) -> int:
    from engine.bench.made_up import PRESETS
    from engine.bench.shapes import PARTS, Plan, measure, table
    from engine.loading import choose_device, choose_dtype

    parts = _chosen(parsed.parts or ",".join(PARTS), PARTS, "part")
    preset = PRESETS[_chosen(parsed.shape, PRESETS, "shape")[0]]
    rows = tuple(int(number) for number in _numbers("rows", parsed.rows))
    changes: dict[str, Any] = {}
    if parsed.limits:
        changes["limits_gib"] = _numbers("limits", parsed.limits)
    if parsed.plain_layers is not None:
        changes["plain_layers"] = parsed.plain_layers
    if parsed.layers is not None:
        changes["target"] = replace(preset.target, layers=parsed.layers)
    preset = replace(preset, **changes)
    if min(parsed.repeats, preset.target.layers, preset.plain_layers, *rows, *preset.limits_gib) <= 0:
        raise BadOption("Every number has to be above 0.", "Leave them out for the usual ones.")
    device = choose_device(parsed.device)
    plan = Plan(preset, parts, rows, parsed.repeats, device, choose_dtype(parsed.dtype, device))
    report = measure(plan, lambda what: print(what, file=sys.stderr))
    if parsed.json:
        print(json.dumps(asdict(report)))
    else:
        print("\n".join(table(report)))
    return 0


def _chosen(text: str, known: Collection[str], what: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := set(names) - set(known):
        raise BadOption(f"There is no {what} {min(unknown)}.", f"There are: {', '.join(known)}.")
    return names


def _numbers(option: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise BadOption(f"--{option} is no list of numbers.", "Give 1,64,256, for example.") from None
