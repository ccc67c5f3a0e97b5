"""The parts of packaging/build.py that can be tested without a build."""

import hashlib
import importlib
import json
import os
import re
import shutil
import struct
import subprocess
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from engine import runtime
from engine.hub import Stop
from engine.launch import interpreter
from engine.runtime.progress import SetupMeter
from engine.updates import Package
from engine.updates.index import CONTEXT, verified_index
from engine.updates.package import package_in

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch):
    """Return a function that loads a module of packaging/installers by name."""
    monkeypatch.syspath_prepend(str(PACKAGING))

    def load(name: str) -> ModuleType:
        return importlib.import_module(f"installers.{name}")

    return load


def test_every_listed_package_has_hashes_and_no_list_has_a_url() -> None:
    for path in (PACKAGING / "requirements").glob("*.txt"):
        text = path.read_text()
        assert "://" not in text
        pins = [line for line in text.splitlines() if line[:1].isalnum()]
        assert pins
        assert all(block.count("--hash=sha256:") for block in text.split("\n\n")), path.name
        assert len([line for line in pins if line.endswith("\\")]) == len(pins), path.name


def test_builds_side_by_side_create_their_tools_once(part, tmp_path, monkeypatch) -> None:
    common = part("common")
    monkeypatch.setattr(common, "WORK", tmp_path / "build")
    begun: list[tuple[str, ...]] = []

    def run(argv: list, **_: object) -> str:
        begun.append(tuple(map(str, argv)))
        time.sleep(0.05)
        return ""

    monkeypatch.setattr(common, "run", run)
    with ThreadPoolExecutor(4) as builds:
        folders = list(builds.map(lambda _: common.tools(), range(4)))
    assert set(folders) == {tmp_path / "build" / "tools"}
    assert len(begun) == 3, "the environment, uv, the packages"


def test_a_package_answers_without_a_runtime_and_the_runtime_has_no_qt(part) -> None:
    names = {
        name: {part("lists")._name(block).lower() for block in part("lists").read(f"{name}.txt")}
        for name in ("package", "engine", "torch")
    }
    lacking = {"accelerate", "safetensors", "torch", "transformers"}
    assert set(part("lists").RUNTIME_ONLY) == lacking == set(interpreter.RUNTIME_ONLY)
    assert {"pyside6-essentials", "msgspec", "numba", "tokenizers", "jinja2", "llguidance"} <= names[
        "package"
    ]
    assert not names["package"] & (lacking | {"triton", "sympy"})
    assert {"transformers", "numba", "nvidia-ml-py"} <= names["engine"]
    assert not names["engine"] & {"torch", "triton", "pyside6-essentials"}
    assert {"torch", "triton", "nvidia-cudnn-cu13"} <= names["torch"]
    assert "nvidia-ml-py" not in names["torch"]


def test_the_lists_match_the_constraints(part) -> None:
    def versions(lines: list[str]) -> dict[str, str]:
        pairs = [line.split()[0].split("==") for line in lines if line[:1].isalnum()]
        return {name.lower().replace("_", "-"): version for name, version in pairs}

    constraints = versions((PACKAGING / "constraints.txt").read_text().splitlines())
    for name in ("package.txt", "engine.txt", "torch.txt"):
        pins = versions(part("lists").read(name))
        assert {key: pins[key] for key in pins.keys() & constraints.keys()} == {
            key: constraints[key] for key in pins.keys() & constraints.keys()
        }, f"{name} is older than constraints.txt: run `packaging/build.py lock`"


def test_a_backend_without_a_hash_is_omitted_unless_a_wheel_folder_provides_one(part, tmp_path: Path) -> None:
    lists = part("lists")
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl").write_bytes(b"torch")
    (wheels / "torch-2.13.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl").write_bytes(b"another Python's")
    offered = lists.write(tmp_path / "linux", "linux", wheels)
    assert offered == ["cpu", "cuda"]
    pins = (tmp_path / "linux" / "torch-cpu.txt").read_text()
    assert pins.startswith("torch==2.13.0+cpu --hash=sha256:")
    assert pins.count("--hash") == 1
    backends = tomllib.loads((tmp_path / "linux" / "backends.toml").read_text())
    assert backends["cuda"]["driver"] == "580.65"
    assert lists.write(tmp_path / "windows", "windows", None) == ["cpu"]
    assert (tmp_path / "windows" / "torch-cpu.txt").read_text().startswith("torch==2.13.0 ")
    assert lists.write(tmp_path / "none", "linux", None) == ["cuda"], (
        "a package refuses that, a wheel does not"
    )


def test_cuda_on_windows_brings_triton_from_the_default_index(part, tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / "torch-2.13.0+cu130-cp311-cp311-win_amd64.whl").write_bytes(b"torch")
    assert part("lists").write(tmp_path / "windows", "windows", wheels) == ["cpu", "cuda"]
    common = (tmp_path / "windows" / "engine.txt").read_text()
    own = (tmp_path / "windows" / "engine-cuda.txt").read_text()
    assert own.startswith(common)
    assert re.fullmatch(r"triton-windows==3\.7\S+ --hash=sha256:\w{64}\n", own.removeprefix(common))
    assert not (tmp_path / "windows" / "engine-cpu.txt").exists()
    assert "also" not in (tmp_path / "windows" / "backends.toml").read_text()


def test_the_app_reads_a_runtime_file(part, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = part("archive")
    (tmp_path / "dist").mkdir()
    monkeypatch.setattr(archive, "WORK", tmp_path)
    monkeypatch.setattr(archive, "PART_NBYTES", 1000)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    lists = tmp_path / "requirements"
    lists.mkdir()
    for name in ("engine", "torch-cpu"):
        (lists / f"{name}.txt").write_text(name)
    (lists / "backends.toml").write_text("[cpu]\nnbytes = 1\ndownload_nbytes = 1\n")
    wheel = tmp_path / "thinking-1.0-py3-none-any.whl"
    wheel.write_bytes(bytes(range(256)) * 10)
    manifest = {"backend": "cpu", "key": archive.key([lists / "engine.txt", lists / "torch-cpu.txt"])}
    archive._write(tmp_path / "dist" / "runtime.zip", [wheel], manifest)
    parts = sorted(path.name for path in (tmp_path / "dist").iterdir())
    assert parts == ["runtime.zip.001", "runtime.zip.002", "runtime.zip.003", "runtime.zip.sha256"]
    monkeypatch.setattr(interpreter, "ROOT", tmp_path)
    runtime.backends.cache_clear()
    runtime.Archive(tmp_path / "dist" / "runtime.zip.001").unpack(tmp_path / "to", Stop(), SetupMeter())
    assert (tmp_path / "to" / wheel.name).read_bytes() == wheel.read_bytes()
    runtime.backends.cache_clear()


def test_runtime_files_use_pytorchs_index_or_a_wheel_folder(part) -> None:
    sources = part("archive").sources
    assert sources("https://torch.invalid", None) == ["--index-url", "https://torch.invalid"]
    assert sources("https://torch.invalid", Path("wheels")) == ["--find-links", Path("wheels")]
    assert sources("", None) == []


def test_an_icon_file_contains_every_size(part, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def png(target: Path, size: int) -> Path:
        target.write_bytes(bytes([size % 256]) * size)
        return target

    monkeypatch.setattr(part("icons"), "png", png)
    part("icons").ico(tmp_path / "app.ico", tmp_path)
    data = (tmp_path / "app.ico").read_bytes()
    count = struct.unpack_from("<HHH", data)[2]
    for number in range(count):
        width, _, _, _, _, _, nbytes, at = struct.unpack_from("<BBBBHHII", data, 6 + 16 * number)
        assert data[at : at + nbytes] == bytes([width]) * (width or 256)


def test_the_sbom_lists_the_tree_and_copies_its_licences(
    part, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")

    def package(folder: Path, name: str, licence: str) -> Path:
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Name: {name}\nVersion: 1.0\nLicense-Expression: {licence}\n")
        return info

    thinking = package(tmp_path / "lib", "thinking", "MIT") / "licenses"
    (thinking / "inner").mkdir(parents=True)
    (thinking / "LICENSE").write_text("do what you like")
    (thinking / "inner" / "LICENSE").write_text("and here, too")
    package(tmp_path / "lib", "window", "LGPL-3.0-only")
    part("licences").write(tmp_path, "windows", "1.2.3", [package(tmp_path, "uv", "MIT")])
    bill = json.loads((tmp_path / "sbom.json").read_text())
    assert (bill["specVersion"], bill["metadata"]["component"]["version"]) == ("1.5", "1.2.3")
    assert {"thinking", "window", "python", "uv", "SmolLM2-135M-Instruct"} == {
        component["name"] for component in bill["components"]
    }
    texts = tmp_path / "licences"
    assert (texts / "thinking" / "LICENSE").read_text() == "do what you like"
    assert (texts / "thinking" / "inner" / "LICENSE").read_text() == "and here, too"
    assert "LESSER GENERAL PUBLIC" in (texts / "window" / "LGPL-3.0.txt").read_text()
    assert "PYTHON SOFTWARE FOUNDATION LICENSE" in (texts / "Python.txt").read_text()
    assert "Apache License" in (texts / "SmolLM2-135M-Instruct.txt").read_text()


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="needs Debian's package manager")
def test_libraries_of_the_build_machine_are_listed_with_their_licences(part, tmp_path: Path) -> None:
    for name in ("libz.so.1", "libpython3.11.so.1.0"):
        (tmp_path / name).touch()
    (found,) = part("licences")._libraries(tmp_path, tmp_path)
    assert found["name"] == "zlib1g"
    assert str(found["purl"]).startswith("pkg:deb/")
    assert (tmp_path / "zlib1g" / "copyright").stat().st_size


def test_unused_parts_of_qt_are_removed(part, tmp_path: Path) -> None:
    kept = ["QtWidgets.abi3.so", "Qt/lib/libQt6XcbQpa.so.6", "Qt/plugins/platforms/libqxcb.so", "__init__.py"]
    removed = [
        "QtQml.abi3.so",
        "QtWidgets.pyi",
        "Qt/lib/libQt6Quick.so.6",
        "Qt/plugins/sqldrivers/x.so",
        "Qt/qml/x",
    ]
    for name in kept + removed:
        path = tmp_path / "PySide6" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    part("qt").prune(tmp_path)
    here = tmp_path / "PySide6"
    assert {str(path.relative_to(here)) for path in here.rglob("*") if path.is_file()} == set(kept)


def test_tests_headers_and_stubs_of_libraries_are_removed(part, tmp_path: Path) -> None:
    kept = ["numba/core/x.py", "numba/testing/x.py", "llvmlite/libllvmlite.so", "a-1.dist-info/RECORD"]
    removed = ["numba/tests/x.py", "numpy/_core/include/x.h", "tokenizers/x.pyi", "llvmlite/x.lib"]
    for name in kept + removed:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    part("bulk").prune(tmp_path)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert left == set(kept)


def test_winget_and_scoop_install_the_setup_of_a_release(part, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("GITHUB_REF_NAME", "v1.2.3")
    setup = tmp_path / "specexec-desktop-1.2.3-setup-x86_64.exe"
    setup.write_bytes(b"setup")
    digest = hashlib.sha256(b"setup").hexdigest()
    written = part("manifests").write(setup, "1.2.3", "https://github.com/owner/program")
    winget = {path.name: yaml.safe_load(path.read_text()) for path in written if path.suffix == ".yaml"}
    name = "SpecExec.SpecExecDesktop"
    assert sorted(winget) == [f"{name}.installer.yaml", f"{name}.locale.en-US.yaml", f"{name}.yaml"]
    assert {(each["PackageIdentifier"], each["PackageVersion"]) for each in winget.values()} == {
        (name, "1.2.3")
    }
    (installer,) = winget[f"{name}.installer.yaml"]["Installers"]
    url = f"https://github.com/owner/program/releases/download/v1.2.3/{setup.name}"
    assert installer == {"Architecture": "x64", "InstallerUrl": url, "InstallerSha256": digest.upper()}
    scoop = json.loads((tmp_path / "specexec-desktop.json").read_text())
    assert scoop["architecture"]["64bit"] == {"url": url, "hash": digest}
    renewed = scoop["autoupdate"]["architecture"]["64bit"]["url"]
    assert renewed.replace("$version", "1.2.3") == url
    assert renewed.count("$version") == 2


def test_flatpak_packs_the_deb_of_a_release(part, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("GITHUB_REF_NAME", "v1.2.3")
    deb = tmp_path / "specexec-desktop_1.2.3_amd64.deb"
    deb.write_bytes(b"deb")
    written = part("flatpak").write(deb, "1.2.3", "https://github.com/owner/program")
    manifest = json.loads(written.read_text())
    (source,) = manifest["modules"][0]["sources"]
    assert source["url"] == f"https://github.com/owner/program/releases/download/v1.2.3/{deb.name}"
    assert source["sha256"] == hashlib.sha256(b"deb").hexdigest()
    metainfo = (PACKAGING / "linux" / "specexec-desktop.metainfo.xml").read_text()
    assert f"<id>{manifest['id']}</id>" in metainfo
    assert written.name == f"{manifest['id']}.json"
    if shutil.which("flatpak-builder"):
        shown = ["flatpak-builder", "--show-manifest", written]
        read = json.loads(
            subprocess.run(shown, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
        )
        assert read == manifest


def test_the_image_has_no_package_of_the_window(part) -> None:
    lists = part("lists")
    names = {lists._name(block) for block in lists.without_window()}
    assert {"numba", "starlette", "uvicorn", "tokenizers"} <= names
    assert not names & {*lists.WINDOW_ONLY, *lists.RUNTIME_ONLY, "shiboken6", "ziafont"}


def test_images_of_the_same_files_have_the_same_bytes(part, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    image = part("image")
    digests = set()
    for turn, names in enumerate((("a", "b"), ("b", "a"))):
        folder = tmp_path / str(turn)
        (folder / "root").mkdir(parents=True)
        for name in names:
            (folder / "root" / name).write_text(name)
            os.utime(folder / "root" / name, (turn, turn))
        layer = image.pack(folder / "root", folder / "layer", 9, "a test")
        image.write(folder / "image.tar", [layer], "1.2.3")
        digests.add(hashlib.sha256((folder / "image.tar").read_bytes()).hexdigest())
    assert len(digests) == 1


def test_the_setup_packs_files_in_the_order_of_their_names(part, tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.py", "a/ä b.py", "a-b/x", "cash/$HOME.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "empty").mkdir()
    commands = part("windows").file_commands(tmp_path, "$INSTDIR\\app-1").replace(str(tmp_path), "T")
    assert commands.splitlines() == [
        'SetOutPath "$INSTDIR\\app-1"',
        'File "T/b.txt"',
        'SetOutPath "$INSTDIR\\app-1\\a"',
        'File "T/a/z.py"',
        'File "T/a/ä b.py"',
        'SetOutPath "$INSTDIR\\app-1\\a-b"',
        'File "T/a-b/x"',
        'SetOutPath "$INSTDIR\\app-1\\cash"',
        'File "T/cash/$$HOME.py"',
        'SetOutPath "$INSTDIR\\app-1\\empty"',
        'SetOutPath "$INSTDIR"',
    ]


def test_windows_versions_have_four_numbers(part) -> None:
    windows = part("windows")
    assert windows._quad("0.1.0", ".") == "0.1.0.0"
    assert windows._quad("1.2.3rc4", ",") == "1,2,3,4"


def test_a_package_names_where_it_looks_for_updates_only_with_a_key(part, tmp_path: Path) -> None:
    tree, order = part("tree"), part("common").Order("1.2", None, True, tmp_path, "https://x/releases.json")
    tree.write_metadata(tmp_path, "1.2")
    (metadata,) = tmp_path.glob("*.dist-info/METADATA")
    assert metadata.read_text() == "Metadata-Version: 2.1\nName: specexec-desktop\nVersion: 1.2\n"
    tree.write_package(tmp_path, "deb", order)
    assert package_in(tmp_path) == Package("deb", "1.2")
    tree.write_package(tmp_path, "run", replace(order, public_key="ab" * 32))
    assert package_in(tmp_path) == Package("run", "1.2", "https://x/releases.json", "ab" * 32)


def test_a_release_index_is_signed_and_read_by_the_program(part, tmp_path: Path, monkeypatch, capsys) -> None:
    releases = part("releases")
    monkeypatch.delenv("GITHUB_REF_NAME", raising=False)
    releases.make_key(tmp_path / "key")
    public = capsys.readouterr().out.strip()
    assert (tmp_path / "key").stat().st_mode & 0o77 == 0
    with pytest.raises(FileExistsError):
        releases.make_key(tmp_path / "key")
    with pytest.raises(part("common").Failed, match="no package"):
        releases.write_index(tmp_path, "1.2", tmp_path / "key", "")
    for name in ("specexec-desktop-1.2-x86_64.run", "specexec-desktop_1.2_amd64.deb"):
        (tmp_path / name).write_bytes(name.encode())
    for repository in ("", "https://github.com/owner/program"):
        written = releases.write_index(tmp_path, "1.2", tmp_path / "key", repository)
        index = verified_index(written.read_bytes(), public)
        assert (index.version, [file.kind for file in index.files]) == ("1.2", ["run", "deb"])
        base = f"{repository}/releases/download/v1.2/" if repository else ""
        assert index.files[0].url == f"{base}specexec-desktop-1.2-x86_64.run"
        assert index.files[0].sha256 == hashlib.sha256(b"specexec-desktop-1.2-x86_64.run").hexdigest()
    assert part("releases").CONTEXT == CONTEXT
    with pytest.raises(part("common").Failed, match="no key"):
        releases.read_key(tmp_path / "specexec-desktop-1.2-x86_64.run")


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="needs Debian's package manager")
def test_apt_reads_the_repository(part, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    control = tmp_path / "root" / "DEBIAN" / "control"
    control.parent.mkdir(parents=True)
    control.write_text(
        "Package: specexec-desktop\nVersion: 1.2\nArchitecture: amd64\nMaintainer: x <x@example.org>\n"
        "Description: short\n longer\n"
    )
    deb = tmp_path / "specexec-desktop_1.2_amd64.deb"
    subprocess.run(["dpkg-deb", "--build", tmp_path / "root", deb], check=True, capture_output=True)
    folder = part("releases").write_apt(tmp_path, "1.2")
    sources = tmp_path / "sources.list"
    sources.write_text(f"deb [trusted=yes] file:{folder} ./\n")
    state = tmp_path / "state"
    (state / "lists" / "partial").mkdir(parents=True)
    options = [f"Dir::Etc::SourceList={sources}", "Dir::Etc::SourceParts=-", f"Dir::State={state}"]
    options += [f"Dir::Cache={tmp_path / 'cache'}", "APT::Sandbox::User=root"]
    chosen = [part for option in options for part in ("-o", option)]
    subprocess.run(["apt-get", *chosen, "update"], check=True, capture_output=True)
    shown = subprocess.run(
        ["apt-cache", *chosen, "policy", "specexec-desktop"], capture_output=True, text=True
    )
    assert "Candidate: 1.2" in shown.stdout
