"""The self-test of a packaged program, which needs no user:
`python -m app --self-test FILE.png [--with-engine]`.

Opens the window with a temporary store and temporary settings; with the engine, asks it a question. Saves a
screenshot to FILE.png and prints one JSON object. The exit status is 1 if anything failed.
"""

import json
import os
import tempfile
import time
from pathlib import Path

from msgspec import structs
from PySide6.QtCore import QTimer, qVersion
from PySide6.QtWidgets import QApplication

from app.connection.engine import State
from app.preferences import PreferencesFile
from app.startup.application import make_application
from app.store import Store
from app.window.arguments import Arguments
from app.window.core import Core
from app.window.window import Window
from engine.protocol.messages import Answer, EngineLost, Failed, TextDelta

QUESTION = "What is the capital of Japan?"
MOST_TOKENS = 32
SETTLE_MS = 300  # time allowed for painting the last change
PATIENCE_MS = 240_000  # time limit; long, since the first start compiles, and a runtime's reads a gigabyte


def run(arguments: Arguments) -> int:
    """Run the self-test. Return the exit status."""
    started = time.monotonic()
    app = make_application()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        store = Store(Path(folder) / "conversations.sqlite")
        window = Window(Core(arguments, store, PreferencesFile(Path(folder) / "settings.toml")))
        report = SelfTest(app, window, arguments, started).run()
        store.close()
    status = 0 if report["ok"] else 1
    print(json.dumps(report), flush=True)
    if window.engine.is_running:  # the engine ends once this process has ended
        os._exit(status)
    return status


class SelfTest:
    """One run of the self-test; collects the results in a report."""

    def __init__(self, app: QApplication, window: Window, arguments: Arguments, started: float) -> None:
        """started: when the self-test began, in seconds of the monotonic clock."""
        assert arguments.self_test is not None
        self._started = started
        self._app, self._window = app, window
        self._picture, self._with_engine = arguments.self_test, arguments.with_engine
        self._report: dict[str, object] = {"ok": False, "qt": qVersion(), "platform": app.platformName()}
        engine, chat = window.engine, window.chat
        engine.lost.connect(self._fail)
        engine.load_failed.connect(self._fail)
        chat.failed.connect(lambda _, failed: self._fail(failed))
        chat.reported.connect(self._take)
        engine.state_changed.connect(self._ask)
        window.closed.connect(app.exit)
        options = structs.replace(chat.settings.options, temperature=0.0, max_new_tokens=MOST_TOKENS)
        chat.set_settings(structs.replace(chat.settings, options=options))

    def run(self) -> dict[str, object]:
        """Run the event loop until the test is over. Return the report."""
        if self._with_engine:
            self._window.start()
        else:
            self._window.show()
        self._app.processEvents()
        self._report["window_after_s"] = self._seconds()
        QTimer.singleShot(PATIENCE_MS if self._with_engine else SETTLE_MS, self._over)
        self._app.exec()
        return self._report

    def _seconds(self) -> float:
        """Return the seconds since the self-test began."""
        return round(time.monotonic() - self._started, 2)

    def _ask(self, state: State) -> None:
        if state is State.READY and "asked" not in self._report:
            self._report.update(asked=QUESTION, ready_after_s=self._seconds())
            QTimer.singleShot(0, lambda: self._window.chat.send(QUESTION))

    def _take(self, event: object) -> None:
        if isinstance(event, TextDelta):
            self._report.setdefault("first_token_after_s", self._seconds())
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
