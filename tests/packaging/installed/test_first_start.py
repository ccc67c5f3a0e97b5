"""The first start without a terminal, on machines that are not as one would wish."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.packaging.installed.clean_root import CleanRoot, clean_root
from tests.packaging.installed.conftest import NAME, answers, need, one, only_root, wait_for
from tests.packaging.installed.display import display
from tests.packaging.installed.network_drive import SERVER, network_drive

pytestmark = [pytest.mark.timeout(1800), only_root]
PROGRAM = "specexec-desktop"
OTHER = 1001  # a second user


@pytest.fixture
def shown(root: CleanRoot) -> Iterator[str]:
    """A display that the root's programs reach."""
    need("Xvfb", "xdotool")
    with display() as found:
        root.show(found)
        yield found


def widths(display: str) -> list[int]:
    """The widths of the program's windows, the smallest first."""

    def ask(*arguments: str) -> list[str]:
        command = ["xdotool", *arguments]
        environment = {**os.environ, "DISPLAY": display}
        return subprocess.run(command, env=environment, capture_output=True, text=True).stdout.split()

    windows = ask("search", "--onlyvisible", "--name", "SpecExec Desktop")
    found = []
    for window in windows:
        geometry = dict(each.split("=") for each in ask("getwindowgeometry", "--shell", window))
        found.append(int(geometry.get("WIDTH", 0)))
    return sorted(width for width in found if width > 1)


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """Mount a disk of a quarter of a MiB and fill it; yields the file that fills it."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", place], check=True)
    try:
        filling = place / "filling"
        with suppress(OSError), filling.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        yield filling
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def test_a_screen_scaled_to_150_percent(root: CleanRoot, before: set[str], shown: str) -> None:
    found = answers(root, PROGRAM, DISPLAY=shown, QT_SCALE_FACTOR="1.5")
    assert found["platform"] == "xcb"


def test_wayland(root: CleanRoot, before: set[str], tmp_path: Path) -> None:
    need("weston")
    tmp_path.chmod(0o700)
    inside = root.folder / "tmp" / "wayland"
    inside.mkdir(mode=0o700)
    command = ["weston", "--backend=headless-backend.so", "--socket=wayland-test", "--idle-time=0"]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    log = (tmp_path / "log").open("wb")
    compositor = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        wait_for((tmp_path / "wayland-test").exists)
        os.link(tmp_path / "wayland-test", inside / "wayland-test")
        found = answers(
            root,
            PROGRAM,
            QT_QPA_PLATFORM="wayland",
            XDG_RUNTIME_DIR="/tmp/wayland",
            WAYLAND_DISPLAY="wayland-test",
        )
        assert found["platform"] == "wayland"
    finally:
        compositor.terminate()
        compositor.wait(30)
        log.close()
        shutil.rmtree(inside)  # as the end of a session does


def test_a_full_disk_is_told_and_the_window_opens_without_chats(
    root: CleanRoot, before: set[str], shown: str
) -> None:
    environment = {"HOME": "/home/full", "DISPLAY": shown, "QT_QPA_PLATFORM": "xcb"}
    with root.new_home("full") as home, small_disk(home), root.opened(PROGRAM, **environment):
        wait_for(lambda: len(widths(shown)) == 1)
        assert widths(shown)[0] < 800, "a box that says what is wrong"
        pressed = {**os.environ, "DISPLAY": shown}
        subprocess.run(["xdotool", "key", "Return"], env=pressed, check=True)
        wait_for(lambda: widths(shown)[-1:] > [800])


def test_a_profile_on_a_network_drive(root: CleanRoot, before: set[str], shown: str, tmp_path: Path) -> None:
    need("sshfs")
    if not (SERVER.exists() and Path("/dev/fuse").exists()):
        pytest.skip("needs FUSE and openssh-sftp-server")
    environment = {"HOME": "/home/far", "DISPLAY": shown, "QT_QPA_PLATFORM": "xcb"}
    with root.new_home("far") as home, network_drive(tmp_path, home), root.opened(PROGRAM, **environment):
        wait_for(lambda: widths(shown)[-1:] > [800])
        data = tmp_path / ".local" / "share" / NAME
        wait_for((data / "conversations.sqlite").exists)


def test_two_users_have_a_window_each(root: CleanRoot, before: set[str], shown: str) -> None:
    environment = {"DISPLAY": shown, "QT_QPA_PLATFORM": "xcb"}
    with root.new_home("other", OTHER) as home, root.opened(PROGRAM, **environment):
        wait_for(lambda: len(widths(shown)) == 1)
        with root.opened(PROGRAM, OTHER, HOME="/home/other", **environment):
            wait_for(lambda: len(widths(shown)) == 2)
            wait_for((home / ".local" / "share" / NAME / "conversations.sqlite").exists)


def test_debian_13(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    need("debootstrap")
    with clean_root(tmp_path_factory.mktemp("trixie"), "trixie") as root:
        deb = one(packages, f"{NAME}_*_amd64.deb")
        shutil.copy(deb, root.folder / "srv")
        root.shell(f"apt-get update -qq && apt-get install -qq --no-install-recommends /srv/{deb.name}")
        with root.offline():
            answers(root, PROGRAM, QT_QPA_PLATFORM="offscreen")
        with display() as shown:
            root.show(shown)
            assert answers(root, PROGRAM, DISPLAY=shown)["platform"] == "xcb"
