"""Engines killed while they start, load, read a prompt or decode: reported at once; the next one answers.

Each try kills one engine and asks the next one, as a window would. Some tries stream the models.
"""

import os
import secrets
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

from engine import protocol
from engine.errors import EngineGone
from engine.protocol import EngineConnection, Message, Options
from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict, judged_error
from tests.campaign.processes import MARK, QUESTION, WORD, left_behind

FIXED = 3
LIMIT_S = 240.0
REPORT_S = 3.0  # from the kill to the event that reports it
MOMENTS = {"start": 0.4, "load": 1.0, "prefill": 0.5, "decode": 0.6}  # seconds until the kill, at most
LONG = "Repeat this: " + "the sea is wide and the sky is high, " * 60


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    temporary = folder / "temporary"
    temporary.mkdir()
    os.environ["TMPDIR"] = str(temporary)
    before = set(Path("/dev/shm").iterdir())

    def once(random: Random) -> Outcome:
        mark = os.environ[MARK] = secrets.token_hex(8)
        try:
            outcome = kill(random)
        finally:
            left = left_behind(mark)
        left += [str(file) for file in (*temporary.iterdir(), *(set(Path("/dev/shm").iterdir()) - before))]
        return Outcome(Verdict.RAW, f"left over: {left}; {outcome.what}") if left else outcome

    yield once


class Killed:
    """An engine to be killed. `at`: when the signal was sent."""

    def __init__(self, connection: EngineConnection, random: Random) -> None:
        self.at = 0.0
        self._pid = connection.pid
        self._signals = random.choice(
            ((signal.SIGKILL,), (signal.SIGTERM,), (signal.SIGSTOP, signal.SIGKILL))
        )
        self.name = "+".join(each.name for each in self._signals)

    def after(self, seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds, self._kill)
        timer.start()
        return timer

    def _kill(self) -> None:
        for number in self._signals:
            self.at = time.monotonic()
            with suppress(ProcessLookupError):
                os.kill(self._pid, number)
            if number == signal.SIGSTOP:
                time.sleep(0.1)


def kill(random: Random) -> Outcome:
    moment, wait_s = random.choice([(name, random.uniform(0, most)) for name, most in MOMENTS.items()])
    load = protocol.Load(id=1, context=2048, ram_limit=random.choice((None, 0.05)))
    connection = EngineConnection.start()
    killed = Killed(connection, random)
    events = connection.events()
    began = threading.Event()
    timers: list[threading.Timer] = []

    def reached(name: str) -> None:
        if name == moment and not began.is_set():
            began.set()
            timers.append(killed.after(wait_s))

    what = f"{moment}, {killed.name}: "
    last: protocol.Event | None = None
    reached("start")
    try:
        for last in events:
            match last:
                case protocol.Ready():
                    reached("load")
                    connection.post(load)
                case protocol.Loaded():
                    reached("prefill")
                    ask(connection, LONG, 400)
                case protocol.TextDelta():
                    reached("decode")
                case protocol.Answer() | protocol.Failed():  # done before the signal came: asked again
                    reached("decode")
                    ask(connection, LONG, 400)
    except EngineGone as error:
        last = None
        if (outcome := judged_error(error)).verdict.harmful or moment != "start":
            return Outcome(Verdict.RAW, what + outcome.what)
    finally:
        for timer in timers:
            timer.join()
    took_s = time.monotonic() - killed.at
    if took_s > REPORT_S:
        return Outcome(Verdict.RAW, f"{what}reported after {took_s:.1f} s")
    smaller = False
    if last is not None:
        if not isinstance(last, protocol.EngineLost) or not last.message or not last.hint:
            return Outcome(Verdict.RAW, f"{what}the last event is {last}")
        smaller = last.killed
        if smaller != (killed.name != "SIGTERM"):
            return Outcome(Verdict.RAW, f"{what}reported as {last}")
    return next_one(load, smaller, what)


def next_one(load: protocol.Load, smaller: bool, what: str) -> Outcome:
    """Start the next engine as the window does, with a smaller plan if the system killed the last one."""
    connection = EngineConnection.start()
    try:
        for event in connection.events():
            match event:
                case protocol.Ready():
                    connection.post(
                        protocol.Load(
                            id=1, context=load.context, ram_limit=load.ram_limit, smaller=int(smaller)
                        )
                    )
                case protocol.Loaded():
                    if smaller and load.ram_limit is None and event.smaller_plan is None:
                        return Outcome(Verdict.RAW, f"{what}the next plan is as large as before")
                    ask(connection, QUESTION, 8)
                case protocol.Answer():
                    right = WORD in event.text
                    return SURVIVED if right else Outcome(Verdict.LOST, f"{what}answered {event.text!r}")
                case protocol.Failed() | protocol.EngineLost():
                    return Outcome(Verdict.RAW, f"{what}the next engine: {event}")
        return Outcome(Verdict.RAW, f"{what}the next engine ended")
    finally:
        connection.close()


def ask(connection: EngineConnection, text: str, tokens: int) -> None:
    options = Options(max_new_tokens=tokens)
    connection.post(protocol.Chat(id=2, messages=[Message("user", text)], options=options))
