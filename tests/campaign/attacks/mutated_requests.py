"""Damaged and distorted requests to the local server: an answer, or a status with a sentence, and soon.

The engine is a stand-in that decodes each request as the real one does.
"""

import asyncio
import json
import queue
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import httpx2

from engine import protocol
from engine.server.engine_client import EngineClient
from engine.server.site import Site, SiteOptions
from tests.app.fake_engine import answer, loaded
from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict
from tests.campaign.mutation import damaged, spoiled

FIXED = 150
EXPECTED = {400, 401, 403, 404, 405, 408, 413, 415, 429, 503}
HEADERS: dict[str, Any] = {
    "host": "127.0.0.1:8484",
    "content-type": "application/json",
    "authorization": "Bearer key",
    "user-agent": "a-client/1.0",
}
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
]
SAMPLING = {"model": "tiny", "temperature": 0.7, "top_p": 0.9, "stream": True, "seed": 3, "top_k": 5}
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        **SAMPLING, "messages": MESSAGES, "max_tokens": 9, "stop": ["x"], "logit_bias": {"5": 1},
        "logprobs": True,
        "top_logprobs": 2, "stream_options": {"include_usage": True}, "metadata": {"a": "b"}, "tools": [],
        "response_format": {"type": "text"},
    },
    "/v1/completions": {**SAMPLING, "prompt": "Once", "max_tokens": 9, "logprobs": 1, "stop": "x"},
    "/v1/responses": {**SAMPLING, "input": MESSAGES[1:], "instructions": "Be brief.", "max_output_tokens": 9},
    "/v1/messages": {
        **SAMPLING, "messages": MESSAGES[1:], "system": "Be brief.", "max_tokens": 9, "stop_sequences": ["x"],
    },
    "/v1/messages/count_tokens": {"model": "tiny", "messages": MESSAGES[1:]},
}  # fmt: skip


class AnsweringChannel:
    """Answers each request that can be decoded."""

    def __init__(self) -> None:
        self._events: queue.Queue[protocol.Event | None] = queue.Queue()
        now = protocol.NowLoaded(loaded=loaded(0), by=protocol.Load(id=1))
        self._events.put(protocol.Ready(engine_version="0", pid=1, now=now))

    def post(self, request: protocol.Request) -> None:
        data = protocol.encode(request)
        try:
            match protocol.decode_request(data):
                case protocol.Chat(id=id):
                    self._events.put(protocol.TextDelta(request=id, text="Hello.", tokens=3))
                    self._events.put(answer(id))
                case protocol.Count(id=id):
                    self._events.put(protocol.Counted(id, 12))
                case protocol.Load(id=id):
                    self._events.put(loaded(id))
        except ValueError as error:
            failed = protocol.Failed(
                request=protocol.id_of(data), kind="bad_option", message=str(error), hint="", loaded=True
            )
            self._events.put(failed)

    def close(self) -> None:
        self._events.put(None)

    def events(self) -> Iterator[protocol.Event]:
        while (event := self._events.get()) is not None:
            yield event


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    options = SiteOptions(load=protocol.Load(id=0), key="key", hosts=("127.0.0.1",), switches=True)

    def once(random: Random) -> Outcome:
        path, body = random.choice(list(BODIES.items()))
        content = (
            spoiled(body, random) if random.random() < 0.8 else damaged(json.dumps(body).encode(), random)
        )
        headers = dict(HEADERS)
        if random.random() < 0.2:
            name = random.choice(list(headers))
            headers[name] = damaged(headers[name].encode(), random)
        return asyncio.run(_asked(options, path, content, headers))

    yield once


async def _asked(options: SiteOptions, path: str, content: bytes, headers: dict[str, Any]) -> Outcome:
    engine = EngineClient(AnsweringChannel)
    transport = httpx2.ASGITransport(Site(options, engine).app)
    try:
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8484") as client:
            response = await client.post(path, content=content, headers=headers)
    finally:
        await engine.close()
    if response.status_code == 200:
        return SURVIVED
    message = response.json()["error"]["message"]
    if response.status_code not in EXPECTED or not message:
        return Outcome(Verdict.RAW, f"{path}: status {response.status_code}: {message[:100]}")
    return Outcome(Verdict.NAMED, message[:100])
