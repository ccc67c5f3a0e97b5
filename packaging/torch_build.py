"""Choose the build of torch for a machine and where to get it. Pure functions; standard library only.

Must parse on Python 3.8, like dev.py.
"""

from __future__ import annotations

import re
from collections import namedtuple
from pathlib import Path

TORCH = "2.13.0"
TORCH_INDEX = (
    "https://download.pytorch.org/whl/"  # PyTorch's own public index; PyPI has only one build per system
)

# One way to install torch: its build ("cpu" or "cuda"), pip's arguments, and a description for the user.
Attempt = namedtuple("Attempt", "build args words")


def wheel_folders(listing):
    """Return the wheel folders in the output of `pip config list` (which includes PIP_FIND_LINKS)."""
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
    """Return the versions of torch ("2.13.0+cpu") with a wheel for this system and Python ("cp311")."""
    name = re.compile(
        rf"torch-({re.escape(TORCH)}(?:\+\w+)?)-{python}-\w+-\w*({'win' if system == 'win32' else system})"
    )
    files = (
        file.name for folder in folders if folder.is_dir() for file in sorted(folder.glob("torch-*.whl"))
    )
    return [match.group(1) for match in map(name.match, files) if match]


def torch_attempts(system, gpu, forced, wheels):
    """Return the ways to install torch on this machine, best first; each is tried if the previous one fails.

    system: sys.platform; gpu: whether there is a graphics card; forced: the build that the user demands
    ("cpu" or "cuda"), or ""; wheels: the versions in the configured wheel folders. pip gets the version
    after `===`, which compares text, so that "2.13.0" never matches "2.13.0+cpu" in a folder, or the reverse.
    """
    wanted = forced or ("cuda" if gpu else "cpu")
    plain = "cuda" if system.startswith("linux") else "cpu"  # the build that PyPI has for this system
    local = {("cpu" if v.endswith("+cpu") else "cuda" if "+cu" in v else plain): v for v in wheels}
    if local and (wanted in local or not forced):  # a configured folder has priority over every index
        build = wanted if wanted in local else next(iter(local))
        words = f"{build.upper()} build, from pip's configured wheel folder"
        if build != wanted:
            words += f" (set SPECEXEC_TORCH={wanted} to download the {wanted.upper()} build)"
        return [Attempt(build, ["--no-index", "torch===" + local[build]], words)]

    def from_pytorch(build, folder):  # short timeouts: many networks block this host
        args = ["--index-url", TORCH_INDEX + folder, "--timeout", "10", "--retries", "1"]
        return Attempt(
            build, [*args, f"torch==={TORCH}+{folder}"], f"{build.upper()} build, from PyTorch's index"
        )

    from_pypi = Attempt(plain, ["torch===" + TORCH], f"{plain.upper()} build, from PyPI")
    if wanted == plain or system == "darwin":
        return [from_pypi]
    if wanted == "cpu":
        words = "PyTorch's index is unavailable; using PyPI's build with CUDA, which is large (several GB)"
        return [from_pytorch("cpu", "cpu"), from_pypi._replace(words=words)]
    words = "PyTorch's index is unavailable; using PyPI's build, which does not use the graphics card"
    return [from_pytorch("cuda", "cu130"), from_pypi._replace(words=words)]
