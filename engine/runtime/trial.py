"""Test a new runtime: multiply two matrices on its device, then generate one token with a model."""

import json
from pathlib import Path
from typing import Any

from engine.hub import Stop
from engine.launch.interpreter import command_in
from engine.runtime.errors import RuntimeRefused
from engine.runtime.progress import SetupMeter
from engine.runtime.subprocess_run import clean_environment, run

LIMIT_S = 300.0  # for each test; the first import reads a gigabyte, and a virus scanner reads it again


def try_out(folder: Path, backend: str, log: Path, stop: Stop, meter: SetupMeter) -> None:
    """Test the runtime in `folder`.

    Raises `RuntimeRefused` if it does not work, with the reason; SpecExecError if a test takes too long;
    `Stopped`.
    """
    meter.set_activity("torch")
    _run(command_in(folder, "engine.runtime.product", backend), log, stop)
    meter.set_activity("SmolLM2")
    device = "cpu" if backend == "cpu" else "cuda"
    chat = ("chat", "Hello", "--json", "--max-new-tokens", "1", "--device", device)
    answer = _run(command_in(folder, "engine.cli", *chat), log, stop)
    if answer.get("tokens") != 1:
        raise _refused("the model did not answer", log)


def _run(argv: list[str], log: Path, stop: Stop) -> dict[str, Any]:
    status, output = run(argv, clean_environment(), log, stop, lambda line: None, LIMIT_S)
    result = _last_object(output)
    if status or result is None:
        error = (result or {}).get("error", "")
        reason = error.get("message", "") if isinstance(error, dict) else error
        raise _refused(reason or f"the test ended with exit status {status}", log)
    return result


def _last_object(output: str) -> dict[str, Any] | None:
    """Return the last JSON object in the output, which may also contain warnings; None if there is none."""
    for line in reversed(output.splitlines()):
        if line.startswith("{"):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            return value if isinstance(value, dict) else None
    return None


def _refused(reason: str, log: Path) -> RuntimeRefused:
    return RuntimeRefused(
        f"The new runtime does not work on this machine: {reason.rstrip('.')}.",
        f"Update the graphics driver, or choose the CPU backend. Details are in {log}.",
    )
