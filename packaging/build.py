#!/usr/bin/env python3
"""Makes the installers: python3.11 packaging/build.py COMMAND [OPTIONS]. See packaging/README.md.

linux, windows, all   the installers of that system, with SBOM, licences and checksums
runtime BACKEND       a runtime file of that backend for machines without a network
lock                  packaging/requirements anew, from pyproject.toml and constraints.txt
hashes                the hashes of PyTorch's own builds into backends.toml (needs its index)
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

from installers import archive, lists
from installers.common import DIST, Failed, Order, say, version
from torch_build import wheel_folders


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
        "--wheels", type=Path, help="a folder with wheels of torch (default: where pip is told to look)"
    )
    parser.add_argument("--system", choices=["linux", "windows"], default="linux", help="of a runtime file")
    parser.add_argument("--python-zip", type=Path, help="python.org's embeddable zip for windows")
    parser.add_argument("--into", type=Path, default=DIST, help="where they go (default: dist/)")
    parser.add_argument("--version", default=version(), help="not pyproject.toml's: to test upgrading")
    return parser.parse_args()


def main() -> int:
    parsed = parse()
    order = ordered(parsed)
    started = time.monotonic()
    try:
        match parsed.command:
            case "lock":
                lists.lock()
            case "hashes":
                lists.hashes()
            case "runtime":
                archive.build(order, parsed.backend or "cpu", parsed.system)
            case _:
                build(order, parsed)
    except Failed as failure:
        say(f"packaging: {failure}")
        return 1
    say(f"done in {time.monotonic() - started:.0f} s")
    return 0


def pips_folders() -> list[Path]:
    """Where pip is told to look for wheels."""
    listing = [sys.executable, "-m", "pip", "config", "list"]
    said = subprocess.run(listing, capture_output=True, text=True, check=False).stdout
    return list(wheel_folders(said))


def ordered(parsed: argparse.Namespace) -> Order:
    folders = [parsed.wheels] if parsed.wheels else pips_folders()
    wheels = next((folder for folder in folders if folder.is_dir()), None)
    parsed.into.mkdir(parents=True, exist_ok=True)
    return Order(parsed.version, wheels, parsed.fast, parsed.into.absolute())


def build(order: Order, parsed: argparse.Namespace) -> None:
    from installers import linux, windows

    if parsed.command in ("linux", "all"):
        linux.build(order, parsed.only or ["deb", "appimage", "run"])
    if parsed.command in ("windows", "all"):
        windows.build(order, parsed.python_zip)


if __name__ == "__main__":
    sys.exit(main())
