"""`python -m app --self-test FILE.png [--with-engine]`: what a package must be able to do, without a person.

Opens the window on a store and settings of its own, photographs it, and, with the engine, has a question
answered. Prints one JSON object; exit status 1 where something failed.
"""

import json
import os
import tempfile
import time
from pathlib import Path

from msgspec import structs
from PySide6.QtCore import QTimer, qVersion
from PySide6.QtWidgets import QApplication

from app.arguments import Arguments
from app.engine import State
from app.preferences import PreferencesFile
from app.startup import make_application
from app.store import Store
from app.window import Window
from engine.protocol.messages import Answer, EngineLost, Failed

QUESTION = "What is the capital of France?"
MOST_TOKENS = 32
SETTLE_MS = 300  # until what was last said is painted
PATIENCE_MS = 240_000  # the first import of torch reads a gigabyte


def run(arguments: Arguments) -> int:
    """The exit status."""
    started = time.monotonic()
    app = make_application()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        store = Store(Path(folder) / "conversations.sqlite")
        window = Window(arguments, store, PreferencesFile(Path(folder) / "settings.toml"))
        report = SelfTest(app, window, arguments).run(started)
        store.close()
    status = 0 if report["ok"] else 1
    print(json.dumps(report), flush=True)
    if window.engine.is_running:  # it did not end in time: its lifeline is cut with us
        os._exit(status)
    return status


class SelfTest:
    """One run: `report` grows as things happen."""

    def __init__(self, app: QApplication, window: Window, arguments: Arguments) -> None:
        assert arguments.self_test is not None
        self._app, self._window = app, window
        self._picture, self._with_engine = arguments.self_test, arguments.with_engine
        self._report: dict[str, object] = {"ok": False, "qt": qVersion(), "platform": app.platformName()}
        engine, chat = window.engine, window.chat
        engine.lost.connect(self._fail)
        engine.load_failed.connect(self._fail)
        chat.failed.connect(self._fail)
        chat.reported.connect(self._hear)
        engine.state_changed.connect(self._ask)
        window.closed.connect(app.exit)
        options = structs.replace(chat.settings.options, temperature=0.0, max_new_tokens=MOST_TOKENS)
        chat.set_settings(structs.replace(chat.settings, options=options))

    def run(self, started: float) -> dict[str, object]:
        if self._with_engine:
            self._window.start()
        else:
            self._window.show()
        self._app.processEvents()
        self._report["window_after_s"] = round(time.monotonic() - started, 2)
        QTimer.singleShot(PATIENCE_MS if self._with_engine else SETTLE_MS, self._over)
        self._app.exec()
        return self._report

    def _ask(self, state: State) -> None:
        if state is State.READY and "asked" not in self._report:
            self._report["asked"] = QUESTION
            QTimer.singleShot(0, lambda: self._window.chat.send(QUESTION))

    def _hear(self, event: object) -> None:
        if isinstance(event, Answer):
            self._report.update(answer=event.text, tokens=event.tokens, stop_reason=event.stop_reason)
            QTimer.singleShot(SETTLE_MS, self._over)

    def _fail(self, error: EngineLost | Failed) -> None:
        self._report["error"] = {"message": error.message, "hint": error.hint}
        QTimer.singleShot(SETTLE_MS, self._over)

    def _over(self) -> None:
        if "pictured" in self._report:
            return
        self._report["pictured"] = self._window.grab().save(str(self._picture))
        answered = bool(self._report.get("answer")) or not self._with_engine
        self._report["ok"] = bool(self._report["pictured"]) and answered and "error" not in self._report
        if self._window.engine.is_running:
            self._window.close()  # `closed` follows once the engine has ended
        else:
            self._app.exit()
