"""Checks that hostile model files are refused: a named error with a hint, in bounded time and memory."""

import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

from engine.checkpoints import GgufVocabulary, open_checkpoint
from engine.errors import SpecExecError
from engine.model.interface import no_progress
from engine.tokenizer.gguf import from_vocabulary
from engine.torch_model.loader import load_model
from tests.engine.checkpoints.files import named_errors_only

FEW = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
BOUNDARIES = [0, 1, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**60, 2**63 - 1, 2**63, 2**64 - 1]
MEMORY_LIMIT = 512 << 20  # bytes a hostile file may cost


def _peak_nbytes(restart: bool = False) -> int:
    """Return the process's peak memory in bytes since the last restart; 0 where the system reports none.

    restart: measure from now on.
    """
    if sys.platform != "linux":
        return 0
    if restart:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Expect the block to take at most `seconds` of this thread's CPU time, and MEMORY_LIMIT.

    Objects that other tests left are not counted: the garbage collector does not visit them.
    """
    gc.freeze()
    before = _peak_nbytes(restart=True)
    started = time.thread_time()
    try:
        yield
    finally:
        took = time.thread_time() - started
    assert took < seconds
    assert _peak_nbytes() - before < MEMORY_LIMIT


@contextmanager
def refused(
    kind: type[SpecExecError] = SpecExecError, seconds: float = 1.0
) -> Iterator[pytest.ExceptionInfo[SpecExecError]]:
    """Expect the block to raise this kind of error, with a hint and a message of bounded length, within
    `seconds` and MEMORY_LIMIT."""
    with _within(seconds), pytest.raises(kind) as caught:
        yield caught
    assert caught.value.hint
    assert len(caught.value.message) < 2000


def open_or_refuse(path: Path) -> None:
    """Open the model and its tokenizer; both are valid, or the model is refused within the limits."""
    with _within(1.0), named_errors_only():
        checkpoint = open_checkpoint(path)
        if isinstance(checkpoint.tokenizer, GgufVocabulary):
            from_vocabulary(checkpoint.tokenizer)


def load(path: Path) -> None:
    load_model(open_checkpoint(path), torch.float32, "cpu", no_progress, context=64)
