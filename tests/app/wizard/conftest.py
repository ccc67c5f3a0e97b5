"""A wizard over a lying Hub and a machine that is described, so that no test waits for a disk."""

import gc
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import close_session
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import theme
from app.preferences import PreferencesFile
from app.wizard import examination, survey
from app.wizard.downloads import Downloads
from app.wizard.engine_setup import EngineSetup
from app.wizard.examination import Examined
from app.wizard.wizard import Wizard
from engine import catalog
from engine.catalog import Catalog, Variant
from engine.hub import Hub, Stop
from engine.machine import Cpu, Disk, Gpu, Machine, Memory, Surroundings
from tests.engine.hub.conftest import content, own_keyring
from tests.engine.hub.lying_hub import LyingHub, Offered

__all__ = ["own_keyring"]

GIB = 1 << 30


def machine(free_nbytes: int = 500 * GIB, cards: tuple[Gpu, ...] = ()) -> Machine:
    """A laptop, without a graphics card where none is named."""
    return Machine(
        system="linux",
        gpus=cards,
        gpu_problem=None,
        cpu=Cpu("A processor", 8, 16, 16, {"avx2": True, "avx512f": True, "avx512_bf16": True}),
        memory=Memory(32 * GIB, 24 * GIB, 32 * GIB),
        disk=Disk("/models", "/", "/dev/sda", "ext4", "ssd", 1000 * GIB, free_nbytes),
        surroundings=Surroundings(),
    )


def examined(free_nbytes: int = 500 * GIB) -> Examined:
    return Examined(machine(free_nbytes), None, ())


@pytest.fixture(autouse=True)
def light(qapp: QApplication) -> None:
    """Once: nothing here changes it, and dressing takes a tenth of a second."""
    if not qapp.styleSheet() or theme.current() is not theme.LIGHT:
        theme.dress(qapp, Qt.ColorScheme.Light)


@pytest.fixture(autouse=True)
def own_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Neither the tester's models nor a variable that says where they are."""
    monkeypatch.delenv(catalog.MODELS_VARIABLE, raising=False)
    monkeypatch.setattr(catalog.local, "_kept_folder", lambda: tmp_path / "models-folder.txt")
    models = tmp_path / "models"
    catalog.keep_models_folder(models)
    return models


@pytest.fixture(autouse=True)
def small_catalog(monkeypatch: pytest.MonkeyPatch) -> Catalog:
    """Two families, so that predictions take no time."""
    whole = catalog.catalog()
    families = ("qwen2.5", "smollm2")
    models = {id: model for id, model in whole.models.items() if model.family in families}
    models = {id: model for id, model in models.items() if model.parameters < 10e9 and "coder" not in id}
    pairs = tuple(pair for pair in whole.pairs if {pair.target, pair.draft} <= models.keys())
    variants = {id: each for id, each in whole.variants.items() if each.model in models}
    small = Catalog(models, variants, pairs)
    monkeypatch.setattr(catalog, "catalog", lambda: small)
    return small


@pytest.fixture(autouse=True)
def described_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(models: Path, again: bool, stop: Stop) -> Examined:
        return examined()

    monkeypatch.setattr(survey, "looked_at", lambda models: examined())
    monkeypatch.setattr(survey, "measured", measured)
    monkeypatch.setattr(examination.machine, "probe", lambda folder: machine())


@pytest.fixture
def server() -> Iterator[LyingHub]:
    """Ends with all its connections: those of jobs that are still ending, those that the Hub's library keeps
    for later, and those that were stopped while they were made."""
    before = set(threading.enumerate())
    lying = LyingHub()
    yield lying
    lying.close()
    answering = [thread for thread in threading.enumerate() if "process_request" in thread.name]
    for thread in set(threading.enumerate()) - before - set(answering):
        thread.join(5)
    close_session()
    for thread in answering:
        thread.join(0.1)
        if thread.is_alive():
            gc.collect()
            thread.join(5)


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


@pytest.fixture
def make_wizard(qtbot: QtBot, downloads: Downloads, setup: EngineSetup) -> Iterator[Callable[[], Wizard]]:
    made: list[Wizard] = []

    def make() -> Wizard:
        wizard = Wizard(downloads, setup)
        made.append(wizard)
        return wizard

    yield make
    for wizard in made:
        wizard.shut_down()
        wizard.deleteLater()


@pytest.fixture
def wizard(make_wizard: Callable[[], Wizard], qtbot: QtBot) -> Wizard:
    """Begun, with its predictions."""
    wizard = make_wizard()
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.begin()
    return wizard


def put(server: LyingHub, id: str, nbytes: int = 300_000, **also: object) -> None:
    """A variant of the catalogue on the Hub."""
    variant = catalog.entries()[id]
    if variant.format == "gguf":
        files = {name: content(nbytes, seed) for seed, name in enumerate(variant.files)}
    else:
        files = {"config.json": b"{}", "tokenizer.json": b"{}", "model.safetensors": content(nbytes)}
    server.repositories[variant.repository] = Offered(files, **also)  # type: ignore[arg-type]


def place(variant: Variant) -> None:
    """As if it had been downloaded."""
    folder = catalog.models_folder() / variant.repository
    folder.mkdir(parents=True, exist_ok=True)
    (folder / (variant.file or "config.json")).write_bytes(b"{}")
