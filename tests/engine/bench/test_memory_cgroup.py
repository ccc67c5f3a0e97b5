import subprocess
import sys

import pytest

from engine.bench import memory_cgroup as module
from engine.bench.memory_cgroup import memory_cgroup
from engine.errors import BadOption

MIB = 1 << 20


@pytest.fixture
def group():
    """A group of 64 MiB; skips the test if this machine allows none."""
    try:
        with memory_cgroup(64 * MIB) as made:
            yield made
    except BadOption as error:
        pytest.skip(error.message)


def holding(group, mib: int) -> int:
    """Return the exit status of a process in the group that fills `mib` MiB."""
    program = f"b'x' * ({mib} << 20)"
    return subprocess.run([*group.prefix, sys.executable, "-c", program]).returncode


def test_a_process_that_takes_more_than_the_limit_is_killed_and_one_that_takes_less_is_not(group):
    assert holding(group, 20) == 0
    peak = group.peak_nbytes()
    assert peak is None or 20 * MIB < peak < 64 * MIB
    assert holding(group, 200) == -9


def test_processes_left_at_the_end_are_killed_and_the_group_is_removed():
    try:
        with memory_cgroup(64 * MIB) as group:
            if group.peak_file is None:
                pytest.skip("a scope of systemd ends with its command")
            sleeper = subprocess.Popen(
                [*group.prefix, "sh", "-c", "echo; exec sleep 60"], stdout=subprocess.PIPE
            )
            sleeper.stdout.readline()
    except BadOption as error:
        pytest.skip(error.message)
    with sleeper:
        assert sleeper.wait(10) == -9
    assert not group.peak_file.parent.exists()


@pytest.fixture
def mount(tmp_path, monkeypatch):
    """An empty tree in place of /sys/fs/cgroup."""
    monkeypatch.setattr(module, "MOUNT", tmp_path / "cgroup")
    monkeypatch.setattr(module, "OWN_GROUP", tmp_path / "own")
    return tmp_path / "cgroup"


@pytest.mark.parametrize(
    ("own_group", "own_folder"),
    [("4:cpu,memory:/a/b\n0::/x\n", "memory/a/b"), ("4:memory:/elsewhere\n0::/\n", "memory")],
    ids=["plain", "container"],
)
def test_in_version_1_a_group_is_created_below_its_own(mount, own_group, own_folder):
    (mount / own_folder).mkdir(parents=True)
    module.OWN_GROUP.write_text(own_group)
    folder, peak = module._new_folder(5 * MIB)
    assert folder.parent == mount / own_folder
    assert (folder / "memory.limit_in_bytes").read_text() == str(5 * MIB)
    assert peak == "memory.max_usage_in_bytes"


@pytest.mark.parametrize(("delegating", "parent"), [("a/b", "a/b"), ("a", "a")], ids=["below", "beside"])
def test_in_version_2_a_group_is_created_where_memory_is_delegated(mount, delegating, parent):
    (mount / "a/b").mkdir(parents=True)
    for folder in (mount / "a", mount / "a/b"):
        (folder / "cgroup.subtree_control").write_text("cpu pids\n")
    (mount / delegating / "cgroup.subtree_control").write_text("cpu memory pids\n")
    module.OWN_GROUP.write_text("0::/a/b\n")
    folder, peak = module._new_folder(5 * MIB)
    assert folder.parent == mount / parent
    assert (folder / "memory.max").read_text() == str(5 * MIB)
    assert peak == "memory.peak"


def test_without_a_group_the_error_names_the_requirements(mount, monkeypatch):
    monkeypatch.setenv("PATH", "")
    mount.mkdir()
    module.OWN_GROUP.write_text("0::/\n")
    with pytest.raises(BadOption, match="No memory limit") as raised, memory_cgroup(5 * MIB):
        pass
    assert "systemd" in raised.value.hint
