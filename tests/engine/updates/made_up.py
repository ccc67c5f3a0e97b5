"""A program of a few files that is installed as the .run file installs it, and releases of it on a server."""

import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

from engine.signature import public_key, signed_document
from engine.updates import Installation
from engine.updates.index import CONTEXT
from tests.engine.hub.lying_hub import COMMIT, LyingHub, Offered

PACKAGING = Path(__file__).parents[3] / "packaging" / "linux"
SECRET = bytes(range(32))
KEY = public_key(SECRET).hex()
OLD, NEW = "1.0.0", "2.0.0"
# Prints its version if its files are whole.
PROGRAM = '#!/bin/sh\ncd "$(dirname "$0")" && sha256sum --check --quiet sums && cat version\n'
# Takes the place of the old version, as a window that has opened does.
OPENS = '#!/bin/sh\nplace=$(dirname "$(dirname "$0")")\nmv "$place/update/trial" "$place/current"\n'
UNPACKS = '#!/bin/sh\nset -e\ncd "$(mktemp -d)"\ntail -n +6 "$0" | tar x\nexec sh install.sh\n'


def make_program(folder: Path, version: str, kind: str = "run", window: str = OPENS) -> Path:
    """Write the program. window: the script that runs in place of its interpreter."""
    folder.mkdir(parents=True)
    content = os.urandom(200_000)
    (folder / "content").write_bytes(content)
    (folder / "sums").write_text(f"{hashlib.sha256(content).hexdigest()}  content\n")
    (folder / "version").write_text(version)
    (folder / "package.json").write_text(json.dumps({"kind": kind, "version": version}))
    for name, text in (("specexec-desktop", PROGRAM), ("python", window)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def make_run_file(folder: Path, version: str, says: str = "", window: str = OPENS) -> bytes:
    """Return a .run file of a version. says: the version that the program itself names, if another."""
    make_program(folder / "app", says or version, window=window)
    for name in ("install.sh", "launch.sh", "uninstall.sh"):
        shutil.copy(PACKAGING / name, folder)
    entry = folder / "share" / "applications" / "specexec-desktop.desktop"
    entry.parent.mkdir(parents=True)
    entry.write_text("Exec=@COMMAND@\n")
    (folder / "version").write_text(version)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(folder, ".")
    return UNPACKS.encode() + packed.getvalue()


def install(prefix: Path, scratch: Path, version: str = OLD) -> Installation:
    """Install a version for one user. Return its installation."""
    scratch.mkdir()
    file = scratch / "first.run"
    file.write_bytes(make_run_file(scratch / "first", version))
    environment = {**os.environ, "PREFIX": str(prefix), "TMPDIR": str(scratch)}
    subprocess.run(["sh", file], env=environment, check=True, capture_output=True)
    place = prefix / "lib" / "specexec-desktop"
    return Installation("run", place, place / "update", f"app-{version}")


def started(here: Installation) -> str:
    """Return the version that a start opens; "" if none does."""
    command = [here.place] if here.is_image else [here.place / "specexec-desktop"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def offer(server: LyingHub, kind: str, content: bytes, version: str = NEW, secret: bytes = SECRET) -> str:
    """Let the server offer a release of one package. Return the address of its index."""
    name = f"program-{version}.{kind}"
    facts = {"nbytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    file = {"kind": kind, "name": name, "url": name, **facts}
    index = {"version": version, "page": "https://example.org/new", "files": [file]}
    document = signed_document(json.dumps(index), CONTEXT, secret)
    server.repositories["owner/program"] = Offered({"releases.json": document, name: content})
    return f"{server.endpoint}/owner/program/resolve/{COMMIT}/releases.json"
