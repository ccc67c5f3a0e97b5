"""RAM, and how much of it this process may use."""

from collections.abc import Iterator
from pathlib import Path

from engine.machine.data import Memory
from engine.machine.system_files import ROOT, groups, number, text


def memory(total: int, available: int, windows_pinning: bool, root: Path = ROOT) -> Memory:
    """total, available: bytes of the whole machine.

    windows_pinning: page-locking as Windows allows it, also from within WSL: half of the RAM
    (learn.microsoft.com, “Calculating graphics memory”: TotalSystemMemoryAvailableForGraphics).
    """
    limit = None
    for most, used in _limits(root):
        if most < total:
            total = limit = most
        available = min(available, max(0, most - used))
    return Memory(total, available, total // 2 if windows_pinning else total, limit)


def _limits(root: Path) -> Iterator[tuple[int, int]]:
    """(bytes allowed, bytes used) of each control group that has a limit.

    Cached file pages that nobody uses count as free, as in the whole machine's `available`.
    """
    for group in groups(root, "memory"):
        for limit, used, unused in (
            ("memory.max", "memory.current", "inactive_file"),  # cgroup v2
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),  # v1
        ):
            if (most := number(group / limit)) is not None:
                yield most, (number(group / used) or 0) - _counted(group, unused)


def _counted(group: Path, name: str) -> int:
    for line in text(group / "memory.stat").splitlines():
        key, _, value = line.partition(" ")
        if key == name and value.isdecimal():
            return int(value)
    return 0
