"""The processor: its name, its cores, and the instructions that decide how fast it multiplies."""

import platform
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.machine.data import Cpu
from engine.machine.system_files import ROOT, groups, number, text

# Linux's names of instruction sets; of an ARM processor, NEON is `asimd`.
X86 = ("avx2", "avx512f", "avx512_bf16", "amx_bf16", "amx_int8")
ARM = ("neon", "bf16", "i8mm")
# Windows' numbers for IsProcessorFeaturePresent (winnt.h). It knows none for bfloat16 and AMX.
_WINDOWS_NUMBERS = {"avx2": 40, "avx512f": 41, "neon": 19}


def linux_cpu(cores: int, threads: int, allowed: int, root: Path = ROOT) -> Cpu:
    """cores: physical; threads: logical; allowed: threads by affinity."""
    said: dict[str, str] = {}
    features: dict[str, bool | None]
    for line in text(root / "proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        said.setdefault(key.strip(), value.strip())
    if "Features" in said:
        has = set(said["Features"].replace("asimd", "neon").split())
        features = {name: name in has for name in ARM}
    else:
        has = set(said.get("flags", "").split())
        features = {name: name in has if has else None for name in X86}
    quota = min(_quotas(root), default=threads)
    usable = max(1, min(allowed, int(quota)))
    return Cpu(said.get("model name") or platform.machine(), cores, threads, usable, features)


def windows_cpu(
    cores: int, threads: int, allowed: int, name: str, machine: str, present: Callable[[int], bool]
) -> Cpu:
    """machine: as the system names it, `AMD64` or `ARM64`; present: IsProcessorFeaturePresent."""
    features = {
        each: present(_WINDOWS_NUMBERS[each]) if each in _WINDOWS_NUMBERS else None
        for each in (ARM if machine.startswith("ARM") else X86)
    }
    return Cpu(name.strip() or machine, cores, threads, allowed, features)


def _quotas(root: Path) -> Iterator[float]:
    """Processor seconds per second that control groups allow."""
    for group in groups(root, "cpu"):
        v2 = text(group / "cpu.max").split()
        if len(v2) == 2 and v2[0].isdecimal() and v2[1].isdecimal():
            yield int(v2[0]) / int(v2[1])
        quota, period = number(group / "cpu.cfs_quota_us"), number(group / "cpu.cfs_period_us")
        if quota and period and quota > 0:  # -1: none
            yield quota / period
