"""Run pip and venv for the set-up: their output goes to a log, and what failed becomes one sentence.

Must parse on Python 3.8, like dev.py.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from faults import Fault, pip_fault
from torch_build import TORCH

ROOT = Path(__file__).resolve().parent.parent
WINDOWS = os.name == "nt"
# Free disk space that the set-up needs: for the environment, the model and pip's temporary files. With the
# CPU build, 1.5 GB remain in use.
GIB_NEEDED = {"cpu": 2.5, "cuda": 8}


def say(text):
    print(text, file=sys.stderr, flush=True)


def run_logged(argv, log, lock):
    """Run argv, append its output to the log and return (exit status, output). A terminal shows the time."""
    environ = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONHOME", "PYTHONPATH", "__PYVENV_LAUNCHER__")
    }
    for name in ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIREMENT", "PIP_CONSTRAINT", "PIP_QUIET"):
        environ.pop(name, None)  # these would redirect packages or add others
    environ.update(
        PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_PROGRESS_BAR="off", PYTHONUTF8="1"
    )
    started = time.monotonic()
    with log.open("ab") as out:
        begin = out.seek(0, os.SEEK_END)
        out.write("$ {}\n".format(" ".join(map(str, argv))).encode())
        out.flush()
        # The child holds the lock too: if only dev.py is killed, the next set-up waits until pip has ended.
        keep = {} if WINDOWS or lock is None else {"pass_fds": (lock,)}
        process = subprocess.Popen(
            argv,
            cwd=str(ROOT),
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            **keep,
        )
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=1)
                    break
                if sys.stderr.isatty():
                    print(f"\r    {time.monotonic() - started:.0f} s ", end="", file=sys.stderr, flush=True)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            if sys.stderr.isatty():
                print("\r" + " " * 20 + "\r", end="", file=sys.stderr, flush=True)
    return process.returncode, log.read_bytes()[begin:].decode("utf-8", "replace")


def pip(python, log, lock, *args):
    status, text = run_logged([str(python), "-m", "pip", *args], log, lock)
    if status:
        fault = Fault(pip_fault(text, log))
        fault.intact = "Installing collected packages" not in text
        raise fault
    return text


def make_venv(folder, log, lock):
    import importlib.util

    if not all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")):
        package = "python{}.{}-venv".format(*sys.version_info)
        raise Fault(
            f"this Python has no venv module: run `apt install {package}` (Debian, Ubuntu), then start again"
        )
    status, text = run_logged([sys.executable, "-m", "venv", str(folder)], log, lock)
    if status:
        raise Fault(pip_fault(text, log))


def install_torch(python, log, lock, attempts, have=None):
    """Install torch without its dependencies by the first attempt that works, and return its build.

    have: the build that is already installed, for which free disk space is not required.
    """
    for attempt in attempts:
        free = shutil.disk_usage(str(log.parent)).free / 2**30
        if attempt.build != have and free < GIB_NEEDED[attempt.build]:
            raise Fault(
                f"{ROOT} has {free:.1f} GiB of free disk space and set-up needs {GIB_NEEDED[attempt.build]}: "
                "free some space, or copy the project to a larger disk"
            )
        say(f"  torch {TORCH}: {attempt.words}")
        try:
            pip(python, log, lock, "install", "--no-compile", "--no-deps", *attempt.args)
            return attempt.build
        except Fault:
            if attempt is attempts[-1]:
                raise
    raise AssertionError("no attempt")


def pinned(name):
    """Return the line "name==version" for a package from constraints.txt."""
    return re.search(
        rf"^{name}==\S+", (ROOT / "packaging" / "constraints.txt").read_text("utf-8"), re.MULTILINE
    ).group()
