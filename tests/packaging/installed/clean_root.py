"""A minimal Debian with only a package's dependencies."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SHARED = {"proc": "proc", "sys": "sysfs"}
ENVIRONMENT = {
    "HOME": "/home/somebody",
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "LANG": "C.UTF-8",
}


class CleanRoot:
    """A root file system. Attributes: `folder`; `home`: its user's home folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder / "home" / "somebody"
        self._prefix: tuple[str, ...] = ()

    @contextmanager
    def offline(self) -> Iterator[None]:
        """Run programs without any network, not even loopback, while the block runs."""
        self._prefix = ("unshare", "--net")
        try:
            yield
        finally:
            self._prefix = ()

    def run(
        self, *command: str, home: str = "/home/somebody", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self._prefix, "chroot", self.folder, *command],
            env={**ENVIRONMENT, "HOME": home, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    @contextmanager
    def opened(self, program: str, user: int = 0, **environment: str) -> Iterator[None]:
        """Keep the program's window open while the block runs. user: the number of the user and the group."""
        running = subprocess.Popen(
            ["chroot", f"--userspec={user}:{user}", self.folder, program],
            env={**ENVIRONMENT, "QT_QPA_PLATFORM": "offscreen", **environment},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield
            assert running.poll() is None, "no window"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGTERM)
            running.wait(60)

    def shell(self, script: str) -> None:
        done = self.run("sh", "-ec", script, DEBIAN_FRONTEND="noninteractive")
        assert done.returncode == 0, done.stdout + done.stderr

    def show(self, display: str) -> None:
        """Give its programs access to an outside display, without installing packages."""
        sockets = self.folder / "tmp" / ".X11-unix"
        sockets.mkdir(exist_ok=True)
        name = f"X{display.removeprefix(':')}"
        (sockets / name).unlink(missing_ok=True)  # of a display that has ended
        os.link(f"/tmp/.X11-unix/{name}", sockets / name)

    @contextmanager
    def new_home(self, name: str, user: int = 0) -> Iterator[Path]:
        """Make the home folder /home/NAME of a user while the block runs; yields its path outside."""
        folder = self.folder / "home" / name
        folder.mkdir()
        os.chown(folder, user, user)
        try:
            yield folder
        finally:
            shutil.rmtree(folder)

    def files(self) -> set[str]:
        """Return all paths below the root."""
        found = set()
        for folder, folders, names in os.walk(self.folder):
            if Path(folder) == self.folder:
                folders[:] = sorted(set(folders) - SHARED.keys())
            found |= {os.path.relpath(Path(folder, name), self.folder) for name in folders + names}
        return found


@contextmanager
def clean_root(folder: Path, release: str = "bookworm") -> Iterator[CleanRoot]:
    """Create the root in `folder`, and remove both at the end. Needs root privileges. release: of Debian."""
    subprocess.run(["debootstrap", "--variant=minbase", release, folder], check=True, capture_output=True)
    folder.chmod(0o755)  # pytest's folders are closed to other users
    for name, kind in SHARED.items():
        subprocess.run(["mount", "-t", kind, kind, folder / name], check=True)
    try:
        shutil.copy("/etc/resolv.conf", folder / "etc" / "resolv.conf")
        found = CleanRoot(folder)
        found.home.mkdir()
        yield found
    finally:
        for name in SHARED:
            subprocess.run(["umount", "-l", folder / name], check=True)
        shutil.rmtree(folder)
