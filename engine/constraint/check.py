"""Checks a constraint in a process of its own, before the engine compiles it.

A schema is a stranger's program for a compiler. llguidance limits what its compiler and each of its masks may
take; the process is the second wall: what takes too much time or memory, or ends the process, never reaches
the engine.
"""

import contextlib
import subprocess
import threading
from functools import lru_cache
from pathlib import Path

import msgspec

from engine.constraint.grammar import TEXT_LIMIT, bad
from engine.errors import BadConstraint, SystemLimit, refused_by_system
from engine.launch import interpreter, limits
from engine.protocol import Constraint

TIME_LIMIT_S = 10.0  # real schemas take 0.2 s, nearly all of it to start the process
MEMORY_LIMIT = 400 << 20  # bytes; real schemas take 60 MiB


@lru_cache(maxsize=256)
def check(constraint: Constraint) -> None:
    """Raise BadConstraint if the engine must not compile `constraint`; SystemLimit or OutOfMemory if the
    process cannot start."""
    if len(constraint.text) > TEXT_LIMIT:
        raise bad(constraint, "it is too long")
    try:
        process = subprocess.Popen(
            interpreter.command("engine.constraint.check_process"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).parents[2],
            start_new_session=True,  # Ctrl+C must reach only the engine
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except OSError as error:
        raise refused_by_system(error) or SystemLimit(
            "The process that checks schemas and grammars cannot start.",
            "Free some memory, or raise the limits on memory (ulimit -v) and processes (ulimit -u).",
        ) from error
    over = threading.Event()
    watch = threading.Thread(
        target=limits.kill_beyond, args=(process.pid, MEMORY_LIMIT, over), name="schema memory", daemon=True
    )
    watch.start()
    answer = b""
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            answer, _ = process.communicate(msgspec.msgpack.encode(constraint), TIME_LIMIT_S)
    finally:
        over.set()
        watch.join()
        process.kill()
        process.communicate()
    if process.returncode or not answer:
        raise bad(constraint, "checking it takes too much time or memory")
    if reason := msgspec.json.decode(answer, type=str):
        raise BadConstraint(reason, bad(constraint, "").hint)
