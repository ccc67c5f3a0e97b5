"""Measured bandwidths, kept with their dates in the user's data folder."""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import platformdirs

from engine.machine.data import DiskSpeed, LinkSpeed

# Disks are exchanged, and slow down as they fill up.
FRESH = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Kept:
    """disks by mount point, links by the card's uuid (`Gpu.uuid`)."""

    disks: dict[str, DiskSpeed] = field(default_factory=dict)
    links: dict[str, LinkSpeed] = field(default_factory=dict)


def now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def is_fresh(measured: datetime) -> bool:
    return timedelta(0) <= now() - measured < FRESH


def read() -> Kept:
    """Nothing where there is no such file, or none that can be understood."""
    try:
        return msgspec.json.decode(_file().read_bytes(), type=Kept)
    except (OSError, msgspec.MsgspecError):
        return Kept()


def remember_disk(mount_point: str, speed: DiskSpeed) -> None:
    """Where the folder cannot be written, nothing is kept, and the next one who asks measures again."""
    kept = read()
    _write(Kept(kept.disks | {mount_point: speed}, kept.links))


def remember_link(uuid: str, gb_per_s: float) -> None:
    """The bandwidth from pinned memory to the card, measured now; uuid: as `Gpu.uuid`. As `remember_disk`
    where it cannot be kept."""
    kept = read()
    _write(Kept(kept.disks, kept.links | {uuid: LinkSpeed(gb_per_s, now())}))


def _write(kept: Kept) -> None:
    """Whole or not at all: another process may be reading."""
    file = _file()
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=file.parent, prefix=f".{file.stem}-") as scratch:
            growing = Path(scratch) / file.name
            growing.write_bytes(msgspec.json.format(msgspec.json.encode(kept)))
            growing.replace(file)


def _file() -> Path:
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "machine.json"
