"""Which build of torch a machine gets, and from where. Pure decisions; standard library only.

Parses on Python 3.8, as dev.py must.
"""

from __future__ import annotations

import re
from collections import namedtuple
from pathlib import Path

TORCH = "2.13.0"
TORCH_INDEX = (
    "https://download.pytorch.org/whl/"  # PyTorch's own public index; PyPI has one build for each system
)

# One way to get torch: its build ("cpu" or "cuda"), pip's arguments, and the words for the person who waits.
Attempt = namedtuple("Attempt", "build args words")


def wheel_folders(listing):
    """Where pip looks for wheels, from what `pip config list` prints (PIP_FIND_LINKS included)."""
    from ast import literal_eval
    from urllib.parse import urlparse
    from urllib.request import url2pathname

    places = []
    for value in re.findall(r"^(?:global|install|site|user|:env:)\.find-links=(.*)$", listing, re.MULTILINE):
        places += literal_eval(value).split()
    return [
        Path(url2pathname(urlparse(p).path) if p.startswith("file:") else p) for p in dict.fromkeys(places)
    ]


def torch_wheels(folders, system, python):
    """Versions of torch ("2.13.0+cpu") with a wheel in the folders for this system and Python ("cp311")."""
    name = re.compile(
        rf"torch-({re.escape(TORCH)}(?:\+\w+)?)-{python}-\w+-\w*({'win' if system == 'win32' else system})"
    )
    files = (
        file.name for folder in folders if folder.is_dir() for file in sorted(folder.glob("torch-*.whl"))
    )
    return [match.group(1) for match in map(name.match, files) if match]


def torch_attempts(system, gpu, forced, wheels):
    """The ways to get torch on this machine, best first; each is tried when the one before could not be had.

    system: sys.platform; forced: "", "cpu" or "cuda"; wheels: versions in the configured wheel folders. `===`
    compares the text, so that "2.13.0" never means a folder's "2.13.0+cpu", nor the other way round.
    """
    wanted = forced or ("cuda" if gpu else "cpu")
    plain = "cuda" if system.startswith("linux") else "cpu"  # the build that PyPI has for this system
    local = {("cpu" if v.endswith("+cpu") else "cuda" if "+cu" in v else plain): v for v in wheels}
    if local and (
        wanted in local or not forced
    ):  # a folder that somebody configured comes before every index
        build = wanted if wanted in local else next(iter(local))
        words = f"{build.upper()} build, from the wheel folder that pip is configured with"
        if build != wanted:
            words += f" (SPECEXEC_TORCH={wanted} takes the {wanted.upper()} build from the network)"
        return [Attempt(build, ["--no-index", "torch===" + local[build]], words)]

    def from_pytorch(build, folder):  # short timeouts: in many networks this host cannot be reached at all
        args = ["--index-url", TORCH_INDEX + folder, "--timeout", "10", "--retries", "1"]
        return Attempt(
            build, [*args, f"torch==={TORCH}+{folder}"], f"{build.upper()} build, from PyTorch's index"
        )

    from_pypi = Attempt(plain, ["torch===" + TORCH], f"{plain.upper()} build, from PyPI")
    if wanted == plain or system == "darwin":
        return [from_pypi]
    if wanted == "cpu":
        words = "PyTorch's index could not be used, so PyPI's build with CUDA, which is large (several GB)"
        return [from_pytorch("cpu", "cpu"), from_pypi._replace(words=words)]
    words = "PyTorch's index could not be used, so PyPI's build, which leaves the graphics card idle"
    return [from_pytorch("cuda", "cu130"), from_pypi._replace(words=words)]
