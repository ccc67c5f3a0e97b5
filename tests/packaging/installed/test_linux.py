"""The Linux packages in a minimal root, from installation to removal."""

import importlib
import os
import subprocess
from pathlib import Path

import pytest

from tests.packaging.installed.clean_root import CleanRoot
from tests.packaging.installed.conftest import (
    NAME,
    NEWER,
    ROOT,
    answers,
    need,
    one,
    only_root,
    release_server,
    wait_for,
)
from tests.packaging.installed.display import display

pytestmark = [pytest.mark.timeout(1800), only_root]


def set_up(root: CleanRoot) -> None:
    archive = one(root.folder / "srv", "*-runtime-cpu-linux-*.zip").name
    done = root.run("specexec", "setup", "--archive", f"/srv/{archive}")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_deb_answers_and_leaves_only_user_data(root: CleanRoot, before: set[str]) -> None:
    with root.offline():
        first = answers(root, "specexec-desktop", QT_QPA_PLATFORM="offscreen")
        assert float(str(first["window_after_s"])) < 2
        said = root.run("specexec", "chat", "What is the capital of Japan?", "--seed", "1")
        assert "Tokyo" in said.stdout, said.stderr
        refused = root.run("specexec", "chat", "hello", "--dtype", "float32")
        assert refused.returncode == 1
        assert "needs PyTorch, which is not set up. Set it up in the window" in refused.stderr
        assert not (root.home / ".local" / "share" / NAME / "runtime" / "current.json").exists()

    (module,) = (root.folder / "opt" / NAME / "resources" / "triton").iterdir()
    assert module.name.startswith("cuda_utils-")
    assert one(root.folder / "opt" / NAME / "python" / "include", "*/Python.h").is_file()

    set_up(root)
    again = root.run("specexec", "chat", "What is the capital of Japan?", "--dtype", "float32")
    assert "Tokyo" in again.stdout, again.stderr
    need("Xvfb")
    with display() as shown:
        root.show(shown)
        assert answers(root, "specexec-desktop", DISPLAY=shown)["platform"] == "xcb"

    removed = root.run("dpkg", "--purge", NAME)
    assert removed.returncode == 0
    assert ".local/share/specexec-desktop" in removed.stdout
    left = {path for path in root.files() - before if NAME in path}
    assert left
    assert not [path for path in left if not path.startswith("home/somebody/.")]


def test_an_appimage_answers_without_fuse_and_replaces_older_copies(
    root: CleanRoot, before: set[str]
) -> None:
    assert not (root.folder / "dev" / "fuse").exists()
    image = root.folder / "home" / "somebody" / "Spëc Exec.AppImage"
    os.link(one(root.folder / "srv", "*.AppImage"), image)
    unpacked = root.home / ".cache" / NAME / "appimage"
    (unpacked / "an older one").mkdir(parents=True)
    for _ in range(2):  # first unpacks, then finds the unpacked copy
        answers(root, "/home/somebody/Spëc Exec.AppImage", QT_QPA_PLATFORM="offscreen")
        (folder,) = unpacked.iterdir()
        assert (folder / "AppRun").exists()


def test_a_run_file_installs_for_one_user_and_leaves_nothing(
    root: CleanRoot, before: set[str], packages: Path
) -> None:
    place = "/home/somebody/sóme place"
    file = one(root.folder / "srv", "*-0.*.run")
    with file.open("rb") as opened:
        assert os.fsencode(ROOT) not in opened.read(1 << 16)  # makeself records its command line
    done = root.run("sh", f"/srv/{file.name}", "--quiet", PREFIX=place)
    assert done.returncode == 0, done.stderr
    answers(root, f"{place}/bin/specexec-desktop", QT_QPA_PLATFORM="offscreen")
    prefix = root.home / "sóme place"
    entry = prefix / "share" / "applications" / f"{NAME}.desktop"
    assert f'Exec="{place}/lib/{NAME}/{NAME}" %f' in entry.read_text("utf-8")
    update(root, packages, place)
    removed = root.run(f"{place}/lib/{NAME}/uninstall")
    assert removed.returncode == 0, removed.stderr
    assert ".local/share/specexec-desktop" in removed.stdout
    assert [path for path in prefix.rglob("*") if not path.is_dir()] == []


def update(root: CleanRoot, packages: Path, place: str) -> None:
    """Let the program update itself: a version that is damaged is rolled back, and a whole one stays."""
    app = root.folder / place[1:] / "lib" / NAME
    old = (app / "current").read_text()
    settings = root.home / ".config" / NAME / "settings.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("updates = true\n")
    with release_server(packages, NEWER) as source:
        for is_damaged in (True, False):
            python = f"{place}/lib/{NAME}/{old}/python/bin/python3"
            done = root.run(python, "-I", "-c", source)
            assert f"next: app-{NEWER}" in done.stdout, done.stderr
            assert (app / "current").read_text() == old
            if is_damaged:
                (app / f"app-{NEWER}" / "lib" / "PySide6" / "QtWidgets.abi3.so").write_bytes(b"damaged")
            with root.opened(f"{place}/bin/specexec-desktop"):
                decided = (app / "update" / "trial").exists
                wait_for(lambda decided=decided: not decided())
            assert (app / "current").read_text() == (old if is_damaged else f"app-{NEWER}")
            assert (app / "update" / "refused").exists()  # until its news were read


def test_desktop_entry_and_appstream_data_are_valid(packages: Path, tmp_path: Path) -> None:
    need("dpkg-deb", "desktop-file-validate", "appstreamcli")
    unpack = 'dpkg-deb --fsys-tarfile "$0" | tar --extract --directory "$1" ./usr/share'
    subprocess.run(["sh", "-c", unpack, one(packages, f"{NAME}_*_amd64.deb"), tmp_path], check=True)
    share = tmp_path / "usr" / "share"
    subprocess.run(["desktop-file-validate", share / "applications" / f"{NAME}.desktop"], check=True)
    metainfo = share / "metainfo" / f"{NAME}.metainfo.xml"
    done = subprocess.run(
        ["appstreamcli", "validate", "--no-net", metainfo], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_flatpaks_build_commands_export_valid_files_under_its_name(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("ar", "desktop-file-validate", "appstreamcli")
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    flatpak = importlib.import_module("installers.flatpak")
    (module,) = flatpak.manifest("https://example.org/deb", "0" * 64)["modules"]
    sources, made = tmp_path / "sources", tmp_path / "app"
    sources.mkdir()
    os.link(one(packages, f"{NAME}_*_amd64.deb"), sources / module["sources"][0]["dest-filename"])
    for command in module["build-commands"]:
        subprocess.run(
            ["sh", "-ec", command], cwd=sources, env={**os.environ, "FLATPAK_DEST": str(made)}, check=True
        )
    assert os.access(made / "bin" / NAME, os.X_OK)
    exported = [path for path in (made / "share").rglob("*") if path.is_file()]
    assert {path.name.removesuffix(path.suffix) for path in exported} == {
        flatpak.IDENTIFIER,
        f"{flatpak.IDENTIFIER}.metainfo",
    }
    entry = made / "share" / "applications" / f"{flatpak.IDENTIFIER}.desktop"
    subprocess.run(["desktop-file-validate", entry], check=True)
    assert f"Icon={flatpak.IDENTIFIER}\n" in entry.read_text()
    metainfo = made / "share" / "metainfo" / f"{flatpak.IDENTIFIER}.metainfo.xml"
    subprocess.run(["appstreamcli", "validate", "--no-net", metainfo], check=True, capture_output=True)
    assert f">{flatpak.IDENTIFIER}.desktop</launchable>" in metainfo.read_text()
