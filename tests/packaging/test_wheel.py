"""The wheel works with the checkout out of reach: it carries what is not code, too."""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from engine.launch.interpreter import RUNTIME_ONLY

ROOT = Path(__file__).resolve().parents[2]
BUILD = """
import sys
sys.path.insert(0, "packaging")  # as the project's backend-path says
import wheel_backend
getattr(wheel_backend, sys.argv[1])(sys.argv[2])
"""


def build(kind: str, source: Path, folder: Path) -> Path:
    """Build the "wheel" or the "sdist" of the project in `source` as pip does; return the new file."""
    folder.mkdir()
    subprocess.run(
        [sys.executable, "-c", BUILD, f"build_{kind}", folder], cwd=source, check=True, timeout=200
    )
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from the sdist, which is built from the tracked files."""
    folder = tmp_path_factory.mktemp("build")
    tracked = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    for name in filter(None, tracked):
        if name.startswith("tests/") or not (ROOT / name).is_file():
            continue
        copy = folder / "source" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.hardlink_to(ROOT / name)
    sdist = build("sdist", folder / "source", folder / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    return build("wheel", source, folder / "wheel")


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has the wheel and its dependencies, without torch and what
    comes with it, and not this checkout."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder / "venv", symlinks=os.name != "nt")
    windows = os.name == "nt"
    site = (
        folder
        / "venv"
        / ("Lib" if windows else f"lib/python{sysconfig.get_python_version()}")
        / "site-packages"
    )
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith(("__editable__", *RUNTIME_ONLY)) and path.suffix != ".pth":
            (site / path.name).symlink_to(path)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return folder / "venv" / ("Scripts/python.exe" if windows else "bin/python")


def run(python: Path, *arguments: str) -> str:
    """Run Python in a folder and with a home of its own; return its output."""
    home = python.parents[1] / "home"
    home.mkdir(exist_ok=True)
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home), "XDG_DATA_HOME": str(home)}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [python, *arguments], capture_output=True, text=True, cwd=home, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_carries_all_resources_that_the_program_reads(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for list in ("linux/torch-cuda.txt", "windows/torch-cpu.txt", "linux/engine.txt", "linux/backends.toml"):
        assert f"resources/requirements/{list}" in names
    folders = {"catalog": "*.toml", "icons": "*.svg", "translations": "*.qm", "drafts": "*/*.safetensors"}
    wanted = [
        path for folder, pattern in folders.items() for path in (ROOT / "resources" / folder).glob(pattern)
    ]
    wanted += [ROOT / "resources" / "machines.toml", ROOT / "resources" / "calibration.txt"]
    assert len(wanted) > 25
    assert {path.relative_to(ROOT).as_posix() for path in wanted} <= names
    assert not {name for name in names if name.endswith((".gguf", ".ts", ".png"))}


def test_the_wheel_carries_every_module(wheel: Path) -> None:
    modules = {
        path.relative_to(ROOT).as_posix()
        for room in ("app", "engine")
        for path in (ROOT / room).rglob("*.py")
    }
    tracked = set(subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines())
    assert modules & tracked <= set(zipfile.ZipFile(wheel).namelist())


def test_its_commands_read_catalogue_and_machines_out_of_reach_of_the_checkout(python: Path) -> None:
    where = run(python, "-c", "import engine; print(engine.__path__[0])").strip()
    assert not Path(where).is_relative_to(ROOT)
    plan = json.loads(run(python, "-m", "engine.cli", "plan", "--vram", "12", "--ram", "32", "--json"))
    assert plan["predicted_tokens_per_second"] > 0
    assert "RTX 4090" in run(python, "-m", "engine.cli", "plan", "--table")


def test_the_entry_point_is_the_command_line(python: Path) -> None:
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]["specexec"]
    module, _, function = entry.partition(":")
    code = (
        f"import sys, {module}; sys.argv = ['specexec', 'models', '--json']; sys.exit({module}.{function}())"
    )
    assert json.loads(run(python, "-c", code)) is not None


def test_what_it_sets_up_comes_from_its_own_lists(python: Path) -> None:
    code = """
from engine import runtime
from engine.launch import interpreter
assert interpreter.uses_runtimes() and not interpreter.is_packaged()
assert interpreter.command("engine.cli") == [interpreter.sys.executable, "-m", "engine.cli"]
assert "cuda" in runtime.backends()
assert all(path.is_file() for path in runtime.backends()["cuda"].lists())
"""
    run(python, "-c", code)


def test_its_window_has_icons_translations_and_the_shipped_head(python: Path) -> None:
    code = """
import os
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import QApplication
from app.startup import languages
from app.widgets.icons import icon
from engine import catalog
application = QApplication([])
assert not icon("search").pixmap(16, 16).isNull()
assert QTranslator().load(str(languages.FOLDER / "specexec_ko.qm"))
assert catalog.heads_for("smollm2").is_dir()
"""
    run(python, "-c", code)
