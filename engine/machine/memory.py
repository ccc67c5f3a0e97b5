"""Find how much RAM this process can use."""

import re
from collections.abc import Iterator
from pathlib import Path

from engine.machine.data import SystemMemory
from engine.machine.system_files import ROOT, groups, number, text


def memory(total: int, available: int, windows_pinning: bool, root: Path = ROOT) -> SystemMemory:
    """Return the RAM that the control groups and the limit on its addresses leave to this process.

    total, available: bytes in the whole machine. windows_pinning: whether only half of the RAM can be
    page-locked, as in Windows and in WSL (learn.microsoft.com, “Calculating graphics memory”:
    TotalSystemMemoryAvailableForGraphics).
    """
    limit = None
    for most, used in [*_limits(root), *_address_space(root)]:
        if most < total:
            total = limit = most
        available = min(available, max(0, most - used))
    return SystemMemory(total, available, total // 2 if windows_pinning else total, limit)


def _limits(root: Path) -> Iterator[tuple[int, int]]:
    """Yield (bytes allowed, bytes used) for each control group with a limit.

    The inactive part of the file cache counts as free, as it does in the machine's `available`.
    """
    for group in groups(root, "memory"):
        for limit, used, unused in (
            ("memory.max", "memory.current", "inactive_file"),  # cgroup v2
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),  # v1
        ):
            if (most := number(group / limit)) is not None:
                yield most, (number(group / used) or 0) - _stat(group, unused)


def _address_space(root: Path) -> Iterator[tuple[int, int]]:
    """Yield (bytes allowed, bytes used) if the addresses of this process are limited (ulimit -v)."""
    limit = re.search(r"Max address space +(\d+)", text(root / "proc/self/limits"))
    used = re.search(r"VmSize:\s+(\d+) kB", text(root / "proc/self/status"))
    if limit and used:
        yield int(limit[1]), 1024 * int(used[1])


def _stat(group: Path, name: str) -> int:
    for line in text(group / "memory.stat").splitlines():
        key, _, value = line.partition(" ")
        if key == name and value.isdecimal():
            return int(value)
    return 0
