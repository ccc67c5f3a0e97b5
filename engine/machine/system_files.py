"""Reading the small files of /proc and /sys; one that is missing or garbled says nothing.

root: "/", or a folder that holds copies of them.
"""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/")


def text(file: Path) -> str:
    """Without white space at its ends; "" where the file cannot be read."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def number(file: Path) -> int | None:
    """None where there is none: cgroups write `max`."""
    try:
        return int(text(file))
    except ValueError:
        return None


def groups(root: Path, controller: str) -> Iterator[Path]:
    """The folders of this process's control group and of all groups around it, of cgroup v1 and v2.

    A container may see only its own group, as the root of all; folders it does not see are given all the
    same.
    """
    for line in text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        base = root / "sys/fs/cgroup"
        if controllers:
            if controller not in controllers.split(","):
                continue
            base /= controller
        group = base / path.lstrip("/")
        yield group
        yield from (folder for folder in group.parents if folder.is_relative_to(base))
