"""Damaged and distorted recorded runs: they are shown on the panel, or the damage is named."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from PySide6.QtWidgets import QApplication

from app.panel.panel import Panel
from app.startup import replay
from engine.cli.trace import lines, summary
from engine.protocol import trace
from tests.app.panel import recorded
from tests.campaign.attack import SURVIVED, Outcome, Try
from tests.campaign.mutation import damaged, distorted

FIXED = 25
EVENTS = 40  # of the recorded run; enough to have each kind


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    app = QApplication.instance() or QApplication(["campaign"])
    content = Path(recorded.__file__).with_name("run.jsonl").read_bytes().splitlines()
    written = [*content[: EVENTS + 1], content[-1]]
    file = folder / "run.jsonl"
    panel = Panel()
    panel.resize(620, 800)
    panel.show()

    def once(random: Random) -> Outcome:
        mutated = list(written)
        for _ in range(random.choice((1, 1, 3))):
            number = random.choice((0, random.randrange(len(mutated)), len(mutated) - 1))
            if random.random() < 0.8:
                mutated[number] = _distorted(written[number], random)
            else:
                mutated[number] = damaged(mutated[number], random)
        file.write_bytes(b"\n".join(mutated) + b"\n")
        read = trace.read(file)
        list(lines(read))
        summary(read)
        panel.show_loaded(read.header.loaded)
        for timed in read.events:
            replay.show(panel, timed.event)
        panel.grab()
        app.processEvents()
        return SURVIVED

    yield once
    panel.close()


def _distorted(line: bytes, random: Random) -> bytes:
    try:
        return json.dumps(distorted(json.loads(line), random)).encode()
    except RecursionError:  # deeper than Python writes
        return b"[" * 100_000
