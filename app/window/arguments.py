"""The command line of the window. Imports no Qt."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.protocol.messages import MAX_BUDGET


@dataclass(frozen=True, slots=True)
class Arguments:
    """The parsed command line.

    target, draft, drafter, budget: None or "auto" lets the program choose. engine: the added engine whose
    model `target` is; "": this machine. file: an exported chat to open.
    self_test, with_engine: see `app.startup.self_test`.
    """

    target: str | None = None
    draft: str = "auto"
    drafter: str = "auto"
    budget: int | None = None
    engine: str = ""
    file: Path | None = None
    self_test: Path | None = None
    with_engine: bool = False


def parse(argv: Sequence[str] | None = None) -> Arguments:
    """Parse the command line; on an error, print a message and end the process with status 2."""
    parser = argparse.ArgumentParser(prog="specexec", description="Open the window of SpecExec Desktop.")
    parser.add_argument(
        "--target",
        type=_absolute,
        metavar="ID|PATH",
        help="the target model, which writes the answer (default: the built-in model)",
    )
    parser.add_argument(
        "--draft",
        type=_absolute,
        metavar="ID|PATH|self|none",
        default="auto",
        help="the draft model; self: the target itself in fewer bits",
    )
    parser.add_argument("--drafter", metavar="NAME", default="auto", help="the drafting method")
    parser.add_argument(
        "--budget", metavar="N", type=_budget, help="maximum number of nodes in a token tree, or auto"
    )
    parser.add_argument("file", nargs="?", type=_in_full, metavar="CHAT", help="an exported chat to open")
    parser.add_argument("--self-test", type=_in_full, metavar="FILE.png", help=argparse.SUPPRESS)
    parser.add_argument("--with-engine", action="store_true", help=argparse.SUPPRESS)
    return Arguments(**vars(parser.parse_args(argv)))


def _absolute(text: str) -> str:
    """Make an existing path absolute, since the engine runs in another folder; return an id unchanged."""
    return str(Path(text).resolve()) if Path(text).exists() else text


def _in_full(text: str) -> Path:
    return Path(text).absolute()


def _budget(text: str) -> int | None:
    if text == "auto":
        return None
    if text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_BUDGET:
        return int(text)
    raise argparse.ArgumentTypeError(f"must be auto or a number from 1 to {MAX_BUDGET}, not {text!r}")
