"""Windows killed while they store a chat: every message that was acknowledged is there afterwards."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from app.store import Store
from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict
from tests.campaign.processes import ROOT

FIXED = 4
LIMIT_S = 100.0
# Prints the id and the text of each message once the store has it, and “…” while an answer grows.
WRITER = """
import sys, time
from pathlib import Path
from app.store import Store
from tests.app.store.made import PAIR, SETTINGS, answer
store = Store(Path(sys.argv[1]))
chat = store.chats.create(SETTINGS)
after = None
number = 0
print("writes", flush=True)
while True:
    number += 1
    text = f"question {number} " * 20
    question = store.messages.ask(chat, text, after)
    print(question, text, sep="|", flush=True)
    growing = store.messages.answer(question, SETTINGS, PAIR)
    for word in range(number % 40):
        growing.add(f"word {word} " * 50)
        if number % 5 == 0:
            time.sleep(0.02)
    text = f"answer {number} " * 200
    growing.finish(answer(text))
    print(growing.id, text, sep="|", flush=True)
    after = growing.id
"""


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    def once(random: Random) -> Outcome:
        with TemporaryDirectory(dir=folder) as home:
            path = Path(home) / "conversations.sqlite"
            known: dict[int, str] = {}
            for _ in range(random.choice((1, 1, 2))):  # the second window opens what the first one left
                known |= write(path, random)
            return compare(path, known)

    yield once


def write(path: Path, random: Random) -> dict[int, str]:
    """Write to the store in a process that is killed; return the messages that it had acknowledged."""
    number = random.choice((signal.SIGKILL, signal.SIGTERM))
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], cwd=ROOT, stdout=subprocess.PIPE)
    with writer:
        assert writer.stdout
        writer.stdout.readline()
        threading.Timer(random.uniform(0, 1.2), writer.send_signal, [number]).start()
        lines = [line.decode().rstrip("\n") for line in writer.stdout if line.endswith(b"\n")]
    return {int(message): text for message, _, text in (line.partition("|") for line in lines)}


def compare(path: Path, known: dict[int, str]) -> Outcome:
    store = Store(path)
    try:
        if store.damage:
            return Outcome(Verdict.RAW, store.damage.message)
        stored = {
            message.id: message for line in store.chats.recent() for message in store.messages.all(line.id)
        }
    finally:
        store.close()
    gone = [number for number, text in known.items() if number not in stored or stored[number].text != text]
    if gone:
        return Outcome(Verdict.LOST, f"{len(gone)} of {len(known)} acknowledged messages")
    if any(message.state == "streaming" for message in stored.values()):
        return Outcome(Verdict.LOST, "an answer seems to grow for ever")
    return SURVIVED
