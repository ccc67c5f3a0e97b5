"""Damaged settings and other small files of this program: it starts, with what is sound or with the defaults.

A setting that is changed afterwards is kept.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import tomli_w

from app import preferences
from app.panel import calibration
from app.preferences import (
    LoadPreferences,
    Preferences,
    PreferencesFile,
    RecentPair,
    WindowState,
    load_request,
)
from app.store import ChatSettings, SavedOptions, presets
from engine import catalog
from engine.launch import interpreter
from engine.machine import stored_speeds
from engine.planner import corrections
from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict
from tests.campaign.mutation import TEXTS, damaged, distorted, spoiled

FIXED = 100
CHOSEN = Preferences(
    theme="dark",
    language="ko",
    updates=True,
    package_proxy="http://proxy:3128",
    loading=LoadPreferences(vram_limit=8.5, ram_limit=3.0, device="cpu"),
    new_chats=ChatSettings(system="Be brief.", context=4096, options=SavedOptions(seed=7, stop=["\n\n"])),
    recent_pairs=[RecentPair("coder", "auto"), RecentPair(None, "none")],
    window=WindowState(geometry=b"\x00\xff", splitters={"main": [200, 600]}, folded=["today"]),
)
SETTINGS = preferences._merged({}, CHOSEN)
FACTORS = {"acceptance": 1.0, "drafting": 2.0, "verifying": 0.5, "choosing": 1.0}
OBSERVED = {"target": "a", "draft": "b", "device": "cpu", **FACTORS}
SPEEDS = {
    "disks": {"/": {"gb_per_s": 2.5, "direct": True, "measured": "2026-01-01T00:00:00Z"}},
    "links": {"uuid": {"gb_per_s": 12.0, "measured": "2026-01-01T00:00:00Z"}},
}
PRESET = {"format": "specexec-preset", "version": 1, "name": "Mine", "settings": SETTINGS["new_chats"]}


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    os.environ.pop(catalog.MODELS_VARIABLE, None)
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        os.environ[name] = str(folder / name)
    attacks = (settings, settings, models_folder, preset, own_documents, runtime)

    def once(random: Random) -> Outcome:
        with TemporaryDirectory(dir=folder) as home:
            return random.choice(attacks)(Path(home), random)

    yield once


def settings(home: Path, random: Random) -> Outcome:
    path = home / "settings.toml"
    path.write_bytes(spoiled_toml(random))
    file = PreferencesFile(path)
    if file.error is not None and not (file.error.hint and file.error.message):
        return Outcome(Verdict.RAW, "an error without a next step")
    now = file.now
    load_request(RecentPair("x"), now.new_chats.context, now.loading)
    file.change(theme="light")
    file.remember_pair(RecentPair("other"))
    again = PreferencesFile(path)
    if again.error or again.now.theme != "light" or again.now.recent_pairs[0] != RecentPair("other"):
        return Outcome(Verdict.LOST, f"a changed setting was not kept: {again.error}")
    if again.now.new_chats != now.new_chats or again.now.loading != now.loading:
        return Outcome(Verdict.LOST, "settings that were read changed when they were written")
    return SURVIVED


def spoiled_toml(random: Random) -> bytes:
    if random.random() < 0.1:
        depth = random.choice((50, 400, 5000))
        return (
            b"theme = " + b"[" * depth + b"]" * depth
            if random.random() < 0.5
            else b"a" + b".a" * depth + b" = 1"
        )
    try:
        text = tomli_w.dumps(distorted(SETTINGS, random)).encode()
    except (TypeError, AttributeError, ValueError, RecursionError):  # TOML has no None, no list at the top
        text = tomli_w.dumps(SETTINGS).encode()
    return damaged(text, random) if random.random() < 0.6 else text


def models_folder(home: Path, random: Random) -> Outcome:
    """Only a whole path counts; anything else is the folder that the program would choose."""
    kept = catalog.local._kept_folder()
    kept.parent.mkdir(parents=True, exist_ok=True)
    text = random.choice(TEXTS).encode("utf-8", "surrogatepass")
    kept.write_bytes(
        random.choice((text, damaged(b"/home/me/models", random), b"/x" * random.randrange(70_000)))
    )
    folder = catalog.models_folder()
    with suppress(OSError):
        folder.exists()
    if not folder.is_absolute():
        return Outcome(Verdict.LOST, f"the models are looked for in {str(folder)[:50]!r}")
    catalog.keep_models_folder(home / "m\udcff")
    if catalog.models_folder() != home / "m\udcff":
        return Outcome(Verdict.LOST, "a chosen folder was not kept")
    return SURVIVED


def preset(home: Path, random: Random) -> Outcome:
    path = home / "preset.json"
    path.write_bytes(spoiled(PRESET, random))
    path.write_bytes(presets.to_file(presets.from_file(path)))
    presets.from_file(path)
    return SURVIVED


def own_documents(home: Path, random: Random) -> Outcome:
    """Measurements that count as missing when they are damaged."""
    answers = {"answers": [OBSERVED]}
    files: list[tuple[Path, Any, Callable[[], object]]] = [
        (stored_speeds._file(), SPEEDS, stored_speeds.read),
        (corrections._file(), answers, corrections.history),
        (calibration.file(), {"tokens_per_second": {"a": 1.5}}, calibration._read),
    ]
    path, sound, read = random.choice(files)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(spoiled(sound, random))
    read()
    return SURVIVED


def runtime(home: Path, random: Random) -> Outcome:
    """A damaged description of the runtime is no runtime; a runtime lies in its folder."""
    folder = interpreter.runtimes_folder()
    (folder / "cpu-1").mkdir(parents=True, exist_ok=True)
    sound = {"backend": "cpu", "key": "k", "python": interpreter.python_abi()}
    current: dict[str, str] = {"folder": "cpu-1"}
    first = random.random() < 0.5
    (folder / "current.json").write_bytes(spoiled(current, random) if first else msgspec.json.encode(current))
    (folder / "cpu-1" / "runtime.json").write_bytes(
        msgspec.json.encode(sound) if first else spoiled(sound, random)
    )
    found = interpreter.current()
    if found is not None and found.folder.parent != folder:
        return Outcome(Verdict.LOST, f"a runtime outside its folder: {found.folder}")
    return SURVIVED
