"""Write what installed programs read of a release: the signed index, and an apt repository."""

import gzip
import hashlib
import json
import os
import re
import secrets
import shutil
from email.utils import formatdate
from pathlib import Path

from engine.signature import KEY_NBYTES, public_key, signed_document
from installers.common import NAME, TITLE, Failed, epoch, fresh, run, say, sha256

INDEX = f"{NAME}-releases.json"
CONTEXT = b"specexec-desktop release index 1\n"  # as in engine.updates.index
PACKAGES = {  # the ends of their names by kind
    "setup": "-{}-setup-x86_64.exe",
    "appimage": "-{}-x86_64.AppImage",
    "run": "-{}-x86_64.run",
    "deb": "_{}_amd64.deb",
}


def file_name(kind: str, version: str) -> str:
    return NAME + PACKAGES[kind].format(version)


def make_key(path: Path) -> None:
    """Write a new secret key to `path`, which only this user can read, and print its public key."""
    secret = secrets.token_bytes(KEY_NBYTES)
    path.touch(0o600, exist_ok=False)
    path.write_text(secret.hex() + "\n", "ascii")
    print(public_key(secret).hex())


def read_key(path: Path) -> bytes:
    text = path.read_text("ascii").strip()
    if not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise Failed(f"{path} contains no key of {2 * KEY_NBYTES} hexadecimal digits")
    return bytes.fromhex(text)


def write_index(folder: Path, version: str, key: Path, repository: str) -> Path:
    """Write the index of the packages of `version` in `folder`, signed with the key in the file `key`.

    repository: the address of the repository whose release has the files; "" if they lie beside the index.
    """
    secret = read_key(key)
    tag = os.environ.get("GITHUB_REF_NAME", f"v{version}")
    base = f"{repository}/releases/download/{tag}/" if repository else ""
    files = []
    for kind in PACKAGES:
        path = folder / file_name(kind, version)
        if path.is_file():
            facts = {"nbytes": path.stat().st_size, "sha256": sha256(path)}
            files.append({"kind": kind, "name": path.name, "url": base + path.name, **facts})
    if not files:
        raise Failed(f"there is no package of version {version} in {folder}")
    page = f"{repository}/releases/tag/{tag}" if repository else ""
    index = {"version": version, "page": page, "files": files}
    target = folder / INDEX
    target.write_bytes(signed_document(json.dumps(index), CONTEXT, secret))
    say(f"  {target}, for the public key {public_key(secret).hex()}")
    return target


def write_apt(folder: Path, version: str) -> Path:
    """Write folder/apt, a repository with the .deb of `version`, which `apt` reads from any web server.

    It is unsigned: `gpg --clearsign` makes InRelease of Release (packaging/README.md).
    """
    deb = folder / file_name("deb", version)
    target = fresh(folder / "apt")
    shutil.copy(deb, target)
    fields = run(["dpkg-deb", "--field", deb]).rstrip("\n")
    digests = f"Size: {deb.stat().st_size}\nSHA256: {sha256(deb)}"
    packages = f"{fields}\nFilename: ./{deb.name}\n{digests}\n".encode()
    (target / "Packages").write_bytes(packages)
    (target / "Packages.gz").write_bytes(gzip.compress(packages, mtime=0))
    listed = [
        f" {hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_size} {path.name}"
        for path in (target / "Packages", target / "Packages.gz")
    ]
    release = [
        f"Origin: {TITLE}",
        f"Label: {TITLE}",
        "Suite: stable",
        "Architectures: amd64",
        f"Date: {formatdate(epoch(), usegmt=True)}",
        "SHA256:",
        *listed,
    ]
    (target / "Release").write_text("\n".join([*release, ""]))
    return target
