"""The .deb in a root that has nothing else, and the AppImage, each from its installation to its end."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packaging.installed.conftest import NAME, build, need, one, report

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="makes a root: needs root"),
]


class CleanRoot:
    """Debian 12 with nothing but what a package asks for. Attributes: `folder`; `home`: of its user."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder / "home" / "somebody"

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        clean = {
            "HOME": "/home/somebody",
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            **environment,
        }
        return subprocess.run(
            ["chroot", self.folder, *command],
            env=clean,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    def shell(self, script: str) -> None:
        done = self.run("sh", "-ec", script, DEBIAN_FRONTEND="noninteractive")
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def packages() -> None:
    need("mksquashfs", "patchelf", "gcc")
    build("linux", "--fast", "--only", "deb", "--only", "appimage")
    build("runtime", "cpu")


@pytest.fixture(scope="module")
def root(packages: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CleanRoot]:
    need("debootstrap", "mount")
    folder = tmp_path_factory.mktemp("root")
    subprocess.run(["debootstrap", "--variant=minbase", "bookworm", folder], check=True, capture_output=True)
    mounted = [("proc", "proc"), ("sysfs", "sys")]
    for kind, name in mounted:
        subprocess.run(["mount", "-t", kind, kind, folder / name], check=True)
    shutil.copy("/etc/resolv.conf", folder / "etc" / "resolv.conf")
    clean = CleanRoot(folder)
    clean.home.mkdir()
    for path in (
        one(f"{NAME}_*_amd64.deb"),
        *one("*runtime-cpu-linux*.zip").parent.glob("*runtime-cpu-linux*"),
    ):
        shutil.copy(path, folder / "srv" / path.name)
    yield clean
    for _, name in mounted:
        subprocess.run(["umount", "-l", folder / name], check=True)
    shutil.rmtree(folder)


def test_a_deb_installs_answers_and_leaves_only_what_is_the_users(root: CleanRoot) -> None:
    before = files_of(root.folder)
    root.shell("apt-get update -qq; apt-get install -qq --no-install-recommends /srv/*.deb")
    with_dependencies = files_of(root.folder) - {path for path in files_of(root.folder) if NAME in path}

    first = root.run(
        "specexec-desktop", "--self-test", "/home/somebody/window.png", QT_QPA_PLATFORM="offscreen"
    )
    seen = report(first.stdout)
    assert (first.returncode, seen["ok"]) == (0, True), first.stderr
    assert float(str(seen["window_after_s"])) < 2
    missing = root.run("specexec", "chat", "hello")
    assert missing.returncode == 1
    assert "not set up" in missing.stderr

    archive = next((root.folder / "srv").glob("*.zip")).name
    done = root.run("specexec", "setup", "--archive", f"/srv/{archive}")
    assert done.returncode == 0, done.stdout + done.stderr
    test = ("specexec-desktop", "--self-test", "/home/somebody/answer.png", "--with-engine")
    answered = root.run(*test, QT_QPA_PLATFORM="offscreen")
    assert "Paris" in str(report(answered.stdout)["answer"]), answered.stderr

    root.shell("apt-get install -qq --no-install-recommends xvfb xauth")
    shown = root.run("xvfb-run", "-a", *test)
    assert (report(shown.stdout)["platform"], report(shown.stdout)["ok"]) == ("xcb", True), shown.stderr

    removed = root.run("dpkg", "--purge", NAME)
    assert removed.returncode == 0
    assert ".local/share/specexec-desktop" in removed.stdout
    left = {path for path in files_of(root.folder) - before - with_dependencies if NAME in path}
    assert left
    assert all(path.startswith("home/somebody/.") for path in left if not path.startswith("srv/"))


def files_of(folder: Path) -> set[str]:
    skipped = ("proc", "sys")
    return {
        str(path.relative_to(folder))
        for top in folder.iterdir()
        if top.name not in skipped
        for path in top.rglob("*")
    }


def test_an_appimage_runs_without_fuse_and_replaces_what_it_had_unpacked(
    packages: None, tmp_path: Path
) -> None:
    home = tmp_path / "a höme"
    image = tmp_path / "Spec Exec.AppImage"
    shutil.copy(one("*.AppImage"), image)
    old = home / ".cache" / NAME / "appimage" / "an older one"
    old.mkdir(parents=True)
    environment = {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "QT_QPA_PLATFORM": "offscreen",
        "LANG": "C.UTF-8",
    }
    picture = tmp_path / "window.png"
    for _ in range(2):  # unpacks, and finds it unpacked
        command = [image, "--self-test", picture]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert report(done.stdout)["ok"] is True, done.stderr
    assert picture.stat().st_size > 10_000
    assert not old.exists()
    (unpacked,) = (home / ".cache" / NAME / "appimage").iterdir()
    assert (unpacked / "AppRun").exists()


def test_desktop_entry_and_appstream_data_are_valid(packages: None, tmp_path: Path) -> None:
    need("dpkg-deb", "desktop-file-validate", "appstreamcli")
    subprocess.run(["dpkg-deb", "-x", one(f"{NAME}_*_amd64.deb"), tmp_path], check=True)
    share = tmp_path / "usr" / "share"
    subprocess.run(["desktop-file-validate", share / "applications" / f"{NAME}.desktop"], check=True)
    metainfo = share / "metainfo" / f"{NAME}.metainfo.xml"
    done = subprocess.run(
        ["appstreamcli", "validate", "--no-net", metainfo], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
