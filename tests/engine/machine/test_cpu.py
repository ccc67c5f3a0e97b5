"""The processor, from a recorded /proc/cpuinfo and from recorded answers of Windows."""

from pathlib import Path

import pytest

from engine.machine.cpu import linux_cpu, windows_cpu
from tests.engine.machine.trees import put

SAPPHIRE_RAPIDS = """\
processor\t: 0
model name\t: Intel(R) Xeon(R) Platinum 8480+
flags\t\t: fpu sse2 avx avx2 avx_vnni avx512f avx512dq avx512_vnni avx512_bf16 amx_bf16 amx_tile amx_int8
processor\t: 1
model name\t: Intel(R) Xeon(R) Platinum 8480+
flags\t\t: fpu sse2"""
GRAVITON_3 = """\
processor\t: 0
BogoMIPS\t: 2100.00
Features\t: fp asimd evtstrm aes sha1 sve i8mm bf16 dgh
CPU implementer\t: 0x41"""


def test_an_intel_server_has_all_features(tmp_path: Path):
    cpu = linux_cpu(1, 2, 2, put(tmp_path, {"proc/cpuinfo": SAPPHIRE_RAPIDS}))
    assert cpu.name == "Intel(R) Xeon(R) Platinum 8480+"
    assert set(cpu.features.values()) == {True}
    assert cpu.features.keys() == {
        "avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8",
    }  # fmt: skip
    assert (cpu.cores, cpu.threads, cpu.usable) == (1, 2, 2)


def test_an_old_laptop_has_only_avx2(tmp_path: Path):
    flags = "model name : Intel(R) Core(TM) i5-4210U\nflags : fpu sse2 avx avx2"
    features = linux_cpu(2, 4, 4, put(tmp_path, {"proc/cpuinfo": flags})).features
    assert [name for name, has in features.items() if has] == ["avx2"]
    assert None not in features.values()


def test_an_arm_server_reports_arm_features(tmp_path: Path):
    cpu = linux_cpu(4, 4, 4, put(tmp_path, {"proc/cpuinfo": GRAVITON_3}))
    assert cpu.features == {"neon": True, "bf16": True, "i8mm": True}
    assert cpu.name


@pytest.mark.parametrize("cpuinfo", [{}, {"proc/cpuinfo": b"\x00\xff:\n\n::"}])
def test_without_flags_all_features_are_unknown(tmp_path: Path, cpuinfo: dict[str, str | bytes]):
    cpu = linux_cpu(1, 1, 1, put(tmp_path, cpuinfo))
    assert set(cpu.features.values()) == {None}
    assert cpu.name


@pytest.mark.parametrize(
    ("allowed", "quota", "usable"),
    [
        (8, {}, 8),
        (3, {}, 3),
        (8, {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "250000 100000"}, 2),
        (8, {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "max 100000"}, 8),
        (8, {"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/cpu.max": "50000 100000"}, 1),
        (
            8,
            {
                "proc/self/cgroup": "4:cpuset:/tight\n3:cpu,cpuacct:/docker/1a2b",
                "sys/fs/cgroup/cpu/tight/cpu.cfs_quota_us": "100000",  # a group of other processes
                "sys/fs/cgroup/cpu/tight/cpu.cfs_period_us": "100000",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            },
            4,
        ),
        (
            8,
            {
                "proc/self/cgroup": "3:cpu:/",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            },
            8,
        ),
        (8, {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "much"}, 8),
    ],
)
def test_affinity_and_quota_limit_the_usable_threads(tmp_path: Path, allowed, quota, usable):
    assert linux_cpu(4, 8, allowed, put(tmp_path, quota)).usable == usable


def test_windows_reports_neither_bfloat16_nor_vnni():
    cpu = windows_cpu(8, 16, 16, "AMD Ryzen 7 7700X 8-Core Processor  ", "AMD64", {40, 41}.__contains__)
    assert cpu.name == "AMD Ryzen 7 7700X 8-Core Processor"
    assert cpu.features == {
        "avx2": True, "avx_vnni": None, "avx512f": True, "avx512_vnni": None, "avx512_bf16": None,
        "amx_bf16": None, "amx_int8": None,
    }  # fmt: skip
    arm = windows_cpu(8, 8, 8, "", "ARM64", {19}.__contains__)
    assert arm.features == {"neon": True, "bf16": None, "i8mm": None}
    assert arm.name == "ARM64"
