"""A wizard on a described machine with a stand-in for the Hub, so that no test waits for a disk."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.downloads.downloads import Downloads
from app.preferences import PreferencesFile
from app.runtime_setup.setup_job import EngineSetup
from app.wizard.selection import survey
from app.wizard.selection.survey import Examined
from app.wizard.wizard import Wizard
from engine import catalog
from engine.catalog import Catalog
from engine.hub import Stop
from tests.app.shared_fixtures import GIB, downloads, machine, own_models, server, setup, small_catalog
from tests.engine.hub.conftest import content, own_keyring
from tests.engine.hub.lying_hub import LyingHub, Offered

__all__ = ["downloads", "own_keyring", "own_models", "server", "setup", "small_catalog"]


GEMMA = "gemma-4-e2b-q8_0"
ASSISTANT = "google/gemma-4-E2B-it-assistant"


def with_assistant(known: Catalog) -> Catalog:
    """Return a catalogue with one more model, for which its maker trained an assistant."""
    model = catalog.local.catalog().models["gemma-4-e2b"]
    variants = {variant.id: variant for variant in model.variants}
    return replace(known, models=known.models | {model.id: model}, variants=known.variants | variants)


def put_assistant(server: LyingHub, **also: object) -> None:
    """Put the assistant on the Hub."""
    files = {"config.json": b'{"model_type": "gemma4_assistant"}', "model.safetensors": content(500)}
    server.repositories[ASSISTANT] = Offered(files, license="gemma", **also)  # type: ignore[arg-type]


def examined(free_nbytes: int = 500 * GIB) -> Examined:
    return Examined(machine(free_nbytes), None, ())


@pytest.fixture(autouse=True)
def described_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(models: Path, again: bool, stop: Stop) -> Examined:
        return examined()

    monkeypatch.setattr(survey, "examine", lambda models: examined())
    monkeypatch.setattr(survey, "measure", measure)
    monkeypatch.setattr(survey.machine, "probe", lambda folder: machine())


@pytest.fixture
def make_wizard(
    qtbot: QtBot, downloads: Downloads, setup: EngineSetup, preferences: PreferencesFile
) -> Iterator[Callable[[], Wizard]]:
    made: list[Wizard] = []

    def make() -> Wizard:
        wizard = Wizard(downloads, setup, preferences)
        made.append(wizard)
        return wizard

    yield make
    for wizard in made:
        wizard.shut_down()
        wizard.deleteLater()


@pytest.fixture
def wizard(make_wizard: Callable[[], Wizard], qtbot: QtBot) -> Wizard:
    """An open wizard with its predictions."""
    wizard = make_wizard()
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.begin()
    return wizard
