"""What is on its way, remembered across restarts: one file for each item, in the models folder."""

from pathlib import Path

import msgspec

from engine.hub import disk
from engine.hub.errors import UnsafeName
from engine.hub.item import Item
from engine.hub.lock import WORK


def unfinished(models: Path) -> list[Item]:
    """Items whose download was begun in `models` and neither ended nor cancelled, pinned to the commit of
    then."""
    found = []
    for path in sorted((models / WORK).glob("*.json")):
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=Item))
        except (OSError, msgspec.MsgspecError, UnsafeName):
            continue  # somebody else's, or damaged: the parts are found by the item itself
    return found


def remember(models: Path, item: Item) -> None:
    """Raises `DiskFull`, `DiskProblem`."""
    with disk.named_errors(f"remembering {item.name}"):
        (models / WORK).mkdir(parents=True, exist_ok=True)
        disk.write_whole(_path(models, item), msgspec.json.encode(item))


def forget(models: Path, item: Item) -> None:
    """Raises `DiskProblem`."""
    with disk.named_errors(f"forgetting {item.name}"):
        _path(models, item).unlink(missing_ok=True)


def _path(models: Path, item: Item) -> Path:
    return models / WORK / f"{item.id}.json"
