"""Find the disk that a folder is on, and its kind."""

import re
import shutil
import struct
import sys
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from engine import reads
from engine.errors import BadOption, DiskProblem
from engine.machine.data import Disk, DiskKind
from engine.machine.system_files import ROOT, text

_NETWORK = {
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "drvfs", "ceph", "glusterfs", "lustre", "beegfs", "afs",
    "fuse.sshfs", "fuse.rclone", "fuse.glusterfs", "fuse.s3fs", "fuse.gcsfuse",
}  # fmt: skip
_MEMORY = {"tmpfs", "ramfs"}
# Return values of GetDriveTypeW (fileapi.h).
_DRIVE_REMOTE, _DRIVE_RAMDISK = 4, 6


class Volume(NamedTuple):
    """A mounted file system."""

    mount_point: str
    device: str
    file_system: str
    kind: DiskKind


def disk_of(folder: Path) -> Disk:
    """Return the disk that `folder` is on, or the disk of the nearest existing folder above it.

    Raises BadOption if `folder` is a file; DiskProblem if it cannot be examined; the errors of `reads.aside`.
    """

    def ask() -> tuple[Path, int, int]:
        with reads.noted():
            if folder.is_file():
                raise BadOption(
                    f"{folder} is a file, not a folder.", "Choose the folder that holds the models."
                )
            here = nearest(folder)
            usage = shutil.disk_usage(here)
            return here, usage.total, usage.free

    try:
        here, total, free = reads.aside(ask)
    except OSError as error:
        raise DiskProblem(
            f"{folder} cannot be opened: {error.strerror}.",
            "Check the disk and the folder's permissions, or choose another folder (--models).",
        ) from error
    if sys.platform == "win32":
        from engine.machine import windows

        volume = windows_volume(*windows.volume(here))
    else:
        volume = linux_volume(here)
    return Disk(str(folder.absolute()), *volume, total, free)


def nearest(folder: Path) -> Path:
    """Return `folder` or the nearest existing folder above it, with links resolved."""
    folder = folder.absolute()
    return next(parent for parent in (folder, *folder.parents) if parent.is_dir()).resolve()


def linux_volume(folder: Path, root: Path = ROOT) -> Volume:
    """Return the mounted file system that `folder`, an absolute path without links, is on."""
    inside = PurePosixPath(folder)
    mount = ("/", "", "", "")
    for line in text(root / "proc/self/mountinfo").splitlines():  # proc_pid_mountinfo(5)
        before, _, after = line.partition(" - ")
        left, right = before.split(), after.split()
        if len(left) < 5 or len(right) < 2:
            continue
        point = _unescaped(left[4])
        # Of two mounts at one point, the later one hides the earlier one.
        if inside.is_relative_to(point) and len(point) >= len(mount[0]):
            mount = (point, _unescaped(right[1]), right[0], left[2])
    point, device, file_system, number = mount
    return Volume(point, device, file_system, _linux_kind(root, device, file_system, number))


def _linux_kind(root: Path, device: str, file_system: str, number: str) -> DiskKind:
    if file_system in _NETWORK:
        return "network"
    if file_system in _MEMORY:
        return "memory"
    block = root / "sys/dev/block" / number
    if not block.exists():  # some file systems use a device number of their own: then go by the name
        block = root / "sys/class/block" / PurePosixPath(device).name
    block = block.resolve()
    # A partition has no queue of its own, but its disk, which is the parent folder, has one.
    rotational = text(block / "queue/rotational") or text(block.parent / "queue/rotational")
    kinds: dict[str, DiskKind] = {"0": "ssd", "1": "hdd"}
    return kinds.get(rotational, "unknown")


def windows_volume(
    mount_point: str, device: str, file_system: str, drive_type: int, seek_penalty: bytes
) -> Volume:
    """Return the mounted file system as described by Windows.

    drive_type: the result of GetDriveTypeW. seek_penalty: a DEVICE_SEEK_PENALTY_DESCRIPTOR (winioctl.h), or
    empty if the disk provides none.
    """
    kind: DiskKind = "unknown"
    if drive_type == _DRIVE_REMOTE:
        kind = "network"
    elif drive_type == _DRIVE_RAMDISK:
        kind = "memory"
    elif len(seek_penalty) >= 9:
        _, _, incurs = struct.unpack_from("<II?", seek_penalty)
        kind = "hdd" if incurs else "ssd"
    return Volume(mount_point, device, file_system, kind)


def _unescaped(name: str) -> str:
    r"""Decode mountinfo's octal escapes, such as \040 for a space."""
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), name)
