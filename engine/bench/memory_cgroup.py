"""A child process under a memory limit that counts the pages of files, too: a control group of Linux.

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
# exec keeps the process: its exit status, and the signal that ends it, are the command's.
ENTER = 'echo $$ > "$0" && exec "$@"'
# Prints the limit of the cgroup v2 it runs in: a systemd that was not given the memory controller sets none.
SHOW_LIMIT = 'cat "/sys/fs/cgroup$(cut -d: -f3- /proc/self/cgroup)/memory.max"'
PROBE_TIMEOUT_S = 10
EMPTYING_TIMEOUT_S = 10
PAGE = 4096  # the kernel rounds a limit down to pages


@dataclass(frozen=True, slots=True)
class MemoryCgroup:
    """Attributes: `prefix`, put before a command, runs it in the group; `peak_file`, None where the group
    ends with its command."""

    prefix: list[str]
    peak_file: Path | None

    def peak_nbytes(self) -> int | None:
        """The most the group has held at one time, pages of files included; None where that is not known."""
        if self.peak_file is None or not self.peak_file.exists():  # cgroup v2 has it since Linux 5.19
            return None
        return int(self.peak_file.read_text())


@contextmanager
def memory_cgroup(nbytes: int) -> Iterator[MemoryCgroup]:
    """A new group whose processes may hold `nbytes` together, and no swap. What still runs in it at the end
    is ended.

    Raises BadOption where this system or this user can make none.
    """
    if sys.platform != "linux":
        raise _refused("this is no Linux")
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
    """A group made by hand, and the name of the file that tells its peak."""
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
        if swap.exists():  # not where the kernel was built or started without it
            swap.write_text(str(most))
    except OSError as error:
        folder.rmdir()
        raise _refused(error) from error
    return folder, peak


def _parent() -> tuple[Path, int]:
    """The group to make a new one in, and the version of cgroups that has the memory controller."""
    paths: dict[str, str] = {}
    for line in OWN_GROUP.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        paths |= dict.fromkeys(controllers.split(","), path.lstrip("/"))
    if "memory" in paths:
        own = MOUNT / "memory" / paths["memory"]
        return (own if own.is_dir() else MOUNT / "memory"), 1  # in a container the mount is the own group
    # In version 2 a group that hands its memory to groups below it has no processes, but for the first one.
    own = MOUNT / paths[""]
    for group in (own, own.parent):
        handed = group / "cgroup.subtree_control"
        if handed.exists() and "memory" in handed.read_text().split():
            return group, 2
    raise FileNotFoundError(f"{own} hands no memory to other groups")


def _remove(folder: Path) -> None:
    end = time.monotonic() + EMPTYING_TIMEOUT_S
    while True:
        for process in (folder / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
        try:
            return folder.rmdir()
        except OSError:  # a process that was killed takes a moment to leave
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def _refused(reason: object) -> BadOption:
    return BadOption(
        f"No memory limit can be set here: {reason}.",
        "This needs Linux, and either systemd with cgroup v2 or the right to write to /sys/fs/cgroup.",
    )
