"""Make a relocatable copy of the build machine's CPython, with the libraries that its modules need."""

import re
import shutil
import sys
import sysconfig
from pathlib import Path

from installers.common import PYTHON, Failed, run, say

# Files of the standard library that are not copied. The modules in the last line are left out so that the
# libraries that only they need are not copied either.
LEFT_OUT = (
    "site-packages", "test", "tests", "pydoc_data", "idlelib", "tkinter", "turtledemo", "turtle.py",
    "ensurepip", "lib2to3",
    "__pycache__", "config-3*", "_tkinter*", "_test*", "_ctypes_test*", "xxlimited*", "_xx*",
    "readline*", "curses", "_curses*", "nis*", "ossaudiodev*",
)  # fmt: skip
# The libraries of glibc, which are not copied: the program uses those of the system it runs on.
GLIBC = re.compile(r"(libc|libm|libpthread|libdl|librt|libutil|ld-linux[^.]*|libcrypt|libnsl|libresolv)\.so")


def build(folder: Path) -> None:
    if "{}.{}".format(*sys.version_info) != PYTHON:
        raise Failed(f"the Linux packages include the Python that builds them: run this with Python {PYTHON}")
    say("  the interpreter")
    base, name = Path(sys.base_prefix), f"python{PYTHON}"
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / name
    shutil.copy2(base / "bin" / name, program)
    (folder / "bin" / "python3").symlink_to(name)
    # Triton for AMD's cards compiles against these where the system has a compiler.
    shutil.copytree(sysconfig.get_path("include"), folder / "include" / name)
    standard = folder / "lib" / name
    source = Path(sysconfig.get_path("stdlib"))
    shutil.copytree(source, standard, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for library in base.glob("lib/libpython3*.so*"):
        shutil.copy2(library, folder / "lib" / library.name, follow_symlinks=False)
    modules = list((standard / "lib-dynload").glob("*.so"))
    own = [path for path in (folder / "lib").glob("*.so*") if not path.is_symlink()]
    for path in _needed([program, *own, *modules], base):
        shutil.copy(path, folder / "lib" / path.name)
    for module in modules:
        run(["strip", "-s", module])
        run(["patchelf", "--set-rpath", "$ORIGIN/../..", module])
    for library in (path for path in (folder / "lib").glob("*.so*") if not path.is_symlink()):
        run(["patchelf", "--set-rpath", "$ORIGIN", library])
    run(["patchelf", "--set-rpath", "$ORIGIN/../lib", program])
    for path in (program, *own):
        run(["strip", "-s", path])
    # The folders of the window's packages and of the program's own, relative to the .pth file's folder.
    site = standard / "site-packages"
    site.mkdir()
    (site / "specexec.pth").write_text("../../../../lib\n../../../..\n")


def _needed(files: list[Path], base: Path) -> set[Path]:
    """Return the shared libraries that the files load, except those of glibc and the interpreter's own."""
    libraries = set()
    for file in files:
        for path in re.findall(r"=> (/\S+)", run(["ldd", file])):
            if not GLIBC.match(Path(path).name) and not Path(path).is_relative_to(base):
                libraries.add(Path(path))
    return libraries


def glibc_needed(folder: Path) -> str:
    """Return the newest glibc version required by a program or library in `folder`."""
    newest = 0
    for path in folder.rglob("*"):
        if (
            path.is_file()
            and not path.is_symlink()
            and (path.suffix == ".so" or ".so." in path.name or not path.suffix)
        ):
            with path.open("rb") as file:
                if file.read(4) != b"\x7fELF":
                    continue
                found = re.findall(rb"GLIBC_2\.(\d+)", file.read())
            newest = max([newest, *map(int, found)])
    return f"2.{newest}"
