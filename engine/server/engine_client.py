"""The engine as the server's coroutines use it: one connection for all requests, on the event loop."""

import asyncio
import contextlib
import itertools
import logging
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Protocol

from msgspec import structs

from engine import protocol
from engine.errors import EngineGone, SpecExecError
from engine.protocol import EngineConnection
from engine.server.faults import RequestFault, fault_of

log = logging.getLogger(__name__)

ENDS = (protocol.Answer, protocol.Loaded, protocol.Counted, protocol.Failed)  # the last event of a request


class Channel(Protocol):
    """The methods of `EngineConnection` that are used here."""

    def post(self, request: protocol.Request) -> None: ...

    def close(self) -> None: ...

    def events(self) -> Iterator[protocol.Event]: ...


class EngineClient:
    """Joins the engine when it is first needed, and again after it has been lost.

    Every method is called on the event loop's thread; one more thread reads events.

    Attributes: `now`, what the engine has loaded, or None; `last`, the request with which another client has
    loaded models last, or None; `active`, the number of requests in progress or waiting.
    """

    def __init__(self, connect: Callable[[], Channel] = EngineConnection.share) -> None:
        self.now: protocol.NowLoaded | None = None
        self.last: protocol.Load | None = None
        self._connect = connect
        self._channel: Channel | None = None
        self._reader: threading.Thread | None = None
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Queue[protocol.Event]] = {}
        self._joining = asyncio.Lock()
        self._greeted = asyncio.Event()
        self._problem: SpecExecError | None = None

    @property
    def active(self) -> int:
        return len(self._waiting)

    @property
    def loaded(self) -> protocol.Loaded | None:
        return self.now.loaded if self.now else None

    async def joined(self) -> None:
        """Join the engine, or start it. Does nothing if that is done. Raises RequestFault."""
        try:
            await self._join()
        except SpecExecError as error:
            raise RequestFault(503, error.kind, f"{error.message} {error.hint}") from error

    async def _join(self) -> None:
        async with self._joining:
            if self._channel is not None and self._greeted.is_set():
                return
            self._greeted, self._problem = asyncio.Event(), None
            loop = asyncio.get_running_loop()
            self._reader = threading.Thread(target=self._read, args=(loop,), name="engine", daemon=True)
            self._reader.start()
            await self._greeted.wait()
            if self._problem:
                raise self._problem

    async def load(self, request: protocol.Load) -> None:
        """Load models. Raises RequestFault."""
        async for _ in self._events(lambda id: structs.replace(request, id=id)):
            pass

    async def count(self, request: protocol.Count) -> int:
        """Count the tokens of a prompt. Raises RequestFault."""
        async for event in self._events(lambda id: structs.replace(request, id=id)):
            if isinstance(event, protocol.Counted):
                return event.tokens
        raise AssertionError("a count ends with its result")

    async def answer(self, chat: protocol.Chat) -> AsyncGenerator[protocol.Event, None]:
        """Ask, and yield the answer's events; `Answer` is the last one. If the caller stops early, the answer
        is cancelled. Raises RequestFault."""
        _check(chat)
        async with contextlib.aclosing(self._events(lambda id: structs.replace(chat, id=id))) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        """Leave the engine, which ends if nobody else uses it."""
        if self._channel is not None:
            self._channel.close()
        if self._reader is not None:
            await asyncio.to_thread(self._reader.join)

    async def _events(self, made: Callable[[int], protocol.Request]) -> AsyncGenerator[protocol.Event, None]:
        await self.joined()
        channel = self._channel
        assert channel is not None
        id = next(self._ids)
        queue = self._waiting[id] = asyncio.Queue()
        has_ended = False
        channel.post(made(id))
        try:
            while not has_ended:
                event = await queue.get()
                has_ended = isinstance(event, ENDS)
                if isinstance(event, protocol.Failed):
                    raise fault_of(event)
                yield event
        finally:
            del self._waiting[id]
            if not has_ended:
                channel.post(protocol.Cancel(id=next(self._ids), request=id))

    # -- events ----------------------------------------------------------------------------------------------

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """Join the engine and pass its events to the loop. Runs on the reader thread."""

        def deliver(call: Callable[..., None], *arguments: object) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has been closed
                loop.call_soon_threadsafe(call, *arguments)

        problem: SpecExecError = EngineGone(
            "The engine has ended.", "Try again: the next request starts it anew."
        )
        try:
            self._channel = self._connect()
            for event in self._channel.events():
                deliver(self._receive, event)
        except SpecExecError as error:
            problem = error
        except Exception:
            log.exception("reading from the engine failed")
        finally:
            deliver(self._lose, problem)

    def _receive(self, event: protocol.Event) -> None:
        match event:
            case protocol.Ready():
                self._take(event.now)
                self._greeted.set()
            case protocol.NowLoaded():
                self._take(event)
            case (
                protocol.Tasks()
                | protocol.Unloaded()
                | protocol.Forgotten()
                | protocol.Left()
                | protocol.EngineLost()
            ):
                pass
            case _ if queue := self._waiting.get(event.request):
                queue.put_nowait(event)
        if isinstance(event, protocol.Loaded):
            self.now = protocol.NowLoaded(loaded=event, by=None)
        elif isinstance(event, protocol.Failed) and not event.loaded:
            self.now = None

    def _take(self, now: protocol.NowLoaded | None) -> None:
        """Note what other clients have loaded."""
        self.now = now if now and now.loaded else None
        if self.now is not None and self.now.by is not None:
            self.last = self.now.by

    def _lose(self, problem: SpecExecError) -> None:
        self.now = self._channel = None
        self._problem = problem
        self._greeted.set()
        for id, queue in self._waiting.items():
            queue.put_nowait(
                protocol.Failed(request=id, kind=problem.kind, message=problem.message, hint=problem.hint)
            )


def _check(chat: protocol.Chat) -> None:
    """Raise RequestFault if an option is out of range, before it is sent."""
    try:
        protocol.decode_request(protocol.encode(chat))
    except (ValueError, OverflowError) as error:
        raise RequestFault(400, "bad_option", f"A number is out of range: {error}.") from None
