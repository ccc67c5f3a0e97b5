"""A runtime is accepted once it has multiplied on its device and a model has answered with one token."""

import json
from pathlib import Path
from typing import Any

from engine.hub import Stop
from engine.launching import command_in
from engine.runtime.errors import Refused
from engine.runtime.progress import Meter
from engine.runtime.running import clean_environment, run

LIMIT_S = 300.0  # the first import reads a gigabyte, and a virus scanner does too


def try_out(folder: Path, backend: str, log: Path, stop: Stop, meter: Meter) -> None:
    """Raises `Refused` with its words, and `Stopped`."""
    meter.say("torch")
    _run(command_in(folder, "engine.runtime.product", backend), log, stop)
    meter.say("SmolLM2")
    device = "cpu" if backend == "cpu" else "cuda"
    chat = ("chat", "Hello", "--json", "--max-new-tokens", "1", "--device", device)
    answer = _run(command_in(folder, "engine.cli", *chat), log, stop)
    if answer.get("tokens") != 1:
        raise _refused("the model gave no answer", log)


def _run(argv: list[str], log: Path, stop: Stop) -> dict[str, Any]:
    status, words = run(argv, clean_environment(), log, stop, lambda line: None, LIMIT_S)
    said = _last_object(words)
    if status or said is None:
        error = (said or {}).get("error", "")
        reason = error.get("message", "") if isinstance(error, dict) else error
        raise _refused(reason or f"it ended with status {status}", log)
    return said


def _last_object(words: str) -> dict[str, Any] | None:
    """Warnings may stand around it."""
    for line in reversed(words.splitlines()):
        if line.startswith("{"):
            try:
                found = json.loads(line)
            except ValueError:
                continue
            return found if isinstance(found, dict) else None
    return None


def _refused(reason: str, log: Path) -> Refused:
    return Refused(
        f"What was set up does not work here: {reason.rstrip('.')}.",
        f"Update the graphics driver, or take the backend for the CPU; the details are in {log}.",
    )
