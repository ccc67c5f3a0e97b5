"""Kill an update at each of its steps: python -m tests.engine.updates.killed PLACE URL FOLDER.

A step is whatever changes a file or starts a program. After each kill, a start must open the old version or
the new one; after every eighth, the update is made again and must succeed. Prints the
number of steps by phase.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from engine import updates
from engine.hub import Stop
from engine.hub.progress import TransferMeter
from engine.launch import interpreter
from engine.updates import Installation, Package
from tests.engine.updates.made_up import KEY, NEW, OLD, started

STEPS = {
    "open",
    "os.chmod",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.truncate",
    "shutil.rmtree",
    "subprocess.Popen",
}
KILLED = 9


def main() -> None:
    place, url, folder = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    here = Installation("run", place, place / "update", f"app-{OLD}")
    new = Installation("run", place, place / "update", f"app-{NEW}")
    be(here)
    release = updates.newest_release(Package("run", OLD, url, KEY))
    assert release is not None

    def prepare() -> None:
        updates.prepare(here, release, TransferMeter("", 0), Stop())

    def start() -> None:
        updates.try_new_version(here, [])

    def confirm() -> None:
        be(new)
        updates.confirm(new)

    def tidy() -> None:
        be(new)
        updates.tidy(new)

    points = {}
    kept = folder / "kept"
    for phase in (prepare, start, confirm, tidy):
        if phase is tidy:
            confirm()
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(place, kept, symlinks=True)
        points[phase.__name__] = kill_everywhere(phase, here, kept, prepare)
        reset(place, kept)
        if phase is prepare:
            prepare()
    print(json.dumps(points))


def be(here: Installation) -> None:
    """Let this process be the installation's running version."""
    interpreter.ROOT = here.place / here.running
    sys.executable = str(interpreter.ROOT / "python")


def reset(place: Path, kept: Path) -> None:
    shutil.rmtree(place)
    shutil.copytree(kept, place, symlinks=True)


def kill_everywhere(
    phase: Callable[[], None], here: Installation, kept: Path, prepare: Callable[[], None]
) -> int:
    """Kill the phase at its first step, then at its second, until it ends. Return the number of steps."""
    for number in range(1, 200):
        reset(here.place, kept)
        if not killed(phase, number):
            return number - 1
        version = started(here)
        assert version in (OLD, NEW), f"{phase.__name__}, step {number}: {version!r} starts"
        if version == OLD and number % 8 == 1:  # whatever is left behind, the next try succeeds
            assert not killed(lambda: again(here, prepare), 0)
            assert started(here) == NEW, f"{phase.__name__}, step {number}: no way on"
    raise AssertionError("it does not end")


def again(here: Installation, prepare: Callable[[], None]) -> None:
    be(here)
    prepare()
    updates.try_new_version(here, [])


def killed(phase: Callable[[], None], number: int) -> bool:
    """Run the phase in a child process that ends at step `number`, 0 for none. Return whether it did."""
    child = os.fork()
    if child:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in (0, KILLED), f"status {status}"
        return status == KILLED
    left = number

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event not in STEPS or (event == "open" and not writes(arguments)):
            return
        left -= 1
        if left == 0:
            os._exit(KILLED)

    try:
        sys.addaudithook(count)
        phase()
        os._exit(0)
    finally:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        os._exit(1)


def writes(arguments: tuple[object, ...]) -> bool:
    flags = arguments[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


if __name__ == "__main__":
    main()
