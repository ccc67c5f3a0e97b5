"""Limits on processes, files, addresses and folders: the command line answers or names what is refused.

The command runs as a user without privileges: root's processes are not limited.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import platformdirs

from tests.campaign.attack import Outcome, Try, Unavailable
from tests.campaign.processes import ask

FIXED = 3
LIMIT_S = 240.0
OTHER = 54321  # a user id that nobody has
# The other user may read all files, such as an interpreter in root's home, but may not write them.
READER = [
    *("setpriv", "--reuid", str(OTHER), "--regid", str(OTHER), "--clear-groups"),
    *("--inh-caps", "-all,+dac_read_search", "--ambient-caps", "-all,+dac_read_search", "--"),
]

# Puts a full disk of 64 KiB in place of a folder, which no other process sees, and then runs a command.
OWN_MOUNTS = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
FULL = (
    'mount -t tmpfs -o size=64k,mode=777 tmpfs "$0" && '
    '{ dd if=/dev/zero of="$0/filler" bs=4096 2>/dev/null; exec "$@"; }'
)


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    if os.geteuid() or not shutil.which("setpriv") or not shutil.which("prlimit"):
        raise Unavailable("it takes root, setpriv and prlimit to run a command as another user")
    if subprocess.run([*OWN_MOUNTS, FULL, str(folder), *READER, "true"], capture_output=True).returncode:
        raise Unavailable("no command can be run here as another user, on a small disk")
    compiled = platformdirs.user_cache_path("specexec-desktop", appauthor=False) / "compiled"

    def once(random: Random) -> Outcome:
        with TemporaryDirectory(dir=folder) as home:
            kept = Path(home) / ".cache" / "specexec-desktop" / "compiled"
            if compiled.is_dir():
                shutil.copytree(compiled, kept)
            return starve(Path(home), random)

    def starve(home: Path, random: Random) -> Outcome:
        what = random.choice(("nproc", "nproc", "nofile", "as", "fsize", "full", "read-only"))
        limits = {
            "nproc": random.randint(1, 14),
            "nofile": random.choice((random.randint(5, 16), 24, 64)),
            "as": random.randint(384, 2500) << 20,  # with less, Python itself fails while it imports
            "fsize": random.choice((0, 1, 4096, 1 << 20)),
        }
        prefix = list(READER)
        if what in limits:
            prefix += ["prlimit", f"--{what}={limits[what]}:{limits[what]}"]
        if what != "read-only":
            subprocess.run(["chown", "-R", f"{OTHER}:{OTHER}", str(home)], check=True)
        if what == "full":
            prefix = [*OWN_MOUNTS, FULL, str(home / ".cache"), *prefix]
        environment = {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache"), "TMPDIR": str(home)}
        outcome, _ = ask(prefix, environment)
        return Outcome(outcome.verdict, f"{what} {limits.get(what, '')}: {outcome.what}")

    yield once
