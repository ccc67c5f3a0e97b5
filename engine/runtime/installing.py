"""What uv is asked to do, and what its words mean for a person."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from engine import launching
from engine.errors import SpecExecError
from engine.hub.errors import DiskFull
from engine.runtime.backends import Backend
from engine.runtime.errors import BadPackage, Unreachable
from engine.runtime.running import clean_environment


@dataclass(frozen=True, slots=True)
class Sources:
    """Where packages come from. `mirror`, `torch_mirror`: addresses of indexes that stand in for the public
    ones; `proxy`: an address, "": the system's; `wheels`: a folder that has all of them, and no network is
    used."""

    mirror: str = ""
    torch_mirror: str = ""
    proxy: str = ""
    wheels: Path | None = None


def uv() -> Path:
    return launching.ROOT / ("uv.exe" if os.name == "nt" else "uv")


def install_command(
    requirements: Path, folder: Path, index: str, wheels: Path | None, cache: Path
) -> list[str]:
    """Add what the list names, and nothing else, to folder/lib. index: "": uv's own default."""
    command = [str(uv()), "--no-config", "--no-progress", "--color", "never", "--system-certs"]
    command += ["--cache-dir", str(cache), "pip", "install", "--python", launching.isolated()[0]]
    command += ["--target", str(folder / "lib"), "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    if wheels is not None:
        command += ["--offline", "--no-index", "--find-links", str(wheels)]
    elif index:
        command += ["--default-index", index]
    return [*command, "--requirements", str(requirements)]


def torch_index(backend: Backend, sources: Sources) -> str:
    return (sources.torch_mirror or backend.index) if backend.index else sources.mirror


def environment(sources: Sources) -> dict[str, str]:
    found = clean_environment()
    if sources.proxy:
        for name in [name for name in found if name.upper().endswith("_PROXY")]:
            del found[name]
        found.update(HTTP_PROXY=sources.proxy, HTTPS_PROXY=sources.proxy)
    return found


_ELSEWHERE = "Or set the engine up from a runtime file, which needs no network."
_FAULTS: tuple[tuple[str, type[SpecExecError], str, str], ...] = (  # the first that is in its words decides
    (
        r"No space left on device|Disk quota exceeded|not enough space on the disk|os error (?:28|112|122)\b",
        DiskFull,
        "The disk is full.",
        "Make room and try again; what came is kept.",
    ),
    (
        r"Hash mismatch|hash.{0,40}(?:mismatch|match)",
        BadPackage,
        "A package is not the one this app was made with: damaged or changed on its way.",
        "Try again. If it happens again, another mirror or network may help.",
    ),
    (
        r"[Cc]ertificate|UnknownIssuer",
        Unreachable,
        "The certificate of the server that has the packages is not trusted.",
        f"Check the clock; a proxy's own certificate belongs into the system's store. {_ELSEWHERE}",
    ),
    (
        r"407 |[Pp]roxy",
        Unreachable,
        "The proxy refuses the connection.",
        f"Check the proxy's address in the settings. {_ELSEWHERE}",
    ),
    (
        r"Failed to (?:fetch|download)|error sending request|error decoding response|dns error|"
        r"[Tt]imed? ?out|[Cc]onnection|end of file|unexpected EOF|incomplete|Network",
        Unreachable,
        "The packages cannot be reached.",
        f"Check the network, or name a proxy or a mirror in the settings, and try again. {_ELSEWHERE}",
    ),
    (
        r"not found in the (?:package registry|provided)|no (?:usable )?(?:wheels|version)|No solution found",
        BadPackage,
        "A package of the list is not offered there.",
        "Name another mirror, or try again later.",
    ),
    (
        r"Permission denied|Access is denied|os error (?:5|13|32)\b",
        SpecExecError,
        "A file of the set-up cannot be written.",
        "Close programs that use the app's data folder, virus scanners too, and try again.",
    ),
)


def fault(words: str, log: Path) -> SpecExecError:
    """Of an installer that ended badly."""
    for pattern, kind, message, hint in _FAULTS:
        if re.search(pattern, words):
            return kind(message, hint)
    return SpecExecError("The packages cannot be installed.", f"Try again; the details are in {log}.")
