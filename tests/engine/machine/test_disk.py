"""The disk of a folder, from a recorded mountinfo and sysfs and from recorded answers of Windows."""

import errno
import os
import shutil
import struct
from pathlib import Path

import pytest

from engine.errors import BadOption, DiskProblem
from engine.machine.disk import disk_of, linux_volume, nearest, windows_volume
from tests.engine.machine.trees import put

MOUNTS = r"""
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
40 27 8:17 / /mnt/big\040disk rw,relatime - ext4 /dev/sdb1 rw
41 27 0:50 / /mnt/nas rw,relatime - nfs4 nas:/models rw,vers=4.2
42 27 0:51 / /mnt/c rw,noatime - 9p C:\134 rw,aname=drvfs;path=C:\
43 27 0:52 /sub /home rw,relatime - btrfs /dev/nvme0n1p3 rw
44 27 0:53 / /tmp rw - tmpfs tmpfs rw
45 27 253:1 / /data rw - xfs /dev/mapper/luks-data rw
46 27 0:54 / /overlay rw - overlay overlay rw
47 27 8:17 / /hidden rw - ext4 /dev/sdb1 rw
48 47 0:55 / /hidden rw - tmpfs tmpfs rw
49 27"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    if os.name == "nt":
        pytest.skip("Windows has no names with colons")
    devices = "sys/devices/pci0"
    put(
        tmp_path,
        {
            "proc/self/mountinfo": MOUNTS,
            f"{devices}/nvme0n1/queue/rotational": "0",
            f"{devices}/nvme0n1/nvme0n1p2/partition": "2",
            f"{devices}/nvme0n1/nvme0n1p3/partition": "3",
            f"{devices}/sdb/queue/rotational": "1",
            f"{devices}/sdb/sdb1/partition": "1",
            "sys/devices/virtual/block/dm-1/queue/rotational": "1",
        },
    )
    numbers, names = tmp_path / "sys/dev/block", tmp_path / "sys/class/block"
    numbers.mkdir(parents=True)
    names.mkdir(parents=True)
    (numbers / "259:2").symlink_to(tmp_path / devices / "nvme0n1/nvme0n1p2")
    (numbers / "8:17").symlink_to(tmp_path / devices / "sdb/sdb1")
    (numbers / "253:1").symlink_to(tmp_path / "sys/devices/virtual/block/dm-1")
    (names / "nvme0n1p3").symlink_to(tmp_path / devices / "nvme0n1/nvme0n1p3")
    return tmp_path


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("/srv/models", ("/", "/dev/nvme0n1p2", "ext4", "ssd")),
        ("/mnt/big disk/models", ("/mnt/big disk", "/dev/sdb1", "ext4", "hdd")),
        ("/mnt/big disk", ("/mnt/big disk", "/dev/sdb1", "ext4", "hdd")),
        ("/mnt/big diskette", ("/", "/dev/nvme0n1p2", "ext4", "ssd")),
        ("/mnt/nas/a/b", ("/mnt/nas", "nas:/models", "nfs4", "network")),
        ("/mnt/c/Users/Zoe", ("/mnt/c", "C:\\", "9p", "network")),
        ("/home/zoe", ("/home", "/dev/nvme0n1p3", "btrfs", "ssd")),
        ("/tmp/models", ("/tmp", "tmpfs", "tmpfs", "memory")),
        ("/data", ("/data", "/dev/mapper/luks-data", "xfs", "hdd")),
        ("/overlay/models", ("/overlay", "overlay", "overlay", "unknown")),
        ("/hidden/models", ("/hidden", "tmpfs", "tmpfs", "memory")),
    ],
)
def test_a_folder_belongs_to_the_nearest_mount_above_it(root: Path, folder: str, expected: tuple[str, ...]):
    assert linux_volume(Path(folder), root) == expected


@pytest.mark.parametrize("mountinfo", [{}, {"proc/self/mountinfo": b"\xff - \xfe\n\n - - -\n1 2 3"}])
def test_malformed_mounts_leave_the_disk_unknown(tmp_path: Path, mountinfo: dict[str, str | bytes]):
    assert linux_volume(Path("/models"), put(tmp_path, mountinfo)).kind == "unknown"


HAS_SEEKS, NO_SEEKS = struct.pack("<II?3x", 12, 12, True), struct.pack("<II?3x", 12, 12, False)


@pytest.mark.parametrize(
    ("drive_type", "seek_penalty", "kind"),
    [
        (3, HAS_SEEKS, "hdd"),
        (3, NO_SEEKS, "ssd"),
        (3, b"", "unknown"),
        (2, NO_SEEKS, "ssd"),
        (4, b"", "network"),
        (6, b"", "memory"),
        (1, HAS_SEEKS[:8], "unknown"),
    ],
)
def test_windows_reports_the_kind_of_a_drive(drive_type: int, seek_penalty: bytes, kind: str):
    volume = windows_volume("D:\\", r"\\?\Volume{1a2b}" + "\\", "NTFS", drive_type, seek_penalty)
    assert volume == ("D:\\", r"\\?\Volume{1a2b}" + "\\", "NTFS", kind)


def test_a_missing_folder_has_the_disk_of_its_parent(tmp_path: Path):
    there, missing = disk_of(tmp_path), disk_of(tmp_path / "a" / "b")
    assert missing.folder == str(tmp_path / "a" / "b")
    assert missing.mount_point == there.mount_point
    assert missing.total_nbytes == there.total_nbytes >= there.free_nbytes > 0
    assert nearest(tmp_path / "a" / "b") == tmp_path.resolve()


def test_a_file_and_an_unreadable_folder_are_named_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "model.gguf"
    file.touch()
    with pytest.raises(BadOption, match="not a folder"):
        disk_of(file)

    def refused(path: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(shutil, "disk_usage", refused)
    with pytest.raises(DiskProblem, match="cannot be opened: Permission denied"):
        disk_of(tmp_path)


def test_links_are_resolved(root: Path):
    (root / "link").symlink_to(root / "proc")
    assert nearest(root / "link" / "models") == (root / "proc").resolve()
