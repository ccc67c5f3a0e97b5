"""A client's connection to one engine elsewhere, with the methods of `EngineConnection`."""

from collections.abc import Iterator

from engine import protocol
from engine.remote.engines import AddedEngine


class RemoteConnection:
    """`post`, `close` and `end` may be called from any thread and never wait; `events` is used by one."""

    def __init__(self, engine: AddedEngine) -> None: ...

    def post(self, request: protocol.Request) -> None: ...

    def close(self) -> None: ...

    def end(self) -> None: ...

    def events(self) -> Iterator[protocol.Event]:
        raise NotImplementedError
