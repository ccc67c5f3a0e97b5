"""Find the processor's name, its cores, and the instruction sets that determine how fast it multiplies."""

import platform
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.machine.data import Cpu
from engine.machine.system_files import ROOT, groups, number, text

# Instruction sets by Linux's names, except that Linux calls NEON on ARM `asimd`.
X86 = ("avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8")
ARM = ("neon", "bf16", "i8mm")
# The numbers of features for Windows' IsProcessorFeaturePresent (winnt.h); bfloat16 and AMX have no number.
_WINDOWS_NUMBERS = {"avx2": 40, "avx512f": 41, "neon": 19}


def linux_cpu(cores: int, threads: int, allowed: int, root: Path = ROOT) -> Cpu:
    """Return the processor as described by /proc.

    cores: the number of physical cores; threads: the number of logical ones; allowed: the number of logical
    ones that this process's affinity allows.
    """
    fields: dict[str, str] = {}
    features: dict[str, bool | None]
    for line in text(root / "proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    if "Features" in fields:
        has = set(fields["Features"].replace("asimd", "neon").split())
        features = {name: name in has for name in ARM}
    else:
        has = set(fields.get("flags", "").split())
        features = {name: name in has if has else None for name in X86}
    quota = min(_quotas(root), default=threads)
    usable = max(1, min(allowed, int(quota)))
    return Cpu(fields.get("model name") or platform.machine(), cores, threads, usable, features)


def windows_cpu(
    cores: int, threads: int, allowed: int, name: str, machine: str, present: Callable[[int], bool]
) -> Cpu:
    """Return the processor as described by Windows.

    cores, threads, allowed: as for `linux_cpu`; machine: the system's name for the architecture, `AMD64` or
    `ARM64`; present: the function IsProcessorFeaturePresent.
    """
    features = {
        feature: present(_WINDOWS_NUMBERS[feature]) if feature in _WINDOWS_NUMBERS else None
        for feature in (ARM if machine.startswith("ARM") else X86)
    }
    return Cpu(name.strip() or machine, cores, threads, allowed, features)


def _quotas(root: Path) -> Iterator[float]:
    """Yield how many processor seconds per second each control group with a limit allows."""
    for group in groups(root, "cpu"):
        v2 = text(group / "cpu.max").split()
        if len(v2) == 2 and v2[0].isdecimal() and v2[1].isdecimal():
            yield int(v2[0]) / int(v2[1])
        quota, period = number(group / "cpu.cfs_quota_us"), number(group / "cpu.cfs_period_us")
        if quota and period and quota > 0:  # -1: no limit
            yield quota / period
