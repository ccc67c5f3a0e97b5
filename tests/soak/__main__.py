"""The command line of the soak. Exit status: 1 if anything grows without a bound, else 0."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import psutil
from msgspec import structs
from PySide6.QtTest import QTest

from app.preferences import NEW_CHATS, LoadPreferences, PreferencesFile
from app.startup.application import make_application
from app.store import SavedOptions, Store
from app.window.arguments import Arguments
from app.window.core import Core
from app.window.window import Window
from engine import catalog
from tests.app.drive_window import Person
from tests.engine.server.conftest import running
from tests.soak.acts import ACTS, Sitting, shuffled
from tests.soak.judge import MIB, Sample, growing, table
from tests.soak.samples import Meter
from tests.soak.server_acts import SERVER_ACTS
from tests.soak.server_client import ServerClient

MAX_NEW_TOKENS = 12  # so that 200 questions fit the context of 8,192 tokens
PROMPT_CACHE_GIB = 48 / 1024  # full in the first half, so that the second shows what giving way costs
PATIENCE_MS = 300_000  # other programs may keep the machine busy
SAY_EVERY_S = 60.0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=40.0, help="shortest time (default: 40)")
    parser.add_argument("--questions", type=int, default=200, help="default: 200")
    parser.add_argument("--seed", type=int, default=1, help="seed of the acts (default: 1)")
    given = parser.parse_args(arguments)
    make_application()
    with tempfile.TemporaryDirectory() as folder:
        samples = soak(Path(folder), given.minutes, given.questions, given.seed, say)
    print("\n".join(table(samples)))
    too_much = growing(samples)
    print(f"grows without a bound: {', '.join(too_much)}" if too_much else "nothing grows without a bound")
    return 1 if too_much else 0


def soak(folder: Path, minutes: float, questions: int, seed: int, say: Callable[[str], None]) -> list[Sample]:
    """Ask the questions, spread over the minutes, and return the sample after each of them. Ctrl-C ends it
    after the question at hand."""
    random = Random(seed)
    runtime = folder / "run"
    runtime.mkdir(mode=0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)  # where the server finds the window's engine, and no other
    store = Store(folder / "conversations.sqlite")
    preferences = PreferencesFile(folder / "settings.toml")
    brief = SavedOptions(max_new_tokens=MAX_NEW_TOKENS)
    preferences.change(
        new_chats=structs.replace(NEW_CHATS, options=brief),
        loading=LoadPreferences(prompt_cache=PROMPT_CACHE_GIB),
        theme="light",
    )
    window = Window(Core(Arguments(), store, preferences))
    meter = Meter(store.path)
    window.engine.loaded.connect(meter.note_load)
    window.chat.answered.connect(meter.note_answer)
    window.start()
    person = Person(window, store, preferences, folder)
    person.patience_ms = PATIENCE_MS
    with running(runtime) as server:
        meter.server = psutil.Process(server.process.pid)
        sitting = Sitting(person, ServerClient(server), random, second_model(folder))
        samples = sit(sitting, meter, minutes, questions, say)
    person.leave()
    store.close()
    return samples


def sit(
    sitting: Sitting, meter: Meter, minutes: float, questions: int, say: Callable[[str], None]
) -> list[Sample]:
    """Ask the questions, each followed by an act. For arguments and result see `soak`."""
    chosen = (*ACTS, *SERVER_ACTS)
    samples: list[Sample] = []
    asked_to_end: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: asked_to_end.append(number))
    done: Counter[str] = Counter()
    said = 0.0
    for number, act in zip(range(1, questions + 1), shuffled(chosen, sitting.random), strict=False):
        sitting.ask()
        act(sitting)
        done[act.__name__] += 1
        del sitting.person.answers[:-1], sitting.person.loads[:]
        rest_s = 60 * (minutes * number / questions - meter.minutes)
        QTest.qWait(max(200, int(1000 * rest_s)))
        samples.append(meter.sample(number))
        if number in (1, questions) or time.monotonic() - said > SAY_EVERY_S:
            said = time.monotonic()
            say(line(samples[-1]))
        if asked_to_end:
            break
    say(", ".join(f"{name} {done[name]}" for name in (act.__name__ for act in chosen)))
    return samples


def second_model(folder: Path) -> Path:
    """Return a copy of the embedded model: as target and draft, it is a pair that the engine has to load."""
    copy = folder / "second.gguf"
    shutil.copyfile(catalog.resolve(catalog.default_target()), copy)
    return copy


def line(sample: Sample) -> str:
    return (
        f"minute {sample.minute:.1f}, question {sample.question}: "
        f"window {sample.window_nbytes / MIB:.1f} MiB, engine {sample.engine_nbytes / MIB:.1f} MiB, "
        f"server {sample.server_nbytes / MIB:.1f} MiB, "
        f"{sample.objects:,.0f} objects, {sample.qobjects:,.0f} QObjects"
    )


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
