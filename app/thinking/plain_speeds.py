"""How fast plain decoding was, measured here once per model and setting, kept in the user's data folder.
Knows no Qt."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import platformdirs

from engine.protocol.messages import Loaded

TOKENS = 24  # of the answer that is measured; after the first pass, each takes as long as the others


@dataclass(frozen=True, slots=True)
class Kept:
    """tokens_per_second: by `key_of` the pair as loaded."""

    tokens_per_second: dict[str, float] = field(default_factory=dict)


def key_of(loaded: Loaded) -> str:
    """The same for loads whose plain decoding takes the same time: file, number format, device, and how many
    bytes of the target each pass has to bring."""
    here = "vram" if loaded.device == "cuda" else "ram"
    parts = loaded.memory.parts if loaded.memory else []
    streamed = sum(part.nbytes for part in parts if part.what == "target" and part.tier != here)
    form = "packed" if loaded.target.packed else "unpacked"
    return f"{loaded.target.path} {loaded.dtype} {form} {loaded.device} {streamed / 1e9:.1f}"


def plain_speed(loaded: Loaded) -> float | None:
    """Tokens per second; None where it was never measured."""
    return _read().tokens_per_second.get(key_of(loaded))


def remember(loaded: Loaded, tokens_per_second: float) -> None:
    """Where the folder cannot be written, nothing is kept."""
    kept = Kept({**_read().tokens_per_second, key_of(loaded): tokens_per_second})
    with suppress(OSError):
        file().parent.mkdir(parents=True, exist_ok=True)
        growing = file().with_suffix(".part")
        growing.write_bytes(msgspec.json.format(msgspec.json.encode(kept)))
        growing.replace(file())


def file() -> Path:
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "plain_speeds.json"


def _read() -> Kept:
    try:
        return msgspec.json.decode(file().read_bytes(), type=Kept)
    except (OSError, msgspec.MsgspecError):
        return Kept()
