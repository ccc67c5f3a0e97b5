"""Download a newer version and prepare it beside the running one, which goes on."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import Timeout

from engine.hub import disk
from engine.hub.connection import HttpConnection
from engine.hub.errors import DownloadRunning
from engine.hub.item import RemoteFile
from engine.hub.part import Part, nbytes_here
from engine.hub.progress import TransferMeter
from engine.hub.stop import Stop
from engine.hub.transfer import FileTransfer, Limit, Patience
from engine.updates.errors import BadRelease, UpdateRefused
from engine.updates.index import ReleaseFile, ReleaseIndex
from engine.updates.installation import PREFIX, Installation, remove
from engine.updates.package import package_in

UNPACKED = 3  # bytes on the disk for each byte of a package, at most
LOCK_S = 5.0  # time for a download to end that was just stopped
INSTALL_S = 1200.0  # time for unpacking a package


def prepare(here: Installation, release: ReleaseIndex, meter: TransferMeter, stop: Stop) -> None:
    """Download `release` and let the next start try it.

    An earlier download of the same file is continued. meter: updated while it is downloaded. Raises
    `BadRelease` if there is no package of this kind or the server sends another one; `UpdateRefused` if it
    cannot be unpacked; `DownloadRunning`, `DiskFull`, `DiskProblem`, `BadDownload`, `Stopped`.
    """
    file = release.file(here.kind)
    if file is None:
        raise BadRelease("This release has no package for this installation.", "See the page of the release.")
    with disk.named_errors("preparing the update"), _locked(here):
        here.discard()
        name = PREFIX + release.version
        _forget_others(here.work, file.name)
        package = here.work / file.name
        _download(file, package, meter, stop)
        stop.check()
        meter.enter("checking")
        if here.is_image:
            package.chmod(0o755)
            package.replace(here.path(name))
        else:
            _install(here, package, release.version)
            package.unlink()
        here.propose(name)


@contextmanager
def _locked(here: Installation) -> Iterator[None]:
    """Hold the installation's lock while the block runs. Raises `DownloadRunning`."""
    try:
        lock = here.lock().acquire(timeout=LOCK_S)
    except Timeout:
        raise DownloadRunning("Another window or command is updating the program.", "Wait for it.") from None
    with lock:
        yield


def _forget_others(work: Path, name: str) -> None:
    """Delete what earlier updates to other versions have left in the work folder."""
    for path in work.iterdir():
        if not path.name.startswith((name, "lock", "refused")):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _download(file: ReleaseFile, place: Path, meter: TransferMeter, stop: Stop) -> None:
    """Download a package to `place`, and verify its size and SHA-256."""
    wanted = RemoteFile(file.name, file.nbytes, file.sha256)
    disk.check_free(place.parent, (1 + UNPACKED) * file.nbytes - nbytes_here(place, wanted))
    part = Part(place, wanted)
    connection = HttpConnection(file.url, lambda: None, Patience().silence_s)
    try:
        meter.enter("checking")
        part.open(stop, meter.at)
        FileTransfer(None, wanted, file.url, part, connection, meter, Limit(), Patience(), stop).run()
    finally:
        part.close()
        connection.close()
    part.path.replace(place)
    part.sidecar.unlink(missing_ok=True)


def _install(here: Installation, package: Path, version: str) -> None:
    """Unpack a package into a folder of its own beside the running version. Raises `UpdateRefused`."""
    folder = here.path(PREFIX + version)
    if folder.exists():
        remove(folder)
    unpacking = here.work / "unpacking"
    unpacking.mkdir(exist_ok=True)
    try:
        _run_installer(here, package, unpacking)
    except (OSError, subprocess.SubprocessError) as error:
        raise UpdateRefused(
            "The new version could not be unpacked.", "Download it from the page of the release."
        ) from error
    finally:
        with suppress(OSError):
            shutil.rmtree(unpacking)
    unpacked = package_in(folder)
    if unpacked is None or (unpacked.kind, unpacked.version) != (here.kind, version):
        raise BadRelease("The downloaded package contains another version.", "Report this to the project.")


def _run_installer(here: Installation, package: Path, scratch: Path) -> None:
    if here.kind == "setup":
        # NSIS takes everything behind /D= as the folder, without quotes.
        command: str | list[str] = f'"{package}" /S /UPDATE /D={here.place}'
        environment = dict(os.environ)
    else:
        command = ["sh", str(package), "--quiet"]
        prefix = here.place.parents[1]  # PREFIX/lib/specexec-desktop
        environment = {**os.environ, "PREFIX": str(prefix), "UPDATE": "1", "TMPDIR": str(scratch)}
    subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=INSTALL_S,
    )
