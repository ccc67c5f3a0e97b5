"""Read the small files in /proc and /sys. A missing or malformed file counts as empty.

The argument `root` is "/", or a folder with copies of these files.
"""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/")


def text(file: Path) -> str:
    """Return the file's content without surrounding white space; "" if the file cannot be read."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def number(file: Path) -> int | None:
    """Return the integer in the file; None if the file contains something else, such as `max`."""
    try:
        return int(text(file))
    except ValueError:
        return None


def groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of this process's control group and of all groups around it, for cgroup v1 and v2.

    controller: "cpu" or "memory". Some folders may not exist, because a container may see only its own group,
    as the root of all groups.
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
