#!/usr/bin/env python3
"""Makes the installers: python3.11 packaging/build.py COMMAND [OPTIONS]. See packaging/README.md.

linux, windows, all   the installers of that system, with SBOM, licences and checksums, into dist/
runtime BACKEND       a runtime file of that backend for machines without a network, into dist/
lock                  packaging/requirements anew, from pyproject.toml and constraints.txt
hashes                the hashes of PyTorch's own builds into backends.toml (needs its index)
"""

import argparse
import os
import sys
import time
from pathlib import Path

from installers import archive, lists
from installers.common import DIST, Failed, say


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="build.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["linux", "windows", "all", "runtime", "lock", "hashes"])
    parser.add_argument("backend", nargs="?", choices=["cpu", "cuda", "rocm"])
    parser.add_argument("--fast", action="store_true", help="compress little: for tests")
    parser.add_argument(
        "--only", action="append", choices=["deb", "appimage", "run"], help="of linux; repeatable"
    )
    parser.add_argument(
        "--wheels", type=Path, help="a folder with wheels of torch (default: $PIP_FIND_LINKS)"
    )
    parser.add_argument("--system", choices=["linux", "windows"], default="linux", help="of a runtime file")
    parser.add_argument("--python-zip", type=Path, help="python.org's embeddable zip for windows")
    parser.add_argument("--version", help="another than pyproject.toml's: for tests of upgrading")
    return parser.parse_args()


def main() -> int:
    parsed = parse()
    folder = parsed.wheels or os.environ.get("PIP_FIND_LINKS", "").removeprefix("file://")
    wheels = Path(folder) if folder and Path(folder).is_dir() else None
    started = time.monotonic()
    try:
        match parsed.command:
            case "lock":
                lists.lock()
            case "hashes":
                lists.hashes()
            case "runtime":
                archive.build(parsed.backend or "cpu", parsed.system, wheels)
            case _:
                build(parsed, wheels)
    except Failed as failure:
        say(f"packaging: {failure}")
        return 1
    say(f"done in {time.monotonic() - started:.0f} s")
    return 0


def build(parsed: argparse.Namespace, wheels: Path | None) -> None:
    from installers import linux, windows

    DIST.mkdir(exist_ok=True)
    if parsed.command in ("linux", "all"):
        linux.build(wheels, parsed.fast, parsed.only or ["deb", "appimage", "run"], parsed.version)
    if parsed.command in ("windows", "all"):
        windows.build(wheels, parsed.fast, parsed.python_zip, parsed.version)


if __name__ == "__main__":
    sys.exit(main())
