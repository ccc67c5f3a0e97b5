"""Programs that a set-up runs: their words kept in a log, ended when that is asked for or when we die."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from engine import launching
from engine.errors import SpecExecError
from engine.hub import Stop

_LIFELINE = Path(__file__).with_name("lifeline.py")
_TICK_S = 0.1


def run(
    argv: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    stop: Stop,
    each_line: Callable[[str], None],
    limit_s: float | None = None,
) -> tuple[int, str]:
    """Gives (exit status, what it said). Raises `Stopped` where that is asked for; the program is gone then.

    each_line: called with each line, from another thread. limit_s: it is ended after that.
    """
    process = subprocess.Popen(
        [*launching.isolated(), str(_LIFELINE), *argv],
        env=dict(environment),
        cwd=launching.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    assert process.stdin is not None
    said: list[str] = []
    reader = threading.Thread(target=_read, args=(process, log, said, each_line), daemon=True)
    reader.start()
    ends = time.monotonic() + limit_s if limit_s is not None else float("inf")
    try:
        while reader.is_alive():
            stop.check()
            if time.monotonic() > ends:
                raise SpecExecError(
                    "A step of the set-up does not end.", f"Try again; the details are in {log}."
                )
            reader.join(_TICK_S)
    finally:
        process.stdin.close()  # the lifeline: ends the program if it runs
        reader.join()
        status = process.wait()
        assert process.stdout is not None
        process.stdout.close()
    return status, "\n".join(said)


def _read(
    process: "subprocess.Popen[bytes]", log: Path, said: list[str], each_line: Callable[[str], None]
) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        text = line.decode("utf-8", "replace").strip()
        said.append(text)
        each_line(text)
        with suppress(OSError), log.open("ab") as out:  # a full disk is what it may be telling of
            out.write(line)


def clean_environment() -> dict[str, str]:
    """This process's, without what would turn pip's heirs and Python elsewhere."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(("UV_", "PIP_", "PYTHON", "VIRTUAL_ENV", "CONDA_"))
        and name != launching.ENTERED
    }
