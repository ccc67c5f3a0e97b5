"""Clients of one server that ask at the same time, and leave whenever they like."""

import asyncio
import socket
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from urllib.parse import urlsplit

import httpx2

from tests.engine.server.conftest import RunningServer
from tests.soak.questions import (
    BAD_BODIES,
    BAD_STATUSES,
    CHAT,
    FORMED_TOKENS,
    PATHS,
    EventReader,
    Question,
    text_of,
    tokens_of,
)

PATIENCE_S = 300.0  # other programs may keep the machine busy
JSON = {"content-type": "application/json"}
CONTENTS = (
    "Name a river.",
    "What is a comet?",
    "Count to nine.",
    "Why do people like bread?",
    "Say winter in French.",
)
LONGEST = FORMED_TOKENS  # tokens of any answer
MOST_PATIENT_S = 1.5  # of a client that leaves
MOST_PAUSE_S = 0.5  # between two requests of a client
SLOW_NBYTES = 4096  # what a slow client takes at once
BULKY = {"logprobs": True, "top_logprobs": 20}


@dataclass(slots=True)
class Tally:
    """What has become of the requests.

    answers: questions whose answers have been read to their end, with the texts. tokens: of those answers.
    counts: the other requests: "left" by the client, "refused" because the queue was full, "wrong" as they
    should be refused. statuses: how many complete answers there were by path and status.
    """

    answers: list[tuple[Question, str]] = field(default_factory=list)
    tokens: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)


class Client:
    """Asks one question after another. is_slow: whether it reads its answers slowly, and all to the end."""

    def __init__(self, server: RunningServer, random: Random, tally: Tally, *, is_slow: bool) -> None:
        self._server, self._random, self._tally, self._is_slow = server, random, tally, is_slow
        self._kinds: dict[Callable[[httpx2.AsyncClient], Awaitable[None]], int] = {
            self._ask_whole: 4,
            self._ask_streamed: 4,
            self._leave: 4,
            self._leave_in_request: 1,
            self._ask_wrongly: 2,
        }

    async def ask(self, number: int) -> None:
        """Ask so many questions, and close all connections."""
        options = [(socket.SOL_SOCKET, socket.SO_RCVBUF, SLOW_NBYTES)] if self._is_slow else None
        transport = httpx2.AsyncHTTPTransport(socket_options=options)
        async with httpx2.AsyncClient(
            base_url=self._server.address, timeout=PATIENCE_S, transport=transport
        ) as http:
            for _ in range(number):
                (act,) = self._random.choices(list(self._kinds), list(self._kinds.values()))
                await (self._ask_streamed if self._is_slow else act)(http)
                await asyncio.sleep(MOST_PAUSE_S * self._random.random())

    def _question(self) -> Question:
        content = self._random.choice(CONTENTS)
        sampled = self._random.random() < 0.5
        question = Question(
            self._random.choice(PATHS),
            content,
            max_tokens=6 + 2 * len(content) % 12,
            temperature=0.8 if sampled else 0.0,
            seed=self._random.randrange(2) if sampled else 0,
            is_formed=self._random.random() < 0.2,
        )
        return Question(CHAT, content, max_tokens=40) if self._is_slow else question

    # -- to the end ------------------------------------------------------------------------------------------

    async def _ask_whole(self, http: httpx2.AsyncClient) -> None:
        question = self._question()
        answered = await http.post(question.path, json=question.body(self._server.model))
        if not await self._is_refused(question, answered):
            whole = answered.json()
            self._note(question, text_of(question.path, whole), tokens_of(question.path, whole))

    async def _ask_streamed(self, http: httpx2.AsyncClient) -> None:
        question = self._question()
        body = question.body(self._server.model, stream=True, **(BULKY if self._is_slow else {}))
        reader = EventReader(question.path)
        async with http.stream("POST", question.path, json=body) as response:
            if await self._is_refused(question, response):
                return
            async for line in response.aiter_lines():
                reader.take(line)
                if self._is_slow:
                    await asyncio.sleep(0.02)
        assert reader.has_ended, f"{question}: {reader.text} {reader.fault}"
        self._note(question, reader.text, reader.tokens)

    async def _is_refused(self, question: Question, response: httpx2.Response) -> bool:
        """Return whether the queue was full."""
        self._tally.statuses[question.path, response.status_code] += 1
        if response.status_code == 200:
            return False
        await response.aread()
        assert response.status_code == 429, f"{question}: {response.text}"
        assert int(response.headers["retry-after"]) > 0
        self._tally.counts["refused"] += 1
        return True

    def _note(self, question: Question, text: str, tokens: int) -> None:
        self._tally.answers.append((question, text))
        self._tally.tokens += tokens

    # -- not to the end --------------------------------------------------------------------------------------

    async def _leave(self, http: httpx2.AsyncClient) -> None:
        """Ask, and close the connection after a random time, wherever the answer is then."""
        act = self._random.choice((self._ask_whole, self._ask_streamed))
        patience_s = MOST_PATIENT_S * self._random.random() ** 2
        asked = asyncio.create_task(act(http))
        await asyncio.wait((asked,), timeout=patience_s)
        if asked.cancel():
            self._tally.counts["left"] += 1
        await asyncio.wait((asked,))
        if not asked.cancelled():
            asked.result()

    async def _leave_in_request(self, http: httpx2.AsyncClient) -> None:
        """Close the connection in the middle of the headers or of the body."""
        address = urlsplit(self._server.address)
        path = self._random.choice(PATHS)
        head = f"POST {path} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
        request = f'{head}Content-Length: 1000\r\n\r\n{{"model": "'.encode()
        _, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(request[: self._random.randrange(1, len(request) + 1)])
        await writer.drain()
        await asyncio.sleep(0.1 * self._random.random())
        writer.close()
        await writer.wait_closed()
        self._tally.counts["left"] += 1

    async def _ask_wrongly(self, http: httpx2.AsyncClient) -> None:
        path = self._random.choice(PATHS)
        question = Question(path, CONTENTS[0])
        wrong = self._random.choice((
            {"content": self._random.choice(BAD_BODIES), "headers": JSON},
            {"json": question.body("no-such-model")},
            {"json": question.body(self._server.model, magic=1)},
            {"json": question.body(self._server.model, top_p=7.0)},
            {"json": question.body(self._server.model, structured_outputs={"json": {"not": {}}})},
            {"json": Question(path, "word " * 3000).body(self._server.model)},
        ))  # fmt: skip
        refused = await http.post(path, **wrong)
        if refused.status_code != 429:  # the engine finds some of them, for which they have to wait
            assert refused.status_code in BAD_STATUSES, refused.text
        self._tally.statuses[path, refused.status_code] += 1
        self._tally.counts["wrong" if refused.status_code != 429 else "refused"] += 1
