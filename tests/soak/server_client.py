"""A program that asks `specexec serve` and waits for each answer."""

import time

import httpx2

from tests.engine.server.conftest import RunningServer
from tests.soak.questions import EventReader, Question, text_of

PATIENCE_S = 300.0  # other programs may keep the machine busy


class ServerClient:
    """Asks `server`; every answer is a connection of its own."""

    def __init__(self, server: RunningServer) -> None:
        self.server = server

    def connected(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.server.address, timeout=PATIENCE_S)

    def ask_whole(self, question: Question) -> str:
        with self.connected() as http:
            answered = http.post(question.path, json=question.body(self.server.model))
            assert answered.status_code == 200, answered.text
            return text_of(question.path, answered.json())

    def ask_streamed(self, question: Question, most_events: int | None = None) -> str:
        """Return the text. most_events: leave after so many lines."""
        body = question.body(self.server.model, stream=True)
        reader = EventReader(question.path)
        with self.connected() as http, http.stream("POST", question.path, json=body) as response:
            assert response.status_code == 200
            for number, line in enumerate(response.iter_lines(), 1):
                reader.take(line)
                if number == most_events:
                    return reader.text
        assert reader.has_ended, reader.fault
        return reader.text

    def wait_until_idle(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        with self.connected() as http:
            while http.get("/health").json() != {"status": "ok", "waiting": 0}:
                assert time.monotonic() < deadline, "the server does not become idle"
                time.sleep(0.02)
