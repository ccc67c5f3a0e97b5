"""The first start of a new version: the old one starts it, and goes on itself if no window opens."""

import subprocess
import sys
import time
from contextlib import suppress

from filelock import Timeout

from engine.updates.installation import PREFIX, Installation

PATIENCE_S = 120.0  # time for the new version to open its window; the disk may be slow, and everything cold
LOOK_S = 0.05
UNINSTALL = r"Software\Microsoft\Windows\CurrentVersion\Uninstall\specexec-desktop"


def try_new_version(here: Installation, arguments: list[str]) -> int | None:
    """Start the version that waits to be tried, and wait until it ends.

    Returns its exit status; None if there is no such version or it did not open its window. It is then rolled
    back, and the caller goes on. A version that was started before, but never opened its window, because it
    or the machine went down, is rolled back, too. arguments: the window's command line. Raises OSError.
    """
    if here.trial in (None, here.running):
        return None
    try:
        with here.lock().acquire(timeout=0):
            name = here.trial
            if name is None:
                return None
            if here.was_tried:
                here.refuse(name)
                return None
            here.mark_tried()
            process = _started(here, name, arguments)
            if process is None:
                return None
    except Timeout:  # another process prepares or tries a version
        return None
    return process.wait()


def _started(here: Installation, name: str, arguments: list[str]) -> "subprocess.Popen[bytes] | None":
    """Start a version, and return its process once its window has opened; None if it was rolled back."""
    try:
        process = subprocess.Popen(here.command(name, arguments))
    except OSError:
        here.refuse(name)
        return None
    deadline = time.monotonic() + PATIENCE_S
    while here.trial == name:
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            process.wait()
            if here.refuse(name):
                return None
            break
        time.sleep(LOOK_S)
    return process


def confirm(here: Installation) -> bool:
    """Let the running version take the place of the old one, if it is being tried: its window has opened.

    Returns whether it did. Raises OSError.
    """
    if not here.running or here.trial != here.running:
        return False
    here.accept(here.running)
    if here.kind == "setup":
        _name_version(here.running.removeprefix(PREFIX))
    return True


def _name_version(version: str) -> None:
    """Write the version that Windows lists among its programs."""
    if sys.platform == "win32":
        import winreg

        with (
            suppress(OSError),
            winreg.OpenKey(winreg.HKEY_CURRENT_USER, UNINSTALL, 0, winreg.KEY_SET_VALUE) as key,
        ):
            winreg.SetValueEx(key, "DisplayVersion", 0, winreg.REG_SZ, version)


def tidy(here: Installation) -> None:
    """Remove versions that are no longer needed, unless another process changes the installation."""
    with suppress(Timeout, OSError), here.lock().acquire(timeout=0):
        here.tidy()
