"""Four clients of one server that ask at the same time, with random disconnects.

    python -m tests.soak.clients [--requests 600] [--clients 4] [--round 30] [--seed 1]

They speak the four interfaces of `specexec serve`, take answers whole or as events, greedy or sampled, some
in the form of a schema; some requests are wrong, some come when the queue is full, many clients leave before
the end, and one client reads slowly. After each round, when all have left, the server and its engine must be
idle, and what /health and /metrics say must agree with what the clients know; then memory, threads, handles
and processes are measured. At the end, every answer that was read to its end is asked for again, alone and
by plain decoding, and must be the same. Exit status: 1 if one differs or anything grows without a bound.
"""

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import psutil

from tests.engine.server.conftest import RunningServer, running
from tests.processes import engine_of, handles, own_nbytes
from tests.soak.crowd import LONGEST, PATIENCE_S, Client, Tally
from tests.soak.judge import MIB, SERVER_LIMITS, ServerSample, growing, table
from tests.soak.questions import CHAT, TEXT, Question, satisfies_schema, text_of

MOST_WAITING = 2  # so that four clients fill the queue now and then
IDLE_S = 0.5  # for which the processor time of an idle process is watched
MOST_IDLE_S = 0.05  # of processor time in IDLE_S


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.clients", description=__doc__)
    parser.add_argument("--requests", type=int, default=600, help="default: 600")
    parser.add_argument("--clients", type=int, default=4, help="at the same time (default: 4)")
    parser.add_argument("--round", type=int, default=30, help="requests between two samples (default: 30)")
    parser.add_argument("--seed", type=int, default=1, help="seed of what the clients do (default: 1)")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        runtime = Path(folder, "run")
        with running(runtime, "--most-waiting", str(MOST_WAITING)) as server:
            engine = engine_of(psutil.Process(server.process.pid))
            soak = ClientsSoak(server, given.clients, Random(given.seed), say)
            samples = soak.run(given.requests, given.round)
            wrong = soak.wrong_answers()
        engine.wait(10)  # it ends with its last client
    say(summary(soak.tally))
    say("\n".join(table(samples, SERVER_LIMITS)))
    for question, text, alone in wrong:
        say(f"{question}: {text!r}, but alone {alone!r}")
    too_much = growing(samples, SERVER_LIMITS)
    say(f"grows without a bound: {', '.join(too_much)}" if too_much else "nothing grows without a bound")
    return 1 if too_much or wrong else 0


class ClientsSoak:
    """The clients of one server. `tally`: what has become of their requests."""

    def __init__(
        self, server: RunningServer, clients: int, random: Random, say: Callable[[str], None]
    ) -> None:
        self.tally = Tally()
        self._server, self._say = server, say
        self._process = psutil.Process(server.process.pid)
        self._engine = engine_of(self._process)
        self._began = time.monotonic()
        self._clients = [
            Client(server, Random(random.random()), self.tally, is_slow=number == 0)
            for number in range(clients)
        ]

    def run(self, requests: int, round: int) -> list[ServerSample]:
        """Let the clients ask, and return a sample for each round of requests."""
        samples = []
        for asked in range(round, requests + 1, round):
            asyncio.run(self._ask(round))
            self._wait_until_idle()
            check_metrics(self._metrics(), self.tally)
            samples.append(self._sample(asked))
            self._say(line(samples[-1]))
        return samples

    async def _ask(self, requests: int) -> None:
        number = len(self._clients)
        shares = [(requests + place) // number for place in range(number)]
        async with asyncio.TaskGroup() as group:
            for client, share in zip(self._clients, shares, strict=True):
                group.create_task(client.ask(share))

    def _wait_until_idle(self) -> None:
        """Wait until the server says that nothing is asked, and it and the engine take no processor time."""
        deadline = time.monotonic() + PATIENCE_S
        with self._server.client() as http:
            while http.get("/health").json() != {"status": "ok", "waiting": 0}:
                assert time.monotonic() < deadline, "the server does not become idle"
                time.sleep(0.05)
        while self._busy_s() > MOST_IDLE_S:
            assert time.monotonic() < deadline, "the engine does not become idle"

    def _busy_s(self) -> float:
        before = [sum(process.cpu_times()[:2]) for process in (self._process, self._engine)]
        time.sleep(IDLE_S)
        after = [sum(process.cpu_times()[:2]) for process in (self._process, self._engine)]
        return sum(after) - sum(before)

    def _metrics(self) -> dict[str, float]:
        with self._server.client() as http:
            text = http.get("/metrics").text
        pairs = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _, value in pairs}

    def _sample(self, question: int) -> ServerSample:
        return ServerSample(
            minute=(time.monotonic() - self._began) / 60,
            question=question,
            server_nbytes=own_nbytes(self._process),
            engine_nbytes=own_nbytes(self._engine),
            server_handles=handles(self._process),
            engine_handles=handles(self._engine),
            server_threads=self._process.num_threads(),
            engine_threads=self._engine.num_threads(),
            processes=len(self._process.children(recursive=True)),
        )

    # -- answers ---------------------------------------------------------------------------------------------

    def wrong_answers(self) -> list[tuple[Question, str, str]]:
        """Ask each question again, alone, by plain decoding and through one interface; return the questions
        whose answers differ, with both texts."""
        alone: dict[Question, str] = {}
        wrong = []
        before = self._metrics()
        with self._server.client() as http:
            for question, text in self.tally.answers:
                key = question if question.path == TEXT else replace(question, path=CHAT)
                if key not in alone:
                    body = key.body(self._server.model, drafter="none")
                    alone[key] = text_of(key.path, http.post(key.path, json=body).json())
                if text != alone[key] or (question.is_formed and not satisfies_schema(text)):
                    wrong.append((question, text, alone[key]))
        name = "vllm:spec_decode_num_draft_tokens_total"
        assert self._metrics()[name] == before[name], "plain decoding drafts nothing"
        return wrong


def check_metrics(metrics: Mapping[str, float], tally: Tally) -> None:
    """Raise AssertionError unless the server has counted what the clients know. Requests that were left may
    be counted or not, all others are counted once."""
    left = tally.counts["left"]
    assert metrics["specexec_requests_running"] == 0
    counted = metrics["vllm:generation_tokens_total"]
    assert tally.tokens <= counted <= tally.tokens + left * LONGEST, f"tokens: {tally.tokens}, {counted}"
    found: Counter[tuple[str, int]] = Counter()
    for name, value in metrics.items():
        if labels := re.fullmatch(r'specexec_requests_total{path="(/v1/.*)",status="(\d+)"}', name):
            found[labels[1], int(labels[2])] = int(value)
    missed, surplus = tally.statuses - found, found - tally.statuses
    assert not missed, f"not counted: {missed}"
    assert surplus.total() <= left, f"counted, but not asked: {surplus}"


def summary(tally: Tally) -> str:
    kinds = Counter(question.path for question, _ in tally.answers)
    answers = ", ".join(f"{kinds[path]} {path}" for path in sorted(kinds))
    others = ", ".join(f"{count} {kind}" for kind, count in sorted(tally.counts.items()))
    return f"{len(tally.answers)} answers read to the end ({answers}), {tally.tokens} tokens; {others}"


def line(sample: ServerSample) -> str:
    return (
        f"minute {sample.minute:.1f}, request {sample.question}: "
        f"server {sample.server_nbytes / MIB:.1f} MiB, {sample.server_handles:.0f} handles, "
        f"engine {sample.engine_nbytes / MIB:.1f} MiB, {sample.engine_handles:.0f} handles"
    )


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
