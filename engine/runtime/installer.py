"""The command lines that install packages with uv, and uv's error output translated for the user."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from engine.errors import DISK_FULL_WORDS, SpecExecError
from engine.hub.errors import DiskFull
from engine.launch import interpreter
from engine.runtime.backends import Backend
from engine.runtime.errors import BadPackage, Unreachable
from engine.runtime.subprocess_run import clean_environment


@dataclass(frozen=True, slots=True)
class Sources:
    """Where packages come from.

    Attributes: `mirror`, the URL of a package index to use instead of PyPI, or ""; `torch_mirror`, the URL of
    a package index to use instead of PyTorch's, or ""; `proxy`, a proxy's URL, or "" for the system's proxy;
    `wheels`, a folder with all packages, which are then installed without a network, or None.
    """

    mirror: str = ""
    torch_mirror: str = ""
    proxy: str = ""
    wheels: Path | None = None


def uv() -> Path:
    """Return uv's path: in a package beside the program, in a wheel's environment from uv's own wheel."""
    if interpreter.is_packaged():
        return interpreter.ROOT / ("uv.exe" if os.name == "nt" else "uv")
    from uv import find_uv_bin

    return Path(find_uv_bin())


def install_command(
    requirements: Path, folder: Path, index: str, wheels: Path | None, cache: Path
) -> list[str]:
    """Return the command that installs exactly the listed packages into folder/lib.

    index: the URL of the package index, "" for uv's default. wheels: a folder to install from without a
    network, or None. cache: the folder of uv's cache.
    """
    command = [str(uv()), "--no-config", "--no-progress", "--color", "never", "--system-certs"]
    command += ["--cache-dir", str(cache), "pip", "install", "--python", interpreter.python()[0]]
    command += ["--target", str(folder / "lib"), "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    if wheels is not None:
        command += ["--offline", "--no-index", "--find-links", str(wheels)]
    elif index:
        command += ["--default-index", index]
    return [*command, "--requirements", str(requirements)]


def torch_index(backend: Backend, sources: Sources) -> str:
    return (sources.torch_mirror or backend.index) if backend.index else sources.mirror


def environment(sources: Sources) -> dict[str, str]:
    variables = clean_environment()
    if sources.proxy:
        for name in [name for name in variables if name.upper().endswith("_PROXY")]:
            del variables[name]
        variables.update(HTTP_PROXY=sources.proxy, HTTPS_PROXY=sources.proxy)
    return variables


_OFFLINE = "Or set up the engine from a runtime file, which needs no network."
# (pattern in uv's output, error, message, hint). The first entry whose pattern is found applies.
_FAULTS: tuple[tuple[str, type[SpecExecError], str, str], ...] = (
    (
        rf"{DISK_FULL_WORDS}|os error (?:28|112|122)\b",
        DiskFull,
        "The disk is full.",
        "Free some space and try again; finished downloads are kept.",
    ),
    (
        r"Hash mismatch|hash.{0,40}(?:mismatch|match)",
        BadPackage,
        "A downloaded package is damaged or differs from the one this app was built with.",
        "Try again. If it fails again, use another mirror or network.",
    ),
    (
        r"[Cc]ertificate|UnknownIssuer",
        Unreachable,
        "The certificate of the package server is not trusted.",
        "Check the system clock. A proxy's own certificate must be in the system's certificate store. "
        f"{_OFFLINE}",
    ),
    (
        r"407 |[Pp]roxy",
        Unreachable,
        "The proxy refused the connection.",
        f"Check the proxy address in the settings. {_OFFLINE}",
    ),
    (
        r"Failed to (?:fetch|download)|error sending request|error decoding response|dns error|"
        r"[Tt]imed? ?out|[Cc]onnection|end of file|unexpected EOF|incomplete|Network",
        Unreachable,
        "The package server cannot be reached.",
        f"Check the network, or enter a proxy or mirror in the settings, then try again. {_OFFLINE}",
    ),
    (
        r"not found in the (?:package registry|provided)|no (?:usable )?(?:wheels|version)|No solution found",
        BadPackage,
        "A required package is not available from this package index.",
        "Use another mirror, or try again later.",
    ),
    (
        r"Permission denied|Access is denied|os error (?:5|13|32)\b",
        SpecExecError,
        "A file could not be written during set-up.",
        "Close programs that may be using the app's data folder, such as a virus scanner, and try again.",
    ),
)


def install_error(output: str, log: Path) -> SpecExecError:
    """Return the error to show after uv has failed with this output. log: the file to refer the user to."""
    for pattern, kind, message, hint in _FAULTS:
        if re.search(pattern, output):
            return kind(message, hint)
    return SpecExecError("The packages could not be installed.", f"Try again. Details are in {log}.")
