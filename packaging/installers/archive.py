"""Build runtime files for machines without a network: zipped wheels in parts below 2 GiB, with checksums.

`engine.runtime.archive` reads them; the app checks each wheel against its own lists.
"""

import hashlib
import json
import time
import tomllib
import zipfile
from pathlib import Path

from installers import lists
from installers.common import (
    HASHED,
    NAME,
    PYTHON,
    WORK,
    Failed,
    Order,
    alone,
    epoch,
    fresh,
    run,
    say,
    sha256,
    tool,
    tools,
)

# A program that prints the packages whose markers hold on the target system; pip evaluates markers only for
# its own system.
SELECT = """
import json, re, sys
from pip._vendor.packaging.markers import Marker
blocks = re.split(r"\\n(?=\\S)", open(sys.argv[1]).read())
for block in blocks:
    head, _, hashes = block.partition("--hash=")
    pin, _, marker = head.rstrip(" \\\\\\n").partition(" ; ")
    if hashes and (not marker or Marker(marker).evaluate(json.loads(sys.argv[2]))):
        print(pin, " --hash=" + re.sub(r"[\\s\\\\]+", " ", hashes))
"""
ENVIRONMENTS = {
    "linux": {
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
        "os_name": "posix",
    },
    "windows": {
        "sys_platform": "win32",
        "platform_system": "Windows",
        "platform_machine": "AMD64",
        "os_name": "nt",
    },
}
PLATFORMS = {  # pip's names for the supported platforms
    "linux": [*(f"manylinux_2_{n}_x86_64" for n in range(5, 36)), "manylinux2014_x86_64", "linux_x86_64"],
    "windows": ["win_amd64"],
}
PART_NBYTES = 1900 << 20  # below the file size limits of FAT32, many servers and release pages


def build(order: Order, backend: str, system: str) -> None:
    tools()
    folder = WORK / f"runtime-{backend}-{system}"
    with alone(folder.name):
        _build(order, backend, system, fresh(folder))


def _build(order: Order, backend: str, system: str, folder: Path) -> None:
    offered = lists.write(folder / "requirements", system, order.wheels)
    if backend not in offered:
        raise Failed(f"{backend} for {system} has a package without a hash: run `build.py hashes`")
    listed = folder / "requirements"
    engine = listed / f"engine-{backend}.txt"  # as in engine.runtime.backends.Backend.lists
    requirements = [engine if engine.is_file() else listed / "engine.txt", listed / f"torch-{backend}.txt"]
    declared = tomllib.loads((folder / "requirements" / "backends.toml").read_text("utf-8"))
    torch_index = declared[backend].get("index", "")
    collected = folder / "wheels"
    for path, index in zip(requirements, ("", torch_index), strict=True):
        _download(path, collected, system, sources(index, order.wheels))
    name = f"{NAME}-{order.version}-runtime-{backend}-{system}-x86_64.zip"
    _write(order.into / name, sorted(collected.glob("*.whl")), {"backend": backend, "key": key(requirements)})


def key(requirements: list[Path]) -> str:
    """Return the key of the requirement lists, computed as in engine.runtime.backends.Backend.key."""
    digest = hashlib.sha256()
    for path in requirements:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def sources(index: str, wheels: Path | None) -> list[str | Path]:
    """Return pip's options for the source: the folder `wheels`, or else the URL `index` ("": the default)."""
    if wheels is not None:
        return ["--find-links", wheels]
    return ["--index-url", index] if index else []


def _download(requirements: Path, folder: Path, system: str, options: list[str | Path]) -> None:
    exact = folder.with_name(f"{requirements.stem}-exact.txt")
    exact.write_text(run([tool("python"), "-c", SELECT, requirements, json.dumps(ENVIRONMENTS[system])]))
    which = [option for name in PLATFORMS[system] for option in ("--platform", name)]
    pip = [tool("python"), "-m", "pip", "download", "--quiet", *HASHED]
    run([*pip, *which, "--python-version", PYTHON, *options, "--dest", folder, "-r", exact])


def _write(target: Path, files: list[Path], manifest: dict[str, str]) -> None:
    """Write the zip, in parts if it is large, and its checksums.

    The zip is not compressed, because wheels already are. A single part has no number in its name.
    """
    moment = time.gmtime(epoch())[:6]
    whole = WORK / target.name
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo("runtime.json", moment), json.dumps(manifest))
        for path in files:
            with (
                path.open("rb") as source,
                archive.open(zipfile.ZipInfo(path.name, moment), "w", force_zip64=True) as entry,
            ):
                while block := source.read(1 << 20):
                    entry.write(block)
    parts = _split(whole, target)
    sums = "".join(f"{sha256(part)}  {part.name}\n" for part in parts)
    target.with_name(target.name + ".sha256").write_text(sums)
    nbytes = sum(part.stat().st_size for part in parts)
    say(f"  {target.name}: {len(files)} wheels, {nbytes >> 20} MiB in {len(parts)} files")
    whole.unlink(missing_ok=True)


def _split(whole: Path, target: Path) -> list[Path]:
    for old in target.parent.glob(target.name + "*"):
        old.unlink()
    nbytes = whole.stat().st_size
    if nbytes <= PART_NBYTES:
        return [whole.rename(target)]
    parts = []
    with whole.open("rb") as source:
        while source.tell() < nbytes:
            parts.append(target.with_name(f"{target.name}.{len(parts) + 1:03}"))
            left = min(PART_NBYTES, nbytes - source.tell())
            with parts[-1].open("wb") as out:
                while left:
                    block = source.read(min(1 << 20, left))
                    out.write(block)
                    left -= len(block)
    return parts
