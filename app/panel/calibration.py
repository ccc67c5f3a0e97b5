"""Measurement of plain decoding: generates a short answer without a drafter, and keeps its speed.

The user asks for the measurement. The speeds are kept in a file in the user's data folder, one for each model
and placement of its weights.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import platformdirs
from PySide6.QtCore import QObject, Signal

from app.connection.engine import Engine
from engine.documents import read_json
from engine.files import write_whole
from engine.protocol.messages import Answer, Event, Failed, Loaded, Message, Options

QUESTION = "Count from one to fifty in words."
TOKENS = 24  # length of the measured answer; after the first pass, all passes take the same time


class Calibration(QObject):
    """Measures plain decoding with the loaded target. The answer does not become part of a chat.

    Attributes:
        is_running: whether the measurement is in progress.

    Signals:
        finished: the measurement has ended, with or without a result
    """

    finished = Signal()

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_running = False
        self._engine = engine
        engine.answer_event.connect(self._receive)
        engine.lost.connect(self._end)

    def start(self) -> bool:
        """Start the measurement; return False if the engine is not ready."""
        options = Options(drafter="none", max_new_tokens=TOKENS, seed=0)
        self.is_running = self._engine.ask([Message("user", QUESTION)], options)
        return self.is_running

    def _receive(self, event: Event) -> None:
        if not self.is_running:
            return
        match event:
            case Answer():
                speed = event.stop_reason != "cancelled" and event.tokens_per_second
                if self._engine.pair is not None and speed:
                    remember(self._engine.pair, speed)
                self._end()
            case Failed():
                self._end()

    def _end(self) -> None:
        if self.is_running:
            self.is_running = False
            self.finished.emit()


@dataclass(frozen=True, slots=True)
class PlainSpeeds:
    """The measured speeds, as kept in the file. tokens_per_second: a speed for each key made by `key_of`."""

    tokens_per_second: dict[str, float] = field(default_factory=dict)


def key_of(loaded: Loaded) -> str:
    """Return a key that is equal for pairs whose plain decoding takes the same time: the target's file,
    number format and device, and the bytes of the target that each pass streams."""
    here = "vram" if loaded.device == "cuda" else "ram"
    parts = loaded.memory.parts if loaded.memory else []
    streamed = sum(part.nbytes for part in parts if part.what == "target" and part.tier != here)
    form = "packed" if loaded.target.packed else "unpacked"
    return f"{loaded.target.path} {loaded.dtype} {form} {loaded.device} {streamed / 1e9:.1f}"


def plain_speed(loaded: Loaded) -> float | None:
    """Return the measured tokens per second; None if plain decoding was never measured with this pair."""
    return _read().tokens_per_second.get(key_of(loaded))


def remember(loaded: Loaded, tokens_per_second: float) -> None:
    """Keep a measured speed, if the folder is writable."""
    kept = PlainSpeeds({**_read().tokens_per_second, key_of(loaded): tokens_per_second})
    with suppress(OSError):
        file().parent.mkdir(parents=True, exist_ok=True)
        write_whole(file(), msgspec.json.format(msgspec.json.encode(kept)))


def file() -> Path:
    """Return the path of the file with the measured speeds."""
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "plain_speeds.json"


def _read() -> PlainSpeeds:
    try:
        return read_json(file(), PlainSpeeds)
    except (OSError, ValueError):
        return PlainSpeeds()
