"""Measured bandwidths, which are stored with their dates in the user's data folder."""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import platformdirs

from engine.documents import read_json
from engine.files import write_whole
from engine.machine.data import CardSpeed, DiskSpeed, LinkSpeed

# Measurements become outdated: a disk may be replaced, and becomes slower as it fills up.
FRESH = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class StoredSpeeds:
    """All stored speeds: of disks by mount point, of links and of cards by the card's uuid (`Gpu.uuid`)."""

    disks: dict[str, DiskSpeed] = field(default_factory=dict)
    links: dict[str, LinkSpeed] = field(default_factory=dict)
    cards: dict[str, CardSpeed] = field(default_factory=dict)


def now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def is_fresh(measured: datetime) -> bool:
    return timedelta(0) <= now() - measured < FRESH


def read() -> StoredSpeeds:
    """Return the stored bandwidths; an empty `StoredSpeeds` if the file is missing or invalid."""
    try:
        return read_json(_file(), StoredSpeeds)
    except (OSError, ValueError):
        return StoredSpeeds()


def remember_disk(mount_point: str, speed: DiskSpeed) -> None:
    """Store a disk's bandwidth. Does nothing, and raises no error, if the file cannot be written."""
    stored = read()
    _write(replace(stored, disks=stored.disks | {mount_point: speed}))


def remember_link(uuid: str, speed: LinkSpeed) -> None:
    """Store the bandwidth from pinned memory to a card. uuid: the card's `Gpu.uuid`. Does nothing, and raises
    no error, if the file cannot be written."""
    stored = read()
    _write(replace(stored, links=stored.links | {uuid: speed}))


def remember_card(uuid: str, speed: CardSpeed) -> None:
    """Store the measured speeds of a card. uuid: the card's `Gpu.uuid`. Does nothing, and raises no
    error, if the file cannot be written."""
    stored = read()
    _write(replace(stored, cards=stored.cards | {uuid: speed}))


def _write(stored: StoredSpeeds) -> None:
    """Replace the file atomically, because another process may be reading it. Ignores errors."""
    file = _file()
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, msgspec.json.format(msgspec.json.encode(stored)))


def _file() -> Path:
    return platformdirs.user_data_path("specexec-desktop", appauthor=False) / "machine.json"
