"""Drives the real wizard like a user: pastes an address, downloads, pauses, resumes, loads.

Run as a program, because it needs a display of its own, with $HF_ENDPOINT and $SPECEXEC_MODELS:
    python -m tests.app.wizard.drive_wizard FOLDER ADDRESS
Leaves screenshots in FOLDER and prints one JSON object. Not a test itself; see test_real_wizard.py.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.connection.engine import Engine, State
from app.connection.engine_link import EngineLink
from app.downloads.downloads import Downloads
from app.downloads.indicator import DownloadIndicator
from app.preferences import PreferencesFile
from app.runtime_setup.setup_job import EngineSetup
from app.startup.application import make_application
from app.wizard.selection import wording
from app.wizard.wizard import Wizard
from engine.protocol.messages import Load

PATIENCE_S = 120
SETTLE_MS = 150  # the X server paints asynchronously
KEY_MS = 1


def main() -> None:
    folder, address = Path(sys.argv[1]), sys.argv[2]
    folder.mkdir(parents=True, exist_ok=True)
    app = make_application()
    downloads = Downloads()
    preferences = PreferencesFile(folder / "settings.toml")
    wizard = Wizard(downloads, EngineSetup(preferences), preferences)
    indicator = DownloadIndicator(downloads)
    engine = Engine(EngineLink(), Load(id=0))
    engine.load_failed.connect(give_up)
    engine.lost.connect(give_up)
    asked: list[tuple[str, str]] = []
    wizard.load_asked.connect(lambda *names: asked.append(names))
    downloads.look_around()
    until(indicator.isVisible)
    told = indicator.text()
    wizard.show_downloads()

    def photograph(name: str) -> None:
        QTest.qWait(SETTLE_MS)
        assert wizard.screen().grabWindow(wizard.winId()).save(str(folder / f"wizard-{name}.png"))

    def press(key: Qt.Key) -> None:
        widget = QApplication.focusWidget()
        assert widget is not None, "nothing has the keyboard"
        QTest.keyClick(widget, key, delay=KEY_MS)

    until(lambda: not wizard.survey.is_running)
    wizard.back.setFocus()
    press(Qt.Key.Key_Return)
    photograph("machine")
    speed = wizard.survey.examined.machine.disk.speed  # type: ignore[union-attr]
    until(wizard.main.hasFocus)
    press(Qt.Key.Key_Return)
    photograph("choose")
    assert wizard.choose.catalogue.offer is not None
    recommended = wording.name(wizard.choose.catalogue.offer)

    search = wizard.choose.hub_search
    wizard.choose.tabs.setCurrentWidget(search)
    QTest.keyClicks(search.line, address, delay=KEY_MS)
    press(Qt.Key.Key_Return)
    until(search.repository.isVisible)
    photograph("hub")
    wizard.main.setFocus()
    press(Qt.Key.Key_Return)
    until(lambda: wizard.page is wizard.where and wizard.main.hasFocus())
    photograph("where")
    press(Qt.Key.Key_Return)
    until(lambda: wizard.page is wizard.download)
    [entry] = downloads.entries
    view = wizard.download.views[entry]
    until(lambda: entry.progress.done > 0 and entry.progress.bytes_per_s > 0 and view.pause.hasFocus())
    photograph("download")
    press(Qt.Key.Key_Return)
    until(view.resume.hasFocus)
    photograph("paused")
    paused, told_paused = entry.progress.done, indicator.text()
    press(Qt.Key.Key_Return)
    until(lambda: wizard.page is wizard.ready and wizard.main.hasFocus())
    photograph("ready")
    press(Qt.Key.Key_Return)
    until(lambda: bool(asked))

    [(target, draft)] = asked
    engine.wanted = Load(id=0, target=target, draft=draft)
    engine.start()
    until(lambda: engine.state is State.READY)
    loaded = engine.pair.target.name if engine.pair else ""
    engine.close()
    until(lambda: not engine.is_running)
    wizard.shut_down()
    downloads.close()
    report = {
        "platform": app.platformName(),
        "disk_measured": speed is not None,
        "recommended": recommended,
        "paused_at": paused,
        "indicator": [told, told_paused],
        "target": target,
        "draft": draft,
        "loaded": loaded,
    }
    print(json.dumps(report))


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        QTest.qWait(10)
        if time.monotonic() > end:
            give_up(f"waited in vain, {sys._getframe(1).f_lineno}")


def give_up(why: object) -> None:
    print(why, file=sys.stderr, flush=True)
    os._exit(3)  # the engine ends with its lifeline


if __name__ == "__main__":
    main()
