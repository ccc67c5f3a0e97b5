"""Downloads killed again and again: the next one goes on where the last one was, and the files are right."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict
from tests.engine.hub.conftest import ID, asked, content
from tests.engine.hub.killed import bring
from tests.engine.hub.lying_hub import LyingHub, Offered

FIXED = 4
LIMIT_S = 100.0
NBYTES = 3 << 20
SPEED = 6e6  # bytes per second


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.engine.hub.killed"])  # a kill then hits the download
    hub = LyingHub()

    def once(random: Random) -> Outcome:
        with TemporaryDirectory(dir=folder) as models:
            return kill(Path(models), random)

    def kill(models: Path, random: Random) -> Outcome:
        whole = content(NBYTES, random.randrange(1 << 30))
        cut = random.randrange(1, NBYTES)
        index = {"config.json": b"{}", "model.safetensors.index.json": b"{}"}
        parts = {
            "model-00001-of-00002.safetensors": whole[:cut],
            "model-00002-of-00002.safetensors": whole[cut:],
        }
        hub.repositories[ID] = Offered({**index, **parts})
        hub.bytes_per_s = SPEED
        wanted = asked(hub)
        before = hub.sent_nbytes
        kills = random.randint(1, 5)
        for _ in range(kills):
            process = context.Process(target=bring, args=(wanted, str(models), hub.endpoint), daemon=True)
            process.start()
            process.join(random.uniform(0, 0.4))
            with suppress(ProcessLookupError):
                os.kill(process.pid or 0, random.choice((signal.SIGKILL, signal.SIGTERM)))
            process.join()
            if process.exitcode == 0:
                break
            if (models / ID / "config.json").exists():  # it gets its name last: now all others must be whole
                if wrong := differing(models):
                    return Outcome(Verdict.LOST, f"a killed download seems to be complete, but not {wrong}")
                break
        hub.bytes_per_s = 0
        process = context.Process(target=bring, args=(wanted, str(models), hub.endpoint), daemon=True)
        process.start()
        process.join(60)
        if process.exitcode != 0:
            process.kill()
            return Outcome(Verdict.RAW, f"after {kills} kills, the download ended with {process.exitcode}")
        if wrong := differing(models):
            return Outcome(Verdict.LOST, f"after {kills} kills, {wrong} differ")
        again = hub.sent_nbytes - before - NBYTES
        if again > kills * (2 << 20):
            return Outcome(Verdict.RAW, f"{kills} kills cost {again >> 10} KiB, downloaded twice")
        return SURVIVED

    def differing(models: Path) -> list[str]:
        """Return the files that are not as the Hub has them."""
        paths = {models / ID / name: expected for name, expected in hub.repositories[ID].files.items()}
        return [path.name for path, text in paths.items() if not path.exists() or path.read_bytes() != text]

    try:
        yield once
    finally:
        hub.close()
