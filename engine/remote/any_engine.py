"""The connection of a program that uses the engine on this machine and those elsewhere."""

import os
import queue
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import version

from msgspec import structs

from engine import protocol
from engine.errors import DiskProblem, NotLoaded, SpecExecError
from engine.prompt_cache.files import clear_on_disk, forget_on_disk
from engine.protocol import EngineConnection
from engine.remote.connection import RemoteConnection
from engine.remote.engines import find
from engine.remote.source import JoinableEngine, JoinedSource, SourceEnded

HERE = ""  # the engine on this machine, as `Load.engine` names it


class AnyEngine:
    """Has the methods of `EngineConnection`. A Load whose `engine` names an added one goes there, and so do
    the questions that follow; all others go to the engine on this machine, which is joined when it is first
    needed. Once a model elsewhere is loaded, the engine on this machine is left: it ends, unless others use
    it, so that the memory of its models is free. If a load fails, the model loaded before goes on, wherever
    it is.
    """

    def __init__(
        self, here: JoinableEngine | None, connect: Callable[[], JoinableEngine] = EngineConnection.share
    ) -> None:
        """here: the engine on this machine, if it is joined already. connect: joins it; may wait."""
        self._connect = connect
        self._inbox: queue.SimpleQueue[
            protocol.Request | tuple[JoinedSource, protocol.Event | SourceEnded] | None
        ] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closing = False
        self._ends_all = False
        # What follows is used by the thread in `events` only.
        self._running: list[JoinedSource] = []
        self._loads: dict[int, JoinedSource] = {}  # the engine of each Load in progress, by its id
        self._number = 0  # this client's number, as it was told
        self._first = self._new(HERE, lambda: here) if here is not None else None
        self._active = self._first  # the engine that answers

    @staticmethod
    def share(first: str = HERE) -> "AnyEngine":
        """Join the engine on this machine, or start it, unless `first`, the `engine` of the Load that will
        come first, names another: then nothing is started here.

        Raises EngineGone.
        """
        return AnyEngine(None if first else EngineConnection.share())

    def post(self, request: protocol.Request) -> None:
        """Queue a request, and wake the thread in `events`, which passes it on."""
        match request:
            case protocol.Leave():
                self.close()
            case protocol.Shutdown():
                self.end()
            case _:
                self._inbox.put(request)

    def close(self) -> None:
        """Leave all engines. The thread in `events` waits until that is done, and then returns."""
        self._finish(for_all=False)

    def end(self) -> None:
        """End the engine on this machine, whoever else uses it; otherwise as `close`."""
        self._finish(for_all=True)

    def _finish(self, *, for_all: bool) -> None:
        with self._lock:
            if not self._closing:
                self._closing, self._ends_all = True, for_all
                self._inbox.put(None)

    def events(self) -> Iterator[protocol.Event]:
        """Yield events until `close` is called or the engine that answers is lost.

        If it is lost, the last event is EngineLost. Raises EngineGone if the engine on this machine, joined
        at first, does not start.
        """
        try:
            if self._first is not None:
                self._first.start()
            else:
                yield protocol.Ready(engine_version=version("specexec-desktop"), pid=os.getpid(), client=0)
            while (item := self._inbox.get()) is not None:
                events = self._receive(*item) if isinstance(item, tuple) else self._pass_on(item)
                for event in events:
                    if not self._closing:
                        yield event
                    if isinstance(event, protocol.EngineLost):
                        return
        finally:
            self._leave_all()

    def _leave_all(self) -> None:
        with self._lock:
            self._closing = True
        for source in self._running:
            source.close(for_all=self._ends_all and source.name == HERE)
        while self._running:
            item = self._inbox.get()
            if isinstance(item, tuple) and isinstance(item[1], SourceEnded):
                self._running.remove(item[0])

    # -- requests --------------------------------------------------------------------------------------------

    def _pass_on(self, request: protocol.Request) -> Iterator[protocol.Event]:
        """Pass a request on to the engine that it is for; yield what this already answers."""
        match request:
            case protocol.Load():
                yield from self._pass_on_load(request)
            case protocol.Cancel():
                for source in self._running:
                    source.post(request)
            case protocol.Forget():
                yield from self._forget(request)
            case _:
                newest = next(reversed(self._loads.values()), self._active)
                if newest is not None:
                    newest.post(request)
                elif isinstance(request, protocol.Unload):
                    yield protocol.Unloaded(request.id)
                else:
                    yield self._failed(request.id, NotLoaded("No model is loaded.", "Load one first."))

    def _forget(self, request: protocol.Forget) -> Iterator[protocol.Event]:
        """Let the engine on this machine forget a conversation; engines elsewhere know no names of any."""
        here = next((each for each in self._running if each.name == HERE and not each.is_closing), None)
        if here is not None:
            here.post(request)
        elif request.conversation is None:
            try:
                yield protocol.Forgotten(request.id, disk=clear_on_disk())
            except OSError as error:
                problem = DiskProblem(f"What is kept of chats cannot be deleted: {error}.", "Try again.")
                yield self._failed(request.id, problem)
        else:
            forget_on_disk(request.conversation)
            yield protocol.Forgotten(request.id)

    def _pass_on_load(self, load: protocol.Load) -> Iterator[protocol.Event]:
        try:
            source = self._open(load.engine)
        except SpecExecError as error:
            yield self._failed(load.id, error)
            return
        self._loads[load.id] = source
        source.post(load)

    def _open(self, name: str) -> JoinedSource:
        """Return an engine, which is joined if it is not. Raises EngineUnknown; EnginesFileProblem."""
        for source in self._running:
            if source.name == name and not source.is_closing:
                return source
        if name == HERE:
            source = self._new(HERE, self._connect)
        else:
            added = find(name)
            source = self._new(name, lambda: RemoteConnection(added))
        source.start()
        return source

    def _new(self, name: str, connect: Callable[[], JoinableEngine]) -> JoinedSource:
        source = JoinedSource(name, connect, lambda source, event: self._inbox.put((source, event)))
        self._running.append(source)
        return source

    # -- events ----------------------------------------------------------------------------------------------

    def _receive(self, source: JoinedSource, event: protocol.Event | SourceEnded) -> Iterator[protocol.Event]:
        """Note what an engine sends, and yield it if it is for this client."""
        match event:
            case SourceEnded():
                yield from self._note_end(source, event.problem)
            case protocol.Ready():
                source.number = event.client
                source.has_model = event.now is not None
                if source is self._first:
                    self._number = event.client
                    yield event
            case protocol.NowLoaded():
                source.has_model = event.loaded is not None
                if source is self._active:
                    yield event
            case protocol.Tasks():
                if source is self._active:
                    yield protocol.Tasks(tasks=[self._renumbered(task, source) for task in event.tasks])
            case protocol.EngineLost():
                if source is self._active or source in self._loads.values():
                    yield event
            case protocol.Loaded():
                source.has_model = True
                self._loads.pop(event.request, None)
                self._activate(source)
                yield event
            case protocol.Unloaded():
                source.has_model = False
                yield event
            case protocol.Failed():
                yield self._note_failure(source, event)
            case _:
                yield event

    def _activate(self, source: JoinedSource) -> None:
        self._active = source
        for other in self._running:
            if other is not source and other not in self._loads.values():
                other.close()

    def _note_failure(self, source: JoinedSource, failed: protocol.Failed) -> protocol.Failed:
        """Return the failure as this client is told: with whether any model is still loaded."""
        if self._loads.pop(failed.request, None) is None:
            return failed
        source.has_model = failed.loaded
        if source is self._active or self._active is None:
            return failed
        if source not in self._loads.values():
            source.close()
        return structs.replace(failed, loaded=self._active.has_model)

    def _note_end(self, source: JoinedSource, problem: SpecExecError | None) -> Iterator[protocol.Event]:
        """Note that an engine was left, or could not be joined. Raises what kept the first one from it."""
        self._running.remove(source)
        if problem is not None and source is self._active:
            raise problem
        for id in [id for id, other in self._loads.items() if other is source]:
            del self._loads[id]
            yield self._failed(id, problem or NotLoaded("The engine has ended.", "Load the model again."))

    def _renumbered(self, task: protocol.Task, source: JoinedSource) -> protocol.Task:
        """Return the task with this client's number as it was told; the engine here may have been left and
        joined again since."""
        swapped = {source.number: self._number, self._number: source.number}
        return structs.replace(task, client=swapped.get(task.client, task.client))

    def _failed(self, request: int, error: SpecExecError) -> protocol.Failed:
        return protocol.Failed(
            request=request,
            kind=error.kind,
            message=error.message,
            hint=error.hint,
            loaded=self._active is not None and self._active.has_model,
        )
