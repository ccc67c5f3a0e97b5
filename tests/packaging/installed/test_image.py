"""The container image: its digests, and `specexec serve` in its unpacked layers, with the root read-only."""

import gzip
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.packaging.installed.conftest import build, need, one

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root privileges"),
]
KEY = "a key of this test"


class Image:
    """An unpacked image layout.

    Attributes: `file`, the archive; `folder`; `manifest`; `config`, the image's configuration.
    """

    def __init__(self, file: Path, folder: Path) -> None:
        self.file, self.folder = file, folder
        subprocess.run(["tar", "--extract", "--file", file, "--directory", folder], check=True)
        (listed,) = json.loads((folder / "index.json").read_text())["manifests"]
        self.manifest = json.loads(self.blob(listed).read_text())
        self.config = json.loads(self.blob(self.manifest["config"]).read_text())

    def blob(self, descriptor: dict[str, object]) -> Path:
        """Return the file that a descriptor names, after checking it."""
        algorithm, _, digest = str(descriptor["digest"]).partition(":")
        path = self.folder / "blobs" / algorithm / digest
        assert path.stat().st_size == descriptor["size"]
        with path.open("rb") as file:
            assert hashlib.file_digest(file, algorithm).hexdigest() == digest
        return path


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    need("debootstrap", "patchelf")
    folder = tmp_path_factory.mktemp("image")
    build(folder, "image", "--fast")
    (folder / "layout").mkdir()
    yield Image(one(folder, "*.oci.tar"), folder / "layout")
    shutil.rmtree(folder)


def apply(layer: Path, root: Path) -> None:
    """Unpack a layer over those before it (image-spec, layer.md): whiteouts remove what these have."""
    with tarfile.open(layer) as tar:
        for entry in tar:
            place = root / entry.name
            if place.name == ".wh..wh..opq":
                shutil.rmtree(place.parent)
                place.parent.mkdir()
            elif place.name.startswith(".wh."):
                hidden = place.with_name(place.name.removeprefix(".wh."))
                shutil.rmtree(hidden) if hidden.is_dir() else hidden.unlink()
            else:
                tar.extract(entry, root, numeric_owner=True, filter="fully_trusted")


@pytest.fixture(scope="module")
def root(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a root with the image's layers, of which only the volumes and /tmp can be written."""
    need("mount", "setpriv")
    folder = tmp_path_factory.mktemp("root")
    folder.chmod(0o755)  # pytest closes its folders to other users
    for layer in image.manifest["layers"]:
        apply(image.blob(layer), folder)
    volumes = [name[1:] for name in image.config["config"]["Volumes"]]
    mounted = [folder]
    try:
        subprocess.run(["mount", "--bind", folder, folder], check=True)
        for name in volumes:
            subprocess.run(["mount", "--bind", folder / name, folder / name], check=True)
            mounted.append(folder / name)
        for kind, name in (("tmpfs", "tmp"), ("proc", "proc"), ("tmpfs", "dev")):
            subprocess.run(["mount", "-t", kind, kind, folder / name], check=True)
            mounted.append(folder / name)
        (folder / "dev" / "shm").mkdir(mode=0o1777)
        for device in ("null", "zero", "urandom"):
            subprocess.run(["cp", "-a", f"/dev/{device}", folder / "dev"], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        yield folder
    finally:
        for place in reversed(mounted):
            subprocess.run(["umount", "-l", place], check=False)
        shutil.rmtree(folder)


def command(image: Image, root: Path, *argv: str) -> list[str | Path]:
    """Return the command that runs `argv` in the root as the image's user, with its environment only."""
    user, _, group = image.config["config"]["User"].partition(":")
    assert user.isdecimal()
    assert int(user) > 0
    become = ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", "--no-new-privs"]
    # setpriv is the image's own, so it runs after chroot.
    return ["chroot", root, *become, "--inh-caps=-all", *argv]


def environment(image: Image, **more: str) -> dict[str, str]:
    return dict(entry.partition("=")[::2] for entry in image.config["config"]["Env"]) | more


def healthy(image: Image, root: Path) -> bool:
    kind, *test = image.config["config"]["Healthcheck"]["Test"]
    assert kind == "CMD"
    done = subprocess.run(
        command(image, root, *test), env=environment(image), capture_output=True, timeout=60, check=False
    )
    return done.returncode == 0


@contextmanager
def served(image: Image, root: Path) -> Iterator[subprocess.Popen[str]]:
    """Run what a container of the image runs, until it can answer."""
    started = [*image.config["config"]["Entrypoint"], *image.config["config"]["Cmd"]]
    with subprocess.Popen(
        command(image, root, *started), env=environment(image, SPECEXEC_KEY=KEY), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as running:  # fmt: skip
        try:
            deadline = time.monotonic() + 180
            while not healthy(image, root):
                assert running.poll() is None, running.stdout.read() if running.stdout else ""
                assert time.monotonic() < deadline
                time.sleep(0.5)
            yield running
        finally:
            if running.poll() is None:
                running.kill()


def ask(key: str) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def reply(path: str, body: dict[str, object] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(f"http://127.0.0.1:8484/v1/{path}", data, headers)
        with opener.open(asked, timeout=120) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    question = {"role": "user", "content": "What is the capital of Japan?"}
    model = reply("models")["data"][0]["id"]
    return reply("chat/completions", {"model": model, "messages": [question], "temperature": 0})


def test_the_layers_are_those_that_the_configuration_names(image: Image) -> None:
    layers = [gzip.decompress(image.blob(layer).read_bytes()) for layer in image.manifest["layers"]]
    digests = [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in layers]
    assert digests == image.config["rootfs"]["diff_ids"]
    (docker,) = json.loads((image.folder / "manifest.json").read_text())
    assert (image.folder / docker["Config"]).read_text() == json.dumps(
        image.config, sort_keys=True, separators=(",", ":")
    )
    assert [f"blobs/{layer['digest'].replace(':', '/')}" for layer in image.manifest["layers"]] == docker[
        "Layers"
    ]


def test_it_has_no_window_and_names_every_package(image: Image, root: Path) -> None:
    app = root / "opt" / "specexec-desktop"
    assert not (app / "app").exists()
    assert not list((app / "lib").glob("PySide6*"))
    named = {each["name"].lower() for each in json.loads((app / "sbom.json").read_text())["components"]}
    assert {"numba", "starlette"} <= named
    assert "pyside6-essentials" not in named


def test_it_answers_and_knows_whether_it_is_healthy(image: Image, root: Path) -> None:
    assert not healthy(image, root)
    with served(image, root) as running:
        (choice,) = ask(KEY)["choices"]
        assert "Tokyo" in choice["message"]["content"]
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask("another key")
        running.send_signal(signal.Signals[image.config["config"]["StopSignal"]])
        assert running.wait(60) == 0
    assert not healthy(image, root)


def test_without_a_key_it_refuses_to_start(image: Image, root: Path) -> None:
    started = command(image, root, *image.config["config"]["Entrypoint"])
    done = subprocess.run(
        started, env=environment(image), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1
    assert "other machines could use the model without a key" in done.stderr


def test_skopeo_and_umoci_read_it(image: Image, tmp_path: Path) -> None:
    need("skopeo", "umoci")
    inspected = subprocess.run(
        ["skopeo", "inspect", f"oci-archive:{image.file}"], check=True, capture_output=True, text=True
    )
    labels = json.loads(inspected.stdout)["Labels"]
    assert labels["org.opencontainers.image.licenses"] == "Apache-2.0"
    docker = ["skopeo", "inspect", "--config", f"docker-archive:{image.file}"]
    told = json.loads(subprocess.run(docker, check=True, capture_output=True, text=True).stdout)
    assert told["rootfs"] == image.config["rootfs"]
    copied = ["skopeo", "--insecure-policy", "copy", f"oci-archive:{image.file}", f"oci:{tmp_path}/layout:it"]
    subprocess.run(copied, check=True, capture_output=True)
    subprocess.run(["umoci", "stat", "--image", f"{tmp_path}/layout:it"], check=True, capture_output=True)
