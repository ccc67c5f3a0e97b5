"""An answer on its way to an HTTP client: worded by an interface, sent whole or as events."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncGenerator, Iterator
from typing import Any, Protocol

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from engine import protocol
from engine.protocol import Answer, AnswerBegun, Committed, TextDelta
from engine.server.answer_parts import AnswerPart, AnswerParts, PartDelta
from engine.server.faults import RequestFault

FIRST_WAIT_S = 5.0  # after which the headers are sent, although the engine may still refuse the request
KEEP_ALIVE_S = 15.0  # between comments, while there is no text
FINISHED = {
    "end_of_sequence": "stop",
    "stop_string": "stop",
    "max_new_tokens": "length",
    "context_full": "length",
}

Answering = AsyncGenerator[protocol.Event, None]


class Wording(Protocol):
    """How one interface words the answer to one request. Each item of `begin`, `add` and `finish` is an event
    for the client: its name, or "" for none, and its data."""

    def begin(self) -> Iterator[tuple[str, Any]]: ...

    def add(self, delta: PartDelta) -> Iterator[tuple[str, Any]]: ...

    def note(self, committed: Committed) -> None:
        """Word the log-probabilities of tokens, if they were asked for. Called before their text is added."""
        ...

    def finish(self, answer: Answer, parts: list[AnswerPart]) -> Iterator[tuple[str, Any]]: ...

    def whole(self, answer: Answer, parts: list[AnswerPart]) -> dict[str, Any]:
        """Return the answer as one object. Called after `note` was, for all of its tokens."""
        ...

    def problem(self, fault: RequestFault) -> tuple[str, Any]:
        """Return the event for a fault that comes after the first event."""
        ...


def new_id(prefix: str) -> str:
    return f"{prefix}{secrets.token_hex(12)}"


def now() -> int:
    return int(time.time())


async def sent_whole(request: Request, events: Answering, wording: Wording, parts: AnswerParts) -> Response:
    """Wait for the answer and return it as one JSON object. If the client goes away, the answer is cancelled.
    Raises RequestFault."""
    gone = asyncio.create_task(_gone(request))
    try:
        async with contextlib.aclosing(events):
            while True:
                step = asyncio.ensure_future(anext(events))
                await asyncio.wait((step, gone), return_when=asyncio.FIRST_COMPLETED)
                if gone.done() and not step.done():
                    step.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await step
                    return Response(status_code=499)
                event = step.result()
                for _ in _taken(event, wording, parts):
                    pass
                if isinstance(event, Answer):
                    return JSONResponse(wording.whole(event, parts.parts))
    finally:
        gone.cancel()


async def _gone(request: Request) -> None:
    """Return when the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def sent_as_events(
    request: Request, events: Answering, wording: Wording, parts: AnswerParts, last: str = ""
) -> Response:
    """Return a response that sends the answer as server-sent events. If the client goes away, the answer is
    cancelled, also while it waits for others. last: data to send at the very end.

    Raises RequestFault if the engine refuses the request within a few seconds.
    """
    first = asyncio.ensure_future(anext(events))
    gone = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait((first, gone), timeout=FIRST_WAIT_S, return_when=asyncio.FIRST_COMPLETED)
        if first.done():
            first.result()
        elif gone.done():
            await _close(first, events)
            return Response(status_code=499)
    except BaseException:
        await _close(first, events)
        raise
    finally:
        gone.cancel()
    return _EventsResponse(first, events, _stream(first, events, wording, parts, last))


class _EventsResponse(StreamingResponse):
    """Sends an answer's events, and closes them however that ends."""

    def __init__(
        self,
        first: "asyncio.Future[protocol.Event]",
        events: Answering,
        stream: AsyncGenerator[bytes, None],
    ) -> None:
        self._first, self._events, self._stream = first, events, stream
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        super().__init__(self._stream, media_type="text/event-stream", headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._stream.aclose()
            await _close(self._first, self._events)  # if the client went away before the stream began


async def _close(step: "asyncio.Future[protocol.Event]", events: Answering) -> None:
    """Cancel an answer. step: the wait for its next event."""
    step.cancel()
    with contextlib.suppress(BaseException):
        await step
    await events.aclose()


async def _stream(
    first: "asyncio.Future[protocol.Event]",
    events: Answering,
    wording: Wording,
    parts: AnswerParts,
    last: str,
) -> AsyncGenerator[bytes, None]:
    step = first
    try:
        for item in wording.begin():
            yield _event(item)
        while True:
            done, _ = await asyncio.wait((step,), timeout=KEEP_ALIVE_S)
            if not done:
                yield b": the answer is still to come\n\n"
                continue
            event = step.result()
            for item in _worded(event, wording, parts):
                yield _event(item)
            if isinstance(event, Answer):
                for item in wording.finish(event, parts.parts):
                    yield _event(item)
                break
            step = asyncio.ensure_future(anext(events))
    except RequestFault as fault:
        yield _event(wording.problem(fault))
    finally:
        await _close(step, events)
    if last:
        yield f"data: {last}\n\n".encode()


def _worded(event: protocol.Event, wording: Wording, parts: AnswerParts) -> Iterator[tuple[str, Any]]:
    """Divide what the engine has sent into parts, and yield the events for the client."""
    for delta in _taken(event, wording, parts):
        yield from wording.add(delta)


def _taken(event: protocol.Event, wording: Wording, parts: AnswerParts) -> Iterator[PartDelta]:
    """Divide what the engine has sent into parts, and yield what it adds to them."""
    match event:
        case AnswerBegun():
            parts.begin(event)
        case TextDelta():
            if event.committed is not None:
                wording.note(event.committed)
            yield from parts.add(event)
        case Answer():
            yield from parts.finish()


def _event(item: tuple[str, Any]) -> bytes:
    name, data = item
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + msgspec.json.encode(data) + b"\n\n"
