"""What answers taught about predictions, kept in the user's data folder. The only file here that writes."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import platformdirs

from engine.planner.corrections import Observed

MOST = 200  # answers


@dataclass(frozen=True, slots=True)
class Kept:
    """answers: oldest first."""

    answers: tuple[Observed, ...] = ()


def history() -> Sequence[Observed]:
    """Nothing where there is no such file, or none that can be understood."""
    try:
        return msgspec.json.decode(_file().read_bytes(), type=Kept).answers
    except (OSError, msgspec.MsgspecError):
        return ()


def remember(answer: Observed) -> None:
    """Where the folder cannot be written, nothing is kept. Whole or not at all: another process may read."""
    file = _file()
    kept = Kept((*history(), answer)[-MOST:])
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=file.parent, prefix=f".{file.stem}-") as scratch:
            growing = Path(scratch) / file.name
            growing.write_bytes(msgspec.json.format(msgspec.json.encode(kept)))
            growing.replace(file)


def _file() -> Path:
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "planner.json"
