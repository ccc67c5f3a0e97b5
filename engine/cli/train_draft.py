"""`specexec train-draft`: train a draft model or heads for a target, on this machine and without a data
set."""

import argparse
import json
import os
import shlex
import sys
from pathlib import Path

from engine import catalog
from engine.errors import BadOption
from engine.serving.service import GOMP_SPINCOUNT
from engine.terminal import Commands, add_command, add_compute_options, cancelled_by_ctrl_c, say


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "train-draft",
        run,
        "train a draft model or heads for a target on this machine",
        "Needs no data set: the target generates conversations, and the draft learns the distributions of "
        "the target's tokens. Without --heads or --layers, EAGLE heads are trained.",
    )
    parser.add_argument(
        "--target",
        metavar="ID|PATH",
        help="target model: ID of a catalogue model, a GGUF file, or a folder of safetensors (default: the "
        "embedded model)",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER", help="folder to write the draft to (required)"
    )
    parser.add_argument("--resume", action="store_true", help="continue an interrupted training in FOLDER")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--heads",
        choices=["eagle", "medusa"],
        help="train heads that read the target's hidden states (default: eagle)",
    )
    kind.add_argument(
        "--layers",
        type=int,
        metavar="N",
        help="train a draft model made of N of the target's layers (default: train heads)",
    )
    _add_data_options(parser)
    _add_training_options(parser)


def _add_data_options(parser: argparse.ArgumentParser) -> None:
    data = parser.add_argument_group("training data")
    data.add_argument(
        "--tokens",
        type=int,
        default=1_000_000,
        metavar="N",
        help="number of tokens that the target generates (default: %(default)s)",
    )
    data.add_argument(
        "--length",
        type=int,
        default=384,
        metavar="N",
        help="maximum number of tokens of one text (default: %(default)s)",
    )
    data.add_argument(
        "--vocabulary",
        type=int,
        default=8192,
        metavar="N",
        help="number of tokens that the draft distinguishes while it learns (default: %(default)s)",
    )


def _add_training_options(parser: argparse.ArgumentParser) -> None:
    training = parser.add_argument_group("training")
    training.add_argument(
        "--minutes",
        type=float,
        metavar="M",
        help="maximum training time in minutes, without generating the data (default: 40, unless --steps is "
        "given)",
    )
    training.add_argument(
        "--steps", type=int, metavar="N", help="maximum number of optimizer steps (default: no limit)"
    )
    training.add_argument(
        "--learning-rate", type=float, default=1e-3, metavar="R", help="learning rate (default: %(default)s)"
    )
    training.add_argument(
        "--batch-tokens",
        type=int,
        default=4096,
        metavar="N",
        help="number of tokens of one batch (default: %(default)s)",
    )
    training.add_argument(
        "--accumulate",
        type=int,
        default=1,
        metavar="N",
        help="number of batches of one optimizer step (default: %(default)s)",
    )
    training.add_argument(
        "--save-minutes",
        type=float,
        default=5.0,
        metavar="M",
        help="minutes between checkpoints, from which --resume continues (default: %(default)s)",
    )
    training.add_argument(
        "--seed", type=int, default=0, metavar="S", help="seed of the random numbers (default: %(default)s)"
    )
    add_compute_options(training)


def run(parsed: argparse.Namespace) -> int:
    os.environ.setdefault("GOMP_SPINCOUNT", GOMP_SPINCOUNT)  # torch reads it only once, when imported
    from engine.training import Order, TrainingSchedule, make_draft

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
    schedule = TrainingSchedule(
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
        result = {
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
        say(json.dumps(result))
    else:
        passes = ", ".join(f"{each:.2f} at budget {budget}" for budget, each in last.tokens_per_pass.items())
        say(f"{made.folder}: {made.nbytes / 2**20:.1f} MiB; tokens per pass {passes}")
    return 0


def _say(text: str) -> None:
    say(text, to_stderr=True)


def _check(parsed: argparse.Namespace) -> None:
    """Raise BadOption if an option is out of range."""
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
