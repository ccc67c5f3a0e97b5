"""Damaged manifests and records of downloads: every model stays listed, and others stay as they were.

What is damaged is named, and deleting one model deletes its files only.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from engine import hub
from engine.hub import Item, Repository, Stop, manifest
from engine.hub.digest import digest_of
from engine.hub.item import RemoteFile
from engine.hub.lock import WORK
from engine.hub.part import Part, Sidecar
from tests.campaign.attack import SURVIVED, Outcome, Try, Verdict
from tests.campaign.mutation import spoiled

FIXED = 50
COMMIT = "0" * 40
MODELS = {
    "one/gguf": {"a.gguf": b"aa", "b.gguf": b"bbb"},
    "two/folder": {"config.json": b"{}", "model.safetensors": b"cccc"},
    "three/gguf": {"c.gguf": b"ddddd"},
}
NAMES = {"one/gguf/a.gguf", "one/gguf/b.gguf", "two/folder", "three/gguf/c.gguf"}


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    sound = folder / "sound"
    for id, files in MODELS.items():
        make(sound, id, files)

    def once(random: Random) -> Outcome:
        with TemporaryDirectory(dir=folder) as home:
            models = Path(home) / "models"
            shutil.copytree(sound, models)
            hurt = random.choice([*MODELS])
            for path in random.sample(documents(models, hurt), random.choice((1, 1, 2, 3))):
                path.write_bytes(spoiled(msgspec.json.decode(path.read_bytes()), random))
            return use(models, hurt, random)

    yield once


def make(models: Path, id: str, files: dict[str, bytes]) -> None:
    """Write a model with its manifest, a record of its download, and a part of one more file."""
    home = models / id
    home.mkdir(parents=True)
    for name, content in files.items():
        (home / name).write_bytes(content)
    listed = tuple(RemoteFile(name, len(content)) for name, content in files.items())
    sums = {
        file.name: digest_of(home / file.name, file, Stop(), lambda nbytes: None).sha256() for file in listed
    }
    repository = Repository(id, COMMIT, "mit", False, f"https://example.org/{id}", listed)
    manifest.write(home, manifest.added(None, repository, sums))
    wanted = Item(id, (repository,), target="x")
    (models / WORK).mkdir(exist_ok=True)
    (models / WORK / f"{wanted.id}.json").write_bytes(msgspec.json.encode(wanted))
    part = Sidecar(RemoteFile("more.gguf", 9, "0" * 64), '"etag"', 4, "0" * 64)
    (home / "more.gguf.part").write_bytes(b"xxxx")
    (home / "more.gguf.part.json").write_bytes(msgspec.json.encode(part))


def documents(models: Path, id: str) -> list[Path]:
    record = next((models / WORK).glob(f"{id.replace('/', '--')}-*.json"))
    return [models / id / "specexec.json", models / id / "more.gguf.part.json", record]


def use(models: Path, hurt: str, random: Random) -> Outcome:
    """List, verify, resume and delete."""
    listed = {model.name: model for model in hub.stored(models)}
    if listed.keys() != NAMES:
        return Outcome(Verdict.LOST, f"not listed: {NAMES - listed.keys()}; listed: {listed.keys() - NAMES}")
    for name, model in listed.items():
        states = {one.state for one in hub.verify(model, Stop(), lambda done, total: None)}
        if not name.startswith(hurt) and states != {"ok"}:
            return Outcome(Verdict.LOST, f"{name} is {states}, but the damage is in {hurt}")
    for item in hub.unfinished(models):
        check_record(item)
    part = Part(models / hurt / "more.gguf", RemoteFile("more.gguf", 9, "0" * 64))
    part.open(Stop(), lambda nbytes: None)
    part.close()
    if part.whole:
        return Outcome(Verdict.LOST, "a part of 4 bytes counts as a whole file of 9")
    gone = random.choice(sorted(NAMES))
    hub.delete(models, listed[gone])
    left = {model.name for model in hub.stored(models)}
    if left != NAMES - {gone}:
        return Outcome(Verdict.LOST, f"{gone} was deleted, and these are left: {left}")
    return SURVIVED


def check_record(item: Any) -> None:
    assert item.id
    assert item.nbytes >= 0
    assert isinstance(item.name + item.target + item.draft, str)
