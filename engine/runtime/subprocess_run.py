"""Run the programs of a set-up: log their output, and end them on a cancel or when this process ends."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from engine.errors import SpecExecError
from engine.hub import Stop
from engine.launch import interpreter

_LIFELINE = Path(__file__).with_name("lifeline.py")
_TICK_S = 0.1


def run(
    argv: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    stop: Stop,
    on_line: Callable[[str], None],
    limit_s: float | None = None,
) -> tuple[int, str]:
    """Run a program and return (exit status, output).

    on_line: called with each line of output, from another thread. limit_s: the seconds after which the
    program is ended, or None. Raises `Stopped` if a cancel ended the program; SpecExecError if the time limit
    did.
    """
    process = subprocess.Popen(
        [*interpreter.python(), str(_LIFELINE), *argv],
        env=dict(environment),
        cwd=interpreter.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    assert process.stdin is not None
    lines: list[str] = []
    reader = threading.Thread(target=_read, args=(process, log, lines, on_line), daemon=True)
    reader.start()
    deadline = time.monotonic() + limit_s if limit_s is not None else float("inf")
    try:
        while reader.is_alive():
            stop.check()
            if time.monotonic() > deadline:
                raise SpecExecError("A set-up step timed out.", f"Try again. Details are in {log}.")
            reader.join(_TICK_S)
    finally:
        process.stdin.close()  # closing the lifeline ends the program if it still runs
        reader.join()
        status = process.wait()
        assert process.stdout is not None
        process.stdout.close()
    return status, "\n".join(lines)


def _read(
    process: "subprocess.Popen[bytes]", log: Path, lines: list[str], on_line: Callable[[str], None]
) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        text = line.decode("utf-8", "replace").strip()
        lines.append(text)
        on_line(text)
        with suppress(OSError), log.open("ab") as out:  # the log itself fails if the disk is full
            out.write(line)


def clean_environment() -> dict[str, str]:
    """Return this process's environment variables without those that configure Python, pip, uv or conda."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(("UV_", "PIP_", "PYTHON", "VIRTUAL_ENV", "CONDA_"))
        and name != interpreter.RUNTIME_VARIABLE
    }
