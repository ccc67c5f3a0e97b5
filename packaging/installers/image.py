"""Build the container image: `specexec serve` without a window, on a minimal Debian, made without a daemon.

The file is an OCI image layout in a tar (opencontainers/image-spec, image-layout.md). It also has the
manifest.json that `docker save` writes, which Docker without containerd's image store needs to load it.
"""

import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from installers import licences, lists, python_linux, tree
from installers.common import (
    NAME,
    TITLE,
    WORK,
    Failed,
    Order,
    epoch,
    fresh,
    repository,
    run,
    say,
    sha256,
    tools,
)
from installers.linux import FILES
from installers.manifests import SHORT

SUITE = "bookworm"
REFERENCE = "specexec"
USER = 1000  # the first user of most systems, so that a folder of theirs can be the models folder
PORT = 8484
PLACE = f"/opt/{NAME}"
DATA, MODELS = "/data", "/models"
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LANG": "C.UTF-8",
    "HOME": DATA,
    "XDG_DATA_HOME": f"{DATA}/share",
    "XDG_CONFIG_HOME": f"{DATA}/config",
    "XDG_CACHE_HOME": f"{DATA}/cache",
    "XDG_STATE_HOME": f"{DATA}/state",
    "SPECEXEC_MODELS": MODELS,
}
HEALTH = (
    "import http.client, sys; "
    f"asked = http.client.HTTPConnection('127.0.0.1', {PORT}, timeout=5); "
    "asked.request('GET', '/health'); "
    "sys.exit(asked.getresponse().status != 200)"
)
SECOND = 10**9  # in the unit of Docker's times
# What debootstrap leaves behind: caches, logs, what differs from one run to the next, and texts.
LEFT_OVER = (
    "dev/*", "tmp/*", "run/*", "etc/hostname", "etc/resolv.conf", "etc/machine-id", "etc/*-",
    "var/cache/*/*", "var/lib/apt/lists/*", "var/lib/dpkg/*-old", "var/log/*",
    "usr/share/doc/*/[!c]*", "usr/share/doc/*/c[!o]*", "usr/share/info/*", "usr/share/lintian",
    "usr/share/locale/*", "usr/share/man/*",
)  # fmt: skip
MEDIA = "application/vnd.oci.image"


@dataclass(frozen=True, slots=True)
class Layer:
    """Attributes: `path`, the compressed file; `diff_id`, the digest of its tar; `made`, what made it."""

    path: Path
    diff_id: str
    made: str


def build(order: Order) -> Path:
    if os.geteuid() != 0:
        raise Failed("debootstrap, and files of other users, need root: run this command as root")
    tools()
    say("  the container image")
    folder = fresh(WORK / "image")
    base, program = folder / "base", folder / "program"
    make_base(base)
    make_program(program, base, order)
    level = 1 if order.fast else 9
    layers = [
        pack(base, folder / "base.tar.gz", level, f"debootstrap --variant=minbase {SUITE}"),
        pack(program, folder / "program.tar.gz", level, f"packaging/build.py image, version {order.version}"),
    ]
    target = order.into / file_name(order.version)
    write(target, layers, order.version)
    shutil.rmtree(folder)
    licences.checksums(order.into)
    say(f"  {target}")
    return target


def file_name(version: str) -> str:
    return f"{NAME}-{version}-x86_64.oci.tar"


def make_base(root: Path) -> None:
    """Fill `root` with Debian's essential packages, apt and certificates."""
    packages = WORK / "debian"  # kept: a second build downloads nothing
    packages.mkdir(parents=True, exist_ok=True)
    options = ["--variant=minbase", "--include=ca-certificates", f"--cache-dir={packages.absolute()}"]
    run(["debootstrap", *options, SUITE, root])
    for pattern in LEFT_OVER:
        for path in root.glob(pattern):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    for name in ("shadow", "shadow.org"):  # with the day of each password's last change
        for path in (root / "etc").glob(name):
            path.write_text("".join(map(_undated, path.read_text().splitlines(keepends=True))))


def _undated(line: str) -> str:
    user, password, _, rest = line.split(":", 3)
    return f"{user}:{password}:{epoch() // 86400}:{rest}"


def make_program(root: Path, base: Path, order: Order) -> None:
    """Fill `root` with what the image has beside Debian: the program without its window, and its user."""
    place = root / PLACE[1:]
    place.mkdir(parents=True)
    python_linux.build(place / "python")
    requirements = WORK / "image" / "requirements.txt"
    requirements.write_text("".join(f"{block}\n" for block in lists.without_window()), "utf-8")
    tree.build(place, "linux", order, requirements)
    shutil.rmtree(place / "app")
    for unused in ("icons", "translations"):
        shutil.rmtree(place / "resources" / unused)
    shutil.copy(FILES / "specexec", place / "specexec")
    (place / "specexec").chmod(0o755)
    tree.compile_all(place)
    (root / "usr" / "bin").mkdir(parents=True)
    (root / "usr" / "bin" / "specexec").symlink_to(f"{PLACE}/specexec")
    (root / "etc").mkdir()
    lines = {
        "passwd": f"specexec:x:{USER}:{USER}::{DATA}:/usr/sbin/nologin\n",
        "group": f"specexec:x:{USER}:\n",
    }
    for name, line in lines.items():
        (root / "etc" / name).write_text((base / "etc" / name).read_text() + line)
    for folder in (DATA, MODELS):
        (root / folder[1:]).mkdir()
        os.chown(root / folder[1:], USER, USER)


class _Digesting(io.RawIOBase):
    """Passes what is written on to `file`. Attribute: `digest`, of what was written so far."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.digest.update(data)
        return self._file.write(data)


def pack(root: Path, target: Path, level: int, made: str) -> Layer:
    """Pack `root` as a layer: files in the order of their names, all with the time `epoch()`."""
    with (
        target.open("wb") as file,
        gzip.GzipFile("", "wb", level, file, mtime=0) as compressed,
    ):
        through = _Digesting(compressed)
        with tarfile.open(mode="w|", fileobj=through, format=tarfile.PAX_FORMAT) as tar:
            for path in sorted(root.rglob("*")):
                info = tar.gettarinfo(path, path.relative_to(root).as_posix())
                info.mtime = epoch()
                info.uname = info.gname = ""  # numbers only: names may differ outside
                if info.isreg():
                    with path.open("rb") as content:
                        tar.addfile(info, content)
                else:
                    tar.addfile(info)
    return Layer(target, f"sha256:{through.digest.hexdigest()}", made)


def configuration(layers: list[Layer], version: str) -> dict[str, object]:
    """Return the image's configuration (image-spec, config.md). Healthcheck is Docker's own addition."""
    created = _moment()
    labels = {
        "title": TITLE,
        "description": SHORT,
        "version": version,
        "created": created,
        "licenses": "Apache-2.0",
        **({"source": repository(), "url": repository()} if repository() else {}),
    }
    return {
        "created": created,
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            "ExposedPorts": {f"{PORT}/tcp": {}},
            "Env": [f"{name}={value}" for name, value in ENVIRONMENT.items()],
            "Entrypoint": ["specexec", "serve", "--host", "0.0.0.0"],
            "Cmd": [],
            "Volumes": {DATA: {}, MODELS: {}},
            "WorkingDir": DATA,
            "Labels": {f"org.opencontainers.image.{name}": value for name, value in labels.items()},
            # A container's first process ignores signals without a handler; Python has one for this one.
            "StopSignal": "SIGINT",
            "Healthcheck": {
                "Test": ["CMD", f"{PLACE}/python/bin/python3", "-I", "-c", HEALTH],
                "Interval": 30 * SECOND,
                "Timeout": 10 * SECOND,
                "StartPeriod": 300 * SECOND,  # a large model is read from a slow disk
                "Retries": 3,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in layers]},
        "history": [{"created": created, "created_by": layer.made} for layer in layers],
    }


def write(target: Path, layers: list[Layer], version: str) -> None:
    """Write the image of these layers to `target`."""
    blobs: dict[str, Path | bytes] = {}

    def blob(kind: str, content: Path | bytes) -> dict[str, object]:
        is_file = isinstance(content, Path)
        digest = sha256(content) if is_file else hashlib.sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        size = content.stat().st_size if is_file else len(content)
        return {"mediaType": f"{MEDIA}.{kind}", "digest": f"sha256:{digest}", "size": size}

    name = f"{REFERENCE}:{version}"
    config = blob("config.v1+json", _json(configuration(layers, version)))
    packed = [blob("layer.v1.tar+gzip", layer.path) for layer in layers]
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{MEDIA}.manifest.v1+json",
        "config": config,
        "layers": packed,
    }
    listed = {
        **blob("manifest.v1+json", _json(manifest)),
        "platform": {"architecture": "amd64", "os": "linux"},
        "annotations": {
            "org.opencontainers.image.ref.name": name,
            "io.containerd.image.name": f"docker.io/library/{name}",
        },
    }
    docker = [{"Config": _place(config), "RepoTags": [name], "Layers": [_place(layer) for layer in packed]}]
    index = {"schemaVersion": 2, "mediaType": f"{MEDIA}.index.v1+json", "manifests": [listed]}
    files = blobs | {
        "index.json": _json(index),
        "manifest.json": _json(docker),
        "oci-layout": _json({"imageLayoutVersion": "1.0.0"}),
    }
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as tar:
        for folder in ("blobs", "blobs/sha256"):
            tar.addfile(_entry(folder, tarfile.DIRTYPE, 0o755, 0))
        for place, content in sorted(files.items()):
            if isinstance(content, Path):
                with content.open("rb") as file:
                    tar.addfile(_entry(place, tarfile.REGTYPE, 0o644, content.stat().st_size), file)
            else:
                tar.addfile(_entry(place, tarfile.REGTYPE, 0o644, len(content)), io.BytesIO(content))


def _place(descriptor: dict[str, object]) -> str:
    return f"blobs/{str(descriptor['digest']).replace(':', '/')}"


def _entry(name: str, kind: bytes, mode: int, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.size, entry.mtime = kind, mode, size, epoch()
    return entry


def _json(content: object) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _moment() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch()))
