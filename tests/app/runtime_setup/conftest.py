"""A packaged program on a described machine, with set-ups under the test's control."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.background import Work
from app.runtime_setup import setup_job
from app.runtime_setup.setup_job import EngineSetup
from app.runtime_setup.setup_view import SetupView
from engine import machine as engine_machine
from engine import runtime
from engine.machine import Gpu
from tests.app.runtime_setup.packaged import FakeSetups, package
from tests.app.shared_fixtures import GIB, machine, own_models, setup

__all__ = ["own_models", "setup"]


@pytest.fixture(autouse=True)
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    package(tmp_path, monkeypatch)
    monkeypatch.setattr(setup_job, "POLL_MS", 5)
    yield
    runtime.backends.cache_clear()


@pytest.fixture
def setups(monkeypatch: pytest.MonkeyPatch) -> FakeSetups:
    made = FakeSetups()
    monkeypatch.setattr(setup_job, "Setup", made)
    return made


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Replace the machine that is examined."""

    def see(*cards: Gpu, free_nbytes: int = 500 * GIB) -> None:
        found = machine(free_nbytes, cards)
        monkeypatch.setattr(engine_machine, "probe", lambda folder: found)

    return see


@pytest.fixture
def make_view(
    setups: FakeSetups, setup: EngineSetup, seen: Callable[..., None], qtbot: QtBot
) -> Iterator[Callable[[], SetupView]]:
    """Make views that have examined the machine: a laptop without a graphics card by default."""
    seen()
    works: list[Work] = []

    def make() -> SetupView:
        works.append(Work())
        view = SetupView(setup, works[-1])
        qtbot.addWidget(view)
        view.show()
        view.look()
        qtbot.waitUntil(lambda: view.chosen is not None)
        return view

    yield make
    for work in works:
        work.close()
        work.deleteLater()
