"""The command line. `specexec` alone opens the window; every command is a file in this folder, with the
functions `add` and `run`.

Results go to stdout, everything else to stderr. The exit status is 0 for success, 1 for failure (with --json,
{"error": ...} is printed too) and 2 for bad usage. The commands, and what they share, are imported by `run`,
which reports what the system refuses meanwhile, and ends without a word at Ctrl-C.
"""

import argparse
import io
import os
import runpy
import signal
import sys
from pathlib import Path

from engine.errors import SpecExecError, refused_by_system
from engine.launch import entry, interpreter


def main() -> None:
    prepare_streams()
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM)
    )  # raises SystemExit, so that everything is cleaned up
    # A package's launcher has done it, and the window needs no runtime.
    if not interpreter.is_packaged() and sys.argv[1:]:
        entry.enter_current()
    sys.exit(run(sys.argv[1:]))


def prepare_streams() -> None:
    """Make the standard streams accept text of any language, whatever the system's encoding.

    Output to a stream that was closed before the start is discarded.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - closed at exit
        elif isinstance(stream, io.TextIOWrapper):
            # A terminal has an encoding of its own; files and pipes use UTF-8 on every system.
            stream.reconfigure(encoding=stream.encoding if stream.isatty() else "utf-8", errors="replace")


def run(arguments: list[str]) -> int:
    """Run one command and return the exit status."""
    try:
        from engine.terminal import fail, say

        parsed = build_parser().parse_args(arguments)
    except (Exception, KeyboardInterrupt) as error:  # raised by the imports of the commands
        return _refused(error, "--json" in arguments)
    if parsed.command is None:
        runpy.run_module("app", run_name="__main__")
        return 0
    try:
        try:
            status: int = parsed.run(parsed)
        except SpecExecError as error:
            status = fail(error, parsed.json)
        except (Exception, KeyboardInterrupt) as error:
            status = _refused(error, parsed.json)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return 1
    except OSError as error:
        # The output cannot be written: its reader has closed it (`specexec chat … | head`) or the disk is
        # full. Nothing more may be written to it, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            say(f"The output cannot be written: {error.strerror}.", to_stderr=True)
        return 1


def _refused(error: BaseException, as_json: bool) -> int:
    """Report what the system has refused, or what is not installed, and return the exit status. Ctrl-C, the
    first while the program starts or the second later, ends the command without a word. Any other error is
    raised again."""
    if (refused := refused_by_system(error) or interpreter.missing_runtime(error)) is not None:
        from engine.terminal import fail

        return fail(refused, as_json)
    if isinstance(error, KeyboardInterrupt):
        return 1
    raise error


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands, without importing torch."""
    from importlib.metadata import version

    from engine.cli import (
        bench,
        cache,
        chat,
        doctor,
        engines,
        export,
        models,
        plan,
        pull,
        quantize,
        serve,
        setup,
        trace,
        train_draft,
    )
    from engine.terminal import HelpFormatter

    root = argparse.ArgumentParser(
        prog="specexec",
        usage="specexec [-h] [--version] [COMMAND ...]",
        description="Chat with a language model larger than your graphics card.\n\n"
        "Without a command, the window opens.",
        epilog="Run “specexec COMMAND --help” for the options of a command. Exit status: 0 success, 1 "
        "failure, 2 bad usage.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    root.add_argument(
        "--version",
        action="version",
        version=f"specexec {version('specexec-desktop')}",
        help="print the version and exit",
    )
    commands = root.add_subparsers(dest="command", metavar="COMMAND", title="commands", prog="specexec")
    for command in (
        chat,
        serve,
        plan,
        pull,
        models,
        engines,
        cache,
        doctor,
        setup,
        export,
        quantize,
        train_draft,
        trace,
        bench,
    ):
        command.add(commands)
    return root
