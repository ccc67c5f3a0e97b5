"""Processes to be killed: a download, of test_killed.py, and a move, of test_relocation.py."""

import os
from collections.abc import Callable
from pathlib import Path

from engine import catalog
from engine.hub import Download, Hub, Item, Patience, Stop, disk, move

KILLED = 9  # the exit status


def bring(wanted: Item, models: str, endpoint: str) -> None:
    """Download `wanted`; exit with 1 unless it completes."""
    patience = Patience(silence_s=5, first_wait_s=0.05, longest_wait_s=0.5)
    running = Download(wanted, Path(models), Hub(endpoint), patience=patience)
    running.start()
    if running.wait().state != "done":
        raise SystemExit(1)


def carry(home: str, links: bool, deadly_step: int) -> None:
    """Move the models of earlier versions in a process of its own, which is killed before step `deadly_step`.

    home: the user's home folder. links: whether the file system has hard links. A step is whatever changes a
    file; `deadly_step`: -1 for none.
    """
    os.environ |= {"HOME": home, "XDG_DATA_HOME": f"{home}/data"}
    os.environ.pop(catalog.MODELS_VARIABLE, None)
    left = deadly_step

    def deadly(change: Callable[..., object]) -> Callable[..., object]:
        def step(*arguments: object, **named: object) -> object:
            nonlocal left
            if left == 0:
                os._exit(KILLED)
            left -= 1
            return change(*arguments, **named)

        return step

    if not links:
        disk.link = lambda *_: False
    for name in ("hardlink_to", "touch", "unlink", "replace", "rmdir"):
        setattr(Path, name, deadly(getattr(Path, name)))
    os.utime = deadly(os.utime)  # type: ignore[assignment]  # in the middle of a copy
    found = catalog.left_behind()
    assert found is not None
    move(*found, Stop(), lambda done, total: None, catalog.keep_models_folder)
