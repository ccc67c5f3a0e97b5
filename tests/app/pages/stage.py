"""The stage of a tour: a program in a folder of its own, on a described machine, with engines that answer at
once and without a network."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import monotonic

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.background import Work
from app.downloads.downloads import Downloads
from app.header import elsewhere
from app.preferences import PreferencesFile
from app.runtime_setup import setup_job
from app.runtime_setup.setup_job import EngineSetup
from app.settings import engine_editor
from app.startup import languages
from app.store import Store
from app.widgets import motion
from app.window import better_model
from app.wizard.selection import survey
from app.wizard.selection.offers import Offers, offers_for
from app.wizard.selection.survey import Examined
from engine import catalog, planner, runtime, secret
from engine import machine as engine_machine
from engine.hub import Hub
from engine.machine import Finding
from engine.remote import engines
from engine.remote.engines import AddedEngine
from engine.remote.models import RemoteModel
from tests.app.runtime_setup.packaged import CARD, FakeSetups, package
from tests.app.shared_fixtures import machine

PATIENCE_S = 30.0
SOON_MS = 50  # a timer of so long belongs to what is shown now
TURNS = 50  # of the loop of events; a page needs a few
NOWHERE = "http://127.0.0.1:9"
Look = Callable[[str, QWidget], None]

AWAY = AddedEngine("The laboratory's large machine", "https://inference.laboratory.example.org:8443/v1")
SERVED = (
    RemoteModel("Qwen/Qwen2.5-72B-Instruct-AWQ", "vllm", 32_768),
    RemoteModel("meta-llama/Llama-3.3-70B-Instruct", "sglang"),
)
MACHINE = machine(cards=(CARD,))
FINDING = Finding(
    "hard_disk",
    "warning",
    "The models lie on a hard disk, which reads slowly.",
    "Move them to an SSD: open the settings, then Models, and choose another folder.",
)
EXAMINED = Examined(MACHINE, None, (FINDING,))


@dataclass
class Stage:
    """What the stops of a tour use.

    Attributes:
        folder: of this program alone.
        look: called with the name of each page and the widget that is to be looked at.
        setup, setups: the set-up of the engine, and those that the tour scripts.
    """

    folder: Path
    look: Look
    patch: pytest.MonkeyPatch
    store: Store
    preferences: PreferencesFile
    downloads: Downloads
    setup: EngineSetup
    setups: FakeSetups

    def show(self, name: str, widget: QWidget) -> None:
        """Let a page come to rest, and look at it."""
        window = widget.window()
        if not window.isVisible():
            window.show()
        settle()
        until(lambda: is_at_rest(window))
        settle()
        self.look(name, widget)

    def show_modal(self, name: str, opens: Callable[[], object]) -> None:
        """Look at the dialog that `opens` opens, also if it returns only once the dialog is closed."""
        seen: list[bool] = []

        def look() -> None:
            dialog = QApplication.activeModalWidget()
            if dialog is None:
                return
            timer.stop()
            try:
                self.show(name, dialog)
            finally:
                dialog.close()
                seen.append(True)

        timer = QTimer(interval=5)
        timer.timeout.connect(look)
        timer.start()
        opens()
        until(lambda: bool(seen))
        timer.stop()
        settle()


@contextmanager
def stage(app: QApplication, folder: Path, look: Look, language: str) -> Iterator[Stage]:
    """Set the stage in a language for the duration of the block."""
    languages.install(app, language)
    motion.reduce(True)
    with pytest.MonkeyPatch.context() as patch:
        package(folder, patch)
        setups = FakeSetups()
        patch.setattr(setup_job, "Setup", setups)
        patch.setattr(setup_job, "POLL_MS", 5)
        patch.delenv(catalog.MODELS_VARIABLE, raising=False)
        patch.setattr(catalog.local, "_kept_folder", lambda: folder / "models-folder.txt")
        catalog.keep_models_folder(folder / "models")
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(folder / name))
        patch.setattr(engines, "engines_path", lambda: folder / "engines.toml")
        for asker in (elsewhere, engine_editor):
            patch.setattr(asker, "models", lambda engine, key, stop: list(SERVED))
        patch.setattr(secret.KeptSecret, "get", lambda kept: None)
        patch.setattr(survey, "examine", lambda models: EXAMINED)
        patch.setattr(survey, "measure", lambda models, again, stop: EXAMINED)
        patch.setattr(survey, "offers_for", lambda *asked: _offers())
        patch.setattr(engine_machine, "probe", lambda folder: MACHINE)
        patch.setattr(better_model, "better_offer", lambda helps: None)
        store = Store(folder / "conversations.sqlite")
        preferences = PreferencesFile(folder / "settings.toml")
        downloads, setup = Downloads(lambda: Hub(NOWHERE)), EngineSetup(preferences, app)
        try:
            yield Stage(folder, look, patch, store, preferences, downloads, setup, setups)
        finally:
            downloads.close()
            downloads.deleteLater()
            setup.close()
            setup.deleteLater()
            settle()
            store.close()
            runtime.backends.cache_clear()
            languages.install(app, "en")
            motion.reduce(False)


@cache
def _offers() -> Offers:
    """Return what the wizard offers on this machine, in any language: this takes seconds."""
    return offers_for(EXAMINED.usable(), catalog.catalog(), "auto", planner.history())


def is_at_rest(window: QWidget) -> bool:
    """Return whether no job of a window is running, and no timer is about to change what it shows."""
    timers = (timer for timer in window.findChildren(QTimer) if timer.isActive() and timer.isSingleShot())
    is_waiting = any(timer.interval() <= SOON_MS for timer in timers)
    return not is_waiting and not any(work._newest for work in window.findChildren(Work))


def settle() -> None:
    """Handle events until there are no more, however long it takes: one layout may lead to another."""
    loop = QEventLoop()
    for _ in range(TURNS):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        if not loop.processEvents():
            break


def until(condition: Callable[[], bool]) -> None:
    end = monotonic() + PATIENCE_S
    while not condition():
        QTest.qWait(5)
        assert monotonic() < end, "waited in vain"
