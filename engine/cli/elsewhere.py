"""An engine elsewhere as commands use it: they load and ask, wait for the outcome, and stop at Ctrl-C."""

import argparse
import itertools
import queue
import threading
from collections.abc import Callable
from typing import Protocol

from msgspec import structs

from engine import protocol
from engine.errors import BadOption, SpecExecError
from engine.remote.connection import RemoteConnection
from engine.remote.engines import find

Emit = Callable[[protocol.Event], None]
Cancelled = Callable[[], bool]
_LOOK_S = 0.1  # how often a command looks for Ctrl-C


class Answerer(Protocol):
    """What `EngineService` and `RemoteService` have in common."""

    def load(self, request: protocol.Load, emit: Emit, cancelled: Cancelled) -> protocol.Loaded: ...

    def answer(self, request: protocol.Chat, emit: Emit, cancelled: Cancelled) -> protocol.Answer: ...


class RemoteService:
    """A connection to an engine elsewhere, whose methods return the outcome of a request or raise its
    error."""

    def __init__(self, connection: RemoteConnection) -> None:
        self._connection = connection
        self._ids = itertools.count(1)
        self._events: queue.SimpleQueue[protocol.Event] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="engine events", daemon=True).start()

    def load(self, request: protocol.Load, emit: Emit, cancelled: Cancelled) -> protocol.Loaded:
        outcome = self._outcome(structs.replace(request, id=next(self._ids)), emit, cancelled)
        assert isinstance(outcome, protocol.Loaded)
        return outcome

    def answer(self, request: protocol.Chat, emit: Emit, cancelled: Cancelled) -> protocol.Answer:
        outcome = self._outcome(structs.replace(request, id=next(self._ids)), emit, cancelled)
        assert isinstance(outcome, protocol.Answer)
        return outcome

    def _outcome(
        self, request: protocol.Load | protocol.Chat, emit: Emit, cancelled: Cancelled
    ) -> protocol.Event:
        self._connection.post(request)
        is_cancelled = False
        while True:
            if cancelled() and not is_cancelled:
                is_cancelled = True
                self._connection.post(protocol.Cancel(id=next(self._ids), request=request.id))
            try:
                event = self._events.get(timeout=_LOOK_S)
            except queue.Empty:
                continue
            match event:
                case protocol.Failed():
                    error = SpecExecError(event.message, event.hint)
                    error.kind = event.kind
                    raise error
                case protocol.Loaded() | protocol.Answer():
                    return event
                case _:
                    emit(event)

    def _read(self) -> None:
        for event in self._connection.events():
            self._events.put(event)


def join(name: str) -> RemoteService:
    """Return the engine that was added under `name`. Raises EngineUnknown; EnginesFileProblem."""
    return RemoteService(RemoteConnection(find(name)))


def expect_its_options(parsed: argparse.Namespace) -> None:
    """Raise BadOption if there are options of models on this machine."""
    for defaults in (protocol.Load(id=0), protocol.Options()):
        for name in _ITS_OWN.intersection(defaults.__struct_fields__):
            if getattr(parsed, name) != getattr(defaults, name):
                raise BadOption(
                    f"--{name.replace('_', '-')} is for models on this machine, not for --engine.",
                    "Leave it out: the engine elsewhere has been started with its own.",
                )
    if parsed.thinking is not None:
        raise BadOption(
            "--thinking is for models on this machine, not for --engine.",
            "Leave it out: an engine elsewhere does not show its chat template.",
        )


_ITS_OWN = frozenset({
    "draft", "dtype", "device", "context", "weights", "kv_cache", "vram_limit", "ram_limit", "threads",
    "processor_helps", "drafter", "budget", "beams", "depth",
})  # fmt: skip
