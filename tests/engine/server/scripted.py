"""An engine that answers what the test says, behind a real server on a real socket."""

import queue
import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from engine import protocol
from engine.server.engine_client import EngineClient
from engine.server.site import Site, SiteOptions
from tests.engine.answers import made_answer

INFO = protocol.ModelInfo(
    name="scripted", path="/nowhere/scripted.gguf", architecture="none", parameters=0, nbytes=0, packed=False,
    layers=0, vocabulary=0,
)  # fmt: skip


class ScriptedEngine:
    """A channel whose engine answers every chat with `text`, cut at random.

    Attributes: `thought`, the mark that the prompt ends with; `stop_reason`, why answers end; `chats`,
    `counts`, what it was asked.
    """

    def __init__(self, template: str = "") -> None:
        self.text = ""
        self.thought = ""
        self.stop_reason: protocol.StopReason = "end_of_sequence"
        self.chats: list[protocol.Chat] = []
        self.counts: list[protocol.Count] = []
        self._events: queue.Queue[protocol.Event | None] = queue.Queue()
        loaded = protocol.Loaded(
            request=0, target=INFO, draft=None, drafter="none", drafters=["none"], dtype="none",
            device="none", context=100, chat_template=template,
        )  # fmt: skip
        now = protocol.NowLoaded(loaded=loaded, by=None)
        self._events.put(protocol.Ready(engine_version="0", pid=1, now=now))

    def post(self, request: protocol.Request) -> None:
        match request:
            case protocol.Chat():
                self.chats.append(request)
                for event in self._answer(request.id):
                    self._events.put(event)
            case protocol.Count():
                self.counts.append(request)
                self._events.put(protocol.Counted(request.id, 7))

    def close(self) -> None:
        self._events.put(None)

    def events(self) -> Iterator[protocol.Event]:
        while (event := self._events.get()) is not None:
            yield event

    def _answer(self, request: int) -> Iterator[protocol.Event]:
        yield protocol.AnswerBegun(request=request, prompt_tokens=5, reused_tokens=2, thought=self.thought)
        at, tokens = 0, 0
        while at < len(self.text):
            end = at + random.randint(1, 6)
            tokens += 1
            yield protocol.TextDelta(request=request, text=self.text[at:end], tokens=tokens)
            at = end
        yield made_answer(
            self.text, request=request, stop_reason=self.stop_reason, prompt_tokens=5, reused_tokens=2,
            tokens=tokens, thought_tokens=3,
        )  # fmt: skip


@contextmanager
def served(engine: ScriptedEngine) -> Iterator[str]:
    """Serve the engine; yield the address."""
    opened = socket.create_server(("127.0.0.1", 0))
    host, port = opened.getsockname()
    options = SiteOptions(protocol.Load(id=0), hosts=(host,))
    client = EngineClient(lambda: engine)
    config = uvicorn.Config(Site(options, client).app, ws="none", lifespan="off", log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
    thread.start()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        engine.close()
        thread.join()
        opened.close()
