#!/usr/bin/env python3
"""Build the installers: python3.11 packaging/build.py COMMAND [OPTIONS]. See packaging/README.md.

linux, windows, all   build the installers for that system, with SBOM, licences and checksums
image                 build the container image of `specexec serve`; needs root and debootstrap
verify                build everything twice, and compare: each package must have the same bytes
runtime BACKEND       build a runtime file of that backend for machines without a network
lock                  regenerate packaging/requirements from pyproject.toml and constraints.txt
key FILE              make a key that signs release indices, and print its public key
index FILE            write the release index of the packages in the output folder, signed with that key, and
                      an apt repository with the .deb
manifests             write how winget, Scoop and Flatpak find the set-up and the .deb in the output folder
hashes                add the hashes of PyTorch's own builds to backends.toml (needs PyTorch's index)
"""

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for engine.signature

from installers import archive, flatpak, image, lists, manifests, releases
from installers.common import (
    DIST,
    WORK,
    Failed,
    Order,
    fresh,
    pip_wheel_folder,
    repository,
    say,
    sha256,
    version,
)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="build.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    making = ["linux", "windows", "all", "image", "verify", "runtime"]
    commands = [*making, "lock", "hashes", "key", "index", "manifests"]
    parser.add_argument("command", choices=commands)
    parser.add_argument("what", nargs="?", default="cpu", metavar="BACKEND|FILE")
    parser.add_argument("--fast", action="store_true", help="use low compression, for tests")
    parser.add_argument(
        "--only",
        action="append",
        choices=["deb", "appimage", "run"],
        help="build only this Linux package; repeatable",
    )
    parser.add_argument(
        "--wheels", type=Path, help="folder with wheels of torch (default: pip's configured folder)"
    )
    parser.add_argument(
        "--system", choices=["linux", "windows"], default="linux", help="system of the runtime file"
    )
    parser.add_argument(
        "--releases",
        default=releases_address(),
        help="address of the release index that the packages read (default: that of a GitHub workflow)",
    )
    parser.add_argument(
        "--public-key",
        default=os.environ.get("SPECEXEC_PUBLIC_KEY", ""),
        help="key with which they verify it, in hexadecimal (default: SPECEXEC_PUBLIC_KEY); without it, they "
        "never look for newer versions",
    )
    parser.add_argument("--python-zip", type=Path, help="python.org's embeddable zip for Windows")
    parser.add_argument("--into", type=Path, default=DIST, help="output folder (default: dist/)")
    parser.add_argument(
        "--version", default=version(), help="version instead of pyproject.toml's, to test upgrades"
    )
    return parser.parse_args()


def main() -> int:
    parsed = parse()
    order = order_from(parsed)
    started = time.monotonic()
    try:
        match parsed.command:
            case "lock":
                lists.lock()
            case "hashes":
                lists.hashes()
            case "runtime":
                archive.build(order, parsed.what, parsed.system)
            case "image":
                image.build(order)
            case "key":
                releases.make_key(Path(parsed.what))
            case "index":
                releases.write_index(order.into, order.version, Path(parsed.what), repository())
                if (order.into / releases.file_name("deb", order.version)).is_file():
                    releases.write_apt(order.into, order.version)
            case "manifests":
                setup, deb = (order.into / releases.file_name(it, order.version) for it in ("setup", "deb"))
                manifests.write(setup, order.version, repository())
                flatpak.write(deb, order.version, repository())
            case "verify":
                verify(order, parsed)
            case _:
                build(order, parsed)
    except Failed as failure:
        say(f"packaging: {failure}")
        return 1
    say(f"done in {time.monotonic() - started:.0f} s")
    return 0


def releases_address() -> str:
    """Return where the newest release of a GitHub repository has its index; "" outside of its workflows."""
    address = repository()
    return f"{address}/releases/latest/download/{releases.INDEX}" if address else ""


def order_from(parsed: argparse.Namespace) -> Order:
    wheels = parsed.wheels or pip_wheel_folder()
    parsed.into.mkdir(parents=True, exist_ok=True)
    into = parsed.into.absolute()
    return Order(parsed.version, wheels, parsed.fast, into, parsed.releases, parsed.public_key)


def build(order: Order, parsed: argparse.Namespace) -> None:
    from installers import linux, windows

    if parsed.command != "windows":
        linux.build(order, parsed.only or ["deb", "appimage", "run"])
    if parsed.command != "linux":
        windows.build(order, parsed.python_zip)


def verify(order: Order, parsed: argparse.Namespace) -> None:
    """Build everything twice and compare. Raises `Failed` if a package has other bytes the second time."""
    folders = [fresh(WORK / "verify" / name) for name in ("first", "second")]
    for folder in folders:
        build(replace(order, into=folder), parsed)
    first, second = ({path.name: sha256(path) for path in folder.iterdir()} for folder in folders)
    for name in sorted(first):
        say(f"  {'same' if first[name] == second[name] else 'DIFFERENT':9} {name}")
    if different := sorted(name for name in first if first[name] != second[name]):
        raise Failed(f"two builds of one commit differ in {', '.join(different)}")


if __name__ == "__main__":
    sys.exit(main())
