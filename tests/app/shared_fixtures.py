"""Fixtures shared by the tests of downloads, of the engine's set-up and of the wizard.

They provide a stand-in for the Hub, a models folder, a small catalogue and a described machine. A conftest.py
imports the fixtures that its tests need.
"""

import gc
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import close_session

from app.downloads.downloads import Downloads
from app.preferences import PreferencesFile
from app.runtime_setup.setup_job import EngineSetup
from engine import catalog
from engine.catalog import Catalog, Variant
from engine.hub import Hub
from engine.machine import Cpu, Disk, Gpu, Machine, Surroundings, SystemMemory
from tests.app.threads import join
from tests.engine.hub.conftest import content
from tests.engine.hub.lying_hub import LyingHub, Offered

GIB = 1 << 30


def machine(free_nbytes: int = 500 * GIB, cards: tuple[Gpu, ...] = ()) -> Machine:
    """Return a laptop, by default without a graphics card."""
    return Machine(
        system="linux",
        gpus=cards,
        gpu_problem=None,
        cpu=Cpu("A processor", 8, 16, 16, {"avx2": True, "avx512f": True, "avx512_bf16": True}),
        memory=SystemMemory(32 * GIB, 24 * GIB, 32 * GIB),
        disk=Disk("/models", "/", "/dev/sda", "ext4", "ssd", 1000 * GIB, free_nbytes),
        surroundings=Surroundings(),
    )


@pytest.fixture(autouse=True)
def own_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A models folder of the test's own, without the tester's environment variable."""
    monkeypatch.delenv(catalog.MODELS_VARIABLE, raising=False)
    monkeypatch.setattr(catalog.local, "_kept_folder", lambda: tmp_path / "models-folder.txt")
    monkeypatch.setattr(catalog.local, "_former_folder", lambda: tmp_path / "cache" / "models")
    models = tmp_path / "models"
    catalog.keep_models_folder(models)
    return models


@pytest.fixture(autouse=True)
def small_catalog(monkeypatch: pytest.MonkeyPatch) -> Catalog:
    """A catalogue of two families, so that predictions are fast."""
    whole = catalog.catalog()
    families = ("qwen2.5", "smollm2")
    models = {id: model for id, model in whole.models.items() if model.family in families}
    models = {id: model for id, model in models.items() if model.parameters < 10e9 and "coder" not in id}
    pairs = tuple(pair for pair in whole.pairs if {pair.target, pair.draft} <= models.keys())
    variants = {id: each for id, each in whole.variants.items() if each.model in models}
    small = Catalog(models, variants, pairs)
    monkeypatch.setattr(catalog, "catalog", lambda: small)
    return small


@pytest.fixture
def server() -> Iterator[LyingHub]:
    """A stand-in for the Hub.

    At the end it waits for all connections: those of jobs that are still ending, those in the pool of the
    Hub's library, and those stopped while they were being opened.
    """
    before = set(threading.enumerate())
    lying = LyingHub()
    yield lying
    lying.close()
    answering = [thread for thread in threading.enumerate() if "process_request" in thread.name]
    for thread in set(threading.enumerate()) - before - set(answering):
        join(thread, 5)
    close_session()
    for thread in answering:
        join(thread, 0.1)
        if thread.is_alive():
            gc.collect()
            join(thread, 5)


@pytest.fixture
def downloads(server: LyingHub) -> Iterator[Downloads]:
    made = Downloads(lambda: Hub(server.endpoint))
    yield made
    made.close()


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[EngineSetup]:
    made = EngineSetup(PreferencesFile(tmp_path / "settings.toml"))
    yield made
    made.close()
    made.deleteLater()


def put(server: LyingHub, id: str, nbytes: int = 300_000, **also: object) -> None:
    """Put a variant of the catalogue on the Hub."""
    variant = catalog.entries()[id]
    if variant.format == "gguf":
        files = {name: content(nbytes, seed) for seed, name in enumerate(variant.files)}
    else:
        files = {"config.json": b"{}", "tokenizer.json": b"{}", "model.safetensors": content(nbytes)}
    server.repositories[variant.repository] = Offered(files, **also)  # type: ignore[arg-type]


def place(variant: Variant) -> None:
    """Create the files of a downloaded variant."""
    file = catalog.models_folder() / variant.repository / (variant.file or "config.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"{}")
