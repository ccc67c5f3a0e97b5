"""What the command line may say to the window. Knows no Qt."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.protocol.messages import MAX_BUDGET


@dataclass(frozen=True, slots=True)
class Arguments:
    """`None` and "auto" mean: the engine chooses. file: an exported chat to open. self_test: see
    `app.self_test`."""

    target: str | None = None
    draft: str = "auto"
    drafter: str = "auto"
    budget: int | None = None
    file: Path | None = None
    self_test: Path | None = None
    with_engine: bool = False


def parse(argv: Sequence[str] | None = None) -> Arguments:
    """Read the command line; ends the process with status 2 and a sentence where it makes no sense."""
    parser = argparse.ArgumentParser(prog="specexec", description="The window of SpecExec Desktop.")
    parser.add_argument(
        "--target",
        type=_absolute,
        metavar="ID|PATH",
        help="the model that answers (default: the embedded one)",
    )
    parser.add_argument(
        "--draft", type=_absolute, metavar="ID|PATH|none", default="auto", help="the model that drafts"
    )
    parser.add_argument("--drafter", metavar="NAME", default="auto", help="the method that drafts")
    parser.add_argument("--budget", metavar="N", type=_budget, help="most nodes in a token tree, or auto")
    parser.add_argument("file", nargs="?", type=_in_full, metavar="CHAT", help="an exported chat to open")
    parser.add_argument("--self-test", type=_in_full, metavar="FILE.png", help=argparse.SUPPRESS)
    parser.add_argument("--with-engine", action="store_true", help=argparse.SUPPRESS)
    return Arguments(**vars(parser.parse_args(argv)))


def _absolute(text: str) -> str:
    """A path as the engine finds it, which works in another folder; an id as it is."""
    return str(Path(text).resolve()) if Path(text).exists() else text


def _in_full(text: str) -> Path:
    return Path(text).absolute()


def _budget(text: str) -> int | None:
    if text == "auto":
        return None
    if text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_BUDGET:
        return int(text)
    raise argparse.ArgumentTypeError(f"must be auto or a number from 1 to {MAX_BUDGET}, not {text!r}")
