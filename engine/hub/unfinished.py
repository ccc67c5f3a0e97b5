"""Records of unfinished downloads, which outlive restarts: one JSON file per item, in the models folder."""

from pathlib import Path

import msgspec

from engine.documents import read_json
from engine.files import write_whole
from engine.hub import disk
from engine.hub.errors import UnsafeName
from engine.hub.item import Item
from engine.hub.lock import WORK


def unfinished(models: Path) -> list[Item]:
    """Return the items whose download to `models` was started, but neither finished nor cancelled.

    Each of their repositories is at the commit that was chosen when the download was started.
    """
    items = []
    for path in sorted((models / WORK).glob("*.json")):
        try:
            item = read_json(path, Item)
        except (OSError, ValueError, UnsafeName):
            continue  # not a record, or damaged; starting the download again finds its partial files anyway
        if item.repositories and path == _path(models, item):
            items.append(item)
    return items


def remember(models: Path, item: Item) -> None:
    """Record that the download of `item` was started. Raises `DiskFull`, `DiskProblem`."""
    with disk.named_errors(f"recording the download of {item.name}"):
        (models / WORK).mkdir(parents=True, exist_ok=True)
        write_whole(_path(models, item), msgspec.json.encode(item), single_writer=True)


def forget(models: Path, item: Item) -> None:
    """Delete the record of `item`. Raises `DiskProblem`."""
    with disk.named_errors(f"deleting the record of {item.name}"):
        _path(models, item).unlink(missing_ok=True)


def _path(models: Path, item: Item) -> Path:
    return models / WORK / f"{item.id}.json"
