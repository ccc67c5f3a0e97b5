"""`specexec train-draft`: a draft model or heads for a target, made on this machine without a data set."""

import argparse
import json
import os
import shlex
import sys
from pathlib import Path

from engine import catalog
from engine.cli.common import Commands, cancelled_by_ctrl_c
from engine.errors import BadOption
from engine.service import GOMP_SPINCOUNT


def add(commands: Commands) -> None:
    train = commands.add_parser(
        "train-draft", help="make a draft for a target, on this machine", allow_abbrev=False
    )
    train.set_defaults(run=run)
    train.add_argument("--target", metavar="ID|PATH", help="default: the embedded model")
    train.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where the draft is written")
    train.add_argument("--resume", action="store_true", help="go on with what was begun in FOLDER")
    kind = train.add_mutually_exclusive_group()
    kind.add_argument("--heads", choices=["eagle", "medusa"], help="heads that read the target's states")
    kind.add_argument("--layers", type=int, metavar="N", help="a draft of N of the target's layers")
    train.add_argument(
        "--vocabulary", type=int, default=8192, metavar="N", help="tokens that are told apart when learning"
    )
    train.add_argument(
        "--tokens", type=int, default=1_000_000, metavar="N", help="that the target makes up to learn from"
    )
    train.add_argument("--length", type=int, default=384, metavar="N", help="most tokens of one text")
    train.add_argument("--steps", type=int, metavar="N", help="of learning; the default is --minutes 40")
    train.add_argument("--minutes", type=float, metavar="M", help="of learning, sampling not counted")
    train.add_argument("--learning-rate", type=float, default=1e-3, metavar="R")
    train.add_argument("--batch-tokens", type=int, default=4096, metavar="N", help="of one batch")
    train.add_argument("--accumulate", type=int, default=1, metavar="N", help="batches of one step")
    train.add_argument("--save-minutes", type=float, default=5.0, metavar="M", help="between checkpoints")
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--dtype", choices=["auto", "float32", "bfloat16", "float16"], default="auto")
    train.add_argument("--device", choices=["auto", "cuda", "cpu"], default="auto")
    train.add_argument("--json", action="store_true", help="print one JSON object")


def run(parsed: argparse.Namespace) -> int:
    os.environ.setdefault("GOMP_SPINCOUNT", GOMP_SPINCOUNT)  # read once, when torch is imported
    from engine.training import Order, Schedule, make_draft

    _check(parsed)
    kind = parsed.heads or ("layers" if parsed.layers else "eagle")
    order = Order(
        target=parsed.target or catalog.default_target(),
        kind=kind,
        layers=parsed.layers or 0,
        vocabulary=parsed.vocabulary,
        tokens=parsed.tokens,
        length=parsed.length,
        dtype=parsed.dtype,
        seed=parsed.seed,
    )
    minutes = 40.0 if parsed.steps is None and parsed.minutes is None else parsed.minutes
    schedule = Schedule(
        parsed.steps,
        minutes,
        parsed.learning_rate,
        parsed.batch_tokens,
        parsed.accumulate,
        parsed.seed,
        60 * parsed.save_minutes,
    )
    command = shlex.join(["specexec", *sys.argv[1:]])
    with cancelled_by_ctrl_c() as cancelled:
        made = make_draft(order, schedule, parsed.out, parsed.resume, command, parsed.device, _say, cancelled)
    last = made.record.curve[-1]
    if parsed.json:
        found = {
            "folder": str(made.folder),
            "drafter": made.method,
            "parameters": made.parameters,
            "bytes": made.nbytes,
            "sampled_tokens": made.record.sampled,
            "steps": last.step,
            "tokens": last.tokens,
            "tokens_per_pass": last.tokens_per_pass,
            "losses": last.losses,
        }
        print(json.dumps(found))
    else:
        passes = ", ".join(f"{each:.2f} at budget {budget}" for budget, each in last.tokens_per_pass.items())
        print(f"{made.folder}: {made.nbytes / 2**20:.1f} MiB; tokens per pass {passes}")
    return 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _check(parsed: argparse.Namespace) -> None:
    """Raises BadOption."""
    least = {
        "layers": 1, "vocabulary": 2, "tokens": 1, "length": 16, "steps": 1, "minutes": 0.01,
        "learning_rate": 1e-9, "batch_tokens": 16, "accumulate": 1, "save_minutes": 0, "seed": 0,
    }  # fmt: skip
    for name, lowest in least.items():
        value = getattr(parsed, name)
        if value is not None and not value >= lowest:
            raise BadOption(
                f"--{name.replace('_', '-')} is out of range: expected at least {lowest}.",
                "See specexec train-draft --help.",
            )
