"""A memory limit for child processes, set by a Linux control group, so that cached pages of files count too.

The group is a scope of systemd, or else a folder beside or below this process's own group (cgroup v2 or v1).
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from engine.errors import BadOption

MOUNT = Path("/sys/fs/cgroup")
OWN_GROUP = Path("/proc/self/cgroup")
# exec runs the command in the shell's own process, so that the process ends with the command's exit status,
# or with the signal that ends the command.
ENTER = 'echo $$ > "$0" && exec "$@"'
# Prints the limit of the cgroup v2 that it runs in, to check that there is one: without the memory
# controller, systemd sets none.
SHOW_LIMIT = 'cat "/sys/fs/cgroup$(cut -d: -f3- /proc/self/cgroup)/memory.max"'
PROBE_TIMEOUT_S = 10
EMPTYING_TIMEOUT_S = 10
PAGE = 4096  # the kernel rounds a limit down to whole pages


@dataclass(frozen=True, slots=True)
class MemoryCgroup:
    """A control group with a memory limit.

    `prefix`: the words to put before a command so that it runs in the group. `peak_file`: the file with the
    group's peak memory; None if the group ends with its command.
    """

    prefix: list[str]
    peak_file: Path | None

    def peak_nbytes(self) -> int | None:
        """Return the peak memory of the group, including cached pages of files; None if it is unknown."""
        if self.peak_file is None or not self.peak_file.exists():  # cgroup v2 has it since Linux 5.19
            return None
        return int(self.peak_file.read_text())


@contextmanager
def memory_cgroup(nbytes: int) -> Iterator[MemoryCgroup]:
    """Create a group whose processes may use `nbytes` of memory together, and no swap.

    Processes that still run at the end are killed if the group was created without systemd. Raises BadOption
    if this system or this user cannot create a group.
    """
    if sys.platform != "linux":
        raise _refused("this system is not Linux")
    scope = _systemd_scope(nbytes)
    if _limits(scope, nbytes):
        yield MemoryCgroup(scope, None)
        return
    folder, peak = _new_folder(nbytes)
    try:
        yield MemoryCgroup(["sh", "-c", ENTER, str(folder / "cgroup.procs")], folder / peak)
    finally:
        _remove(folder)


def _systemd_scope(nbytes: int) -> list[str]:
    manager = "--system" if os.geteuid() == 0 else "--user"
    limits = [f"--property=MemoryMax={nbytes}", "--property=MemorySwapMax=0"]
    return ["systemd-run", manager, "--scope", "--quiet", "--collect", *limits, "--"]


def _limits(scope: list[str], nbytes: int) -> bool:
    try:
        shown = subprocess.run(
            [*scope, "sh", "-c", SHOW_LIMIT], capture_output=True, text=True, timeout=PROBE_TIMEOUT_S
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return False
    return shown.strip() == str(nbytes // PAGE * PAGE)


def _new_folder(nbytes: int) -> tuple[Path, str]:
    """Create a group without systemd; return its folder, and the name of the file with its peak memory."""
    try:
        parent, version = _parent()
        folder = parent / f"specexec-{os.getpid()}"
        folder.mkdir()
    except OSError as error:
        raise _refused(error) from error
    try:
        if version == 1:
            (folder / "memory.limit_in_bytes").write_text(str(nbytes))
            swap, most, peak = folder / "memory.memsw.limit_in_bytes", nbytes, "memory.max_usage_in_bytes"
        else:
            (folder / "memory.max").write_text(str(nbytes))
            swap, most, peak = folder / "memory.swap.max", 0, "memory.peak"
        if swap.exists():  # it is missing if the kernel was built or started without swap accounting
            swap.write_text(str(most))
    except OSError as error:
        folder.rmdir()
        raise _refused(error) from error
    return folder, peak


def _parent() -> tuple[Path, int]:
    """Return the folder of the group in which to create a new one, and the cgroup version that has the memory
    controller."""
    paths: dict[str, str] = {}
    for line in OWN_GROUP.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        paths |= dict.fromkeys(controllers.split(","), path.lstrip("/"))
    if "memory" in paths:
        own = MOUNT / "memory" / paths["memory"]
        # In a container, that folder may be missing: there, the mount is the container's own group.
        return (own if own.is_dir() else MOUNT / "memory"), 1
    # In version 2, only the root group may both have processes and delegate memory to groups below it.
    own = MOUNT / paths[""]
    for group in (own, own.parent):
        delegated = group / "cgroup.subtree_control"
        if delegated.exists() and "memory" in delegated.read_text().split():
            return group, 2
    raise FileNotFoundError(f"{own} does not delegate memory to other groups")


def _remove(folder: Path) -> None:
    end = time.monotonic() + EMPTYING_TIMEOUT_S
    while True:
        for process in (folder / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
        try:
            return folder.rmdir()
        except OSError:  # a killed process takes a moment to leave the group
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def _refused(reason: object) -> BadOption:
    return BadOption(
        f"No memory limit can be set on this machine: {reason}.",
        "This requires Linux, and either systemd with cgroup v2 or permission to write to /sys/fs/cgroup.",
    )
