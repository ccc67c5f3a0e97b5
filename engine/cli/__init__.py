"""The command line. `specexec` alone opens the window; each other command is a file here with `add` and
`run`.

Answers go to stdout, everything else to stderr. Exit status: 0 ok, 1 failed (with --json: {"error": ...}), 2
bad usage.
"""

import argparse
import io
import os
import runpy
import signal
import sys
from importlib.metadata import version
from pathlib import Path

from engine.cli import bench, chat, doctor, export, models, plan, pull, quantize, trace, train_draft
from engine.cli.common import fail
from engine.errors import SpecExecError

COMMANDS = (chat, plan, pull, models, doctor, export, quantize, train_draft, trace, bench)


def main() -> None:
    prepare_streams()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # after cleaning up
    sys.exit(run(sys.argv[1:]))


def prepare_streams() -> None:
    """Text of any language, whatever the system's encoding; a closed stream swallows what it gets."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for the whole life
        elif isinstance(stream, io.TextIOWrapper):
            # A terminal knows its own encoding; files and pipes are UTF-8 everywhere.
            stream.reconfigure(encoding=stream.encoding if stream.isatty() else "utf-8", errors="replace")


def run(arguments: list[str]) -> int:
    """Run one command; returns the exit status."""
    parsed = parser().parse_args(arguments)
    if parsed.command is None:
        runpy.run_module("app", run_name="__main__")
        return 0
    try:
        try:
            status: int = parsed.run(parsed)
        except SpecExecError as error:
            status = fail(error, parsed.json)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return 1  # the second Ctrl-C: at once
    except OSError as error:
        # Our output cannot be written: its reader has left (`specexec chat … | head`) or the disk is full.
        # Nothing more may be written there, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"The answer cannot be written: {error.strerror}.", file=sys.stderr)
        return 1


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(
        prog="specexec",
        description="Chat with a language model larger than your graphics card. Alone: opens the window.",
    )
    root.add_argument("--version", action="version", version=f"specexec {version('specexec-desktop')}")
    commands = root.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return root
