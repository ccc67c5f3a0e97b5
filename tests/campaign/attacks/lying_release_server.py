"""Lying answers of the server that announces releases, and damaged runtime files: a named error, no more.

Nothing is unpacked outside the folder, nor more than was announced.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from engine import updates
from engine.hub import Stop, connection
from engine.hub.connection import Bounds
from engine.launch import interpreter
from engine.runtime.archive import Archive
from engine.runtime.progress import SetupMeter
from engine.signature import public_key, signed_document
from engine.updates import Package, index
from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict
from tests.campaign.mutation import as_json, damaged, nested, spoiled
from tests.engine.hub.lying_hub import (
    Fault,
    LyingHub,
    bursts,
    endless,
    never_begins,
    redirects_to,
    says,
    silent,
    tells,
    trickles,
)
from tests.engine.runtime.made_up import make_archive, make_wheel, pin

FIXED = 30
SECRET = bytes(32)
PACKAGE = {"kind": "run", "name": "a.run", "url": "a.run", "nbytes": 3, "sha256": "0" * 64}
LATEST = {"version": "99.1.2", "page": "https://github.com/owner/program/releases", "files": [PACKAGE]}
BOMB = bursts(nbytes=8 << 20)


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]
    connection._CONNECT_S = 0.2  # type: ignore[misc]
    index.BOUNDS = Bounds(silence_s=0.3, whole_s=0.6, nbytes=300_000)
    make_app(folder / "app", folder)
    file = make_archive(folder, folder, parts=1)
    content = file.read_bytes()
    server = LyingHub()

    def once(random: Random) -> Outcome:
        if random.random() < 0.4:
            return ask(server, random)
        with TemporaryDirectory(dir=folder) as home:
            return unpack(Path(home), content, random)

    try:
        yield once
    finally:
        server.close()


def make_app(root: Path, wheels: Path) -> None:
    """Write what a packaged app knows of its backends."""
    (root / "requirements").mkdir(parents=True)
    declared = "[cpu]\nnbytes = 3_000_000\ndownload_nbytes = 1_000_000\n"
    (root / "requirements" / "backends.toml").write_text(declared)
    for list, name in (("engine.txt", "thinking"), ("torch-cpu.txt", "torch")):
        wheel = make_wheel(wheels, name, "1.0", "x = 1\n", padding=5_000)
        (root / "requirements" / list).write_text(pin(wheel))
    interpreter.ROOT = root


def ask(server: LyingHub, random: Random) -> Outcome:
    server.api_faults.clear()
    server.api_faults.extend(lie(random) for _ in range(2))
    package = Package("run", "1.0", f"{server.endpoint}/api/latest", public_key(SECRET).hex())
    release = updates.newest_release(package)
    if release is not None and not (release.page.startswith("https://") and len(release.version) < 100):
        return Outcome(Verdict.LOST, f"a release that is none: {release}"[:200])
    return SURVIVED


def lie(random: Random) -> Fault:
    match random.randrange(8):
        case 0:
            return random.choice((silent, trickles, endless, never_begins, BOMB))
        case 1:
            return tells(as_json(nested(random.choice((900, 20_000)), random.choice((list, dict)))))
        case 2:
            return says(random.choice((204, 301, 304, 403, 404, 429, 500, 503)), Retry_After="9" * 30)
        case 3:
            return redirects_to(
                random.choice(("/api/latest", "http://[", "//", "ftp://x/", "file:///etc/passwd"))
            )
        case 4:
            return tells(damaged(signed_document(json.dumps(LATEST), index.CONTEXT, SECRET), random))
        case _:
            spoilt = spoiled(LATEST, random).decode("utf-8", "replace")
            return tells(signed_document(spoilt, index.CONTEXT, SECRET))


def unpack(home: Path, content: bytes, random: Random) -> Outcome:
    file = home / "cpu.zip"
    file.write_bytes(damaged(content, random))
    if random.random() < 0.3:
        (home / "cpu.zip.sha256").write_bytes(damaged(f"{'0' * 64}  cpu.zip\n".encode(), random))
    archive = Archive(file)
    archive.unpack(home / "out" / "wheels", Stop(), SetupMeter())
    outside = [path for path in home.rglob("*") if path.is_file() and path.parent != home / "out" / "wheels"]
    if {path.name for path in outside} - {"cpu.zip", "cpu.zip.sha256"}:
        return Outcome(Verdict.LOST, f"written outside the folder: {outside}")
    nbytes = sum(path.stat().st_size for path in (home / "out" / "wheels").iterdir())
    if nbytes > archive.unpacked_nbytes:
        return Outcome(Verdict.LOST, f"{nbytes} bytes unpacked, {archive.unpacked_nbytes} announced")
    return SURVIVED
