"""Remove from a package's libraries what no program imports: tests, headers, type stubs."""

import shutil
from pathlib import Path

FOLDERS = {"tests", "test", "include"}
SUFFIXES = {".pyi", ".pxd", ".pyx", ".h", ".hpp", ".c", ".cpp", ".f", ".a", ".lib"}


def prune(lib: Path) -> None:
    """Remove them. lib: a folder of packages."""
    for path in sorted(lib.rglob("*")):
        if path.is_dir():
            if path.name in FOLDERS:
                shutil.rmtree(path)
        elif path.suffix in SUFFIXES:
            path.unlink(missing_ok=True)
