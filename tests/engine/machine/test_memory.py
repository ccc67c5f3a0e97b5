"""RAM within the limits of control groups, from recorded files."""

from pathlib import Path

import pytest

from engine.machine.memory import memory
from tests.engine.machine.trees import GIB, put

V1_UNLIMITED = "9223372036854771712"


def limits(root: Path) -> tuple[int, int, int | None]:
    """(total, available, limit) on a machine of 64 GiB with 50 available."""
    found = memory(64 * GIB, 50 * GIB, windows_pinning=False, root=root)
    return found.total_nbytes, found.available_nbytes, found.limit_nbytes


def test_without_a_limit_all_ram_is_usable(tmp_path: Path):
    assert limits(tmp_path) == (64 * GIB, 50 * GIB, None)
    put(tmp_path, {"proc/self/cgroup": "0::/user.slice", "sys/fs/cgroup/user.slice/memory.max": "max"})
    assert limits(tmp_path) == (64 * GIB, 50 * GIB, None)


def test_a_parent_groups_limit_applies_and_inactive_cache_is_free(tmp_path: Path):
    put(
        tmp_path,
        {
            "proc/self/cgroup": "0::/outer/inner",
            "sys/fs/cgroup/outer/memory.max": str(8 * GIB),
            "sys/fs/cgroup/outer/memory.current": str(6 * GIB),
            "sys/fs/cgroup/outer/memory.stat": f"anon 1\nfile 5\ninactive_file {2 * GIB}\nslab 7",
            "sys/fs/cgroup/outer/inner/memory.max": str(16 * GIB),
            "sys/fs/cgroup/outer/inner/memory.current": str(5 * GIB),
        },
    )
    assert limits(tmp_path) == (8 * GIB, 4 * GIB, 8 * GIB)


def test_a_container_sees_only_its_own_group_as_the_root(tmp_path: Path):
    put(
        tmp_path,
        {
            "proc/self/cgroup": "9:name=systemd:/docker/1a\n5:memory:/docker/1a\n3:cpu,cpuacct:/docker/1a",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": str(4 * GIB),
            "sys/fs/cgroup/memory/memory.usage_in_bytes": str(3 * GIB),
            "sys/fs/cgroup/memory/memory.stat": f"inactive_file 1\ntotal_inactive_file {GIB}",
        },
    )
    assert limits(tmp_path) == (4 * GIB, 2 * GIB, 4 * GIB)


def test_cgroup_v1s_huge_number_is_no_limit(tmp_path: Path):
    put(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": V1_UNLIMITED,
            "sys/fs/cgroup/memory/memory.usage_in_bytes": str(60 * GIB),
        },
    )
    assert limits(tmp_path) == (64 * GIB, 50 * GIB, None)


def test_available_memory_is_at_most_the_machines(tmp_path: Path):
    put(tmp_path, {"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": str(60 * GIB)})
    assert limits(tmp_path) == (60 * GIB, 50 * GIB, 60 * GIB)


@pytest.mark.parametrize(
    "garbled",
    [
        {"proc/self/cgroup": b"\xff\xfe\x00no lines\n:::\n0:"},
        {"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": "many"},
        {"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": ""},
    ],
)
def test_malformed_files_set_no_limit(tmp_path: Path, garbled: dict[str, str | bytes]):
    assert limits(put(tmp_path, garbled)) == (64 * GIB, 50 * GIB, None)


def test_windows_pins_half_of_the_ram(tmp_path: Path):
    assert memory(64 * GIB, 50 * GIB, windows_pinning=True, root=tmp_path).pinnable_nbytes == 32 * GIB
    assert memory(64 * GIB, 50 * GIB, windows_pinning=False, root=tmp_path).pinnable_nbytes == 64 * GIB


def test_a_limit_on_addresses_applies_less_those_in_use(tmp_path: Path):
    limit = f"Max address space         {4 * GIB:<20} unlimited            bytes"
    put(tmp_path, {"proc/self/limits": limit, "proc/self/status": f"VmPeak:\t9 kB\nVmSize:\t {GIB >> 10} kB"})
    assert limits(tmp_path) == (4 * GIB, 3 * GIB, 4 * GIB)
    put(tmp_path, {"proc/self/limits": limit.replace(str(4 * GIB), "unlimited ")})
    assert limits(tmp_path) == (64 * GIB, 50 * GIB, None)
