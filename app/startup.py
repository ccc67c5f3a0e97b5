"""From the command line to a running window, and what is said where that does not work."""

import logging
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from types import TracebackType

from msgspec import structs
from PySide6.QtCore import QMessageLogContext, Qt, QtMsgType, qInstallMessageHandler
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QMessageBox

from app import languages, theme
from app.arguments import Arguments
from app.engine import State
from app.notification import is_worth
from app.preferences import PreferencesFile, RecentPair
from app.sidebar import import_bar
from app.sidebar.importing import Importing, Outcome
from app.single_instance import SingleInstance
from app.store import Store, StoreError
from app.tray import Tray
from app.updates import UpdateNotice, Updates
from app.window import Window
from app.wizard import DownloadIndicator, Downloads, EngineSetup, Wizard
from engine import runtime
from engine.protocol.connection import log_path
from engine.protocol.messages import Answer

ICON = Path(__file__).parents[1] / "resources" / "icons" / "specexec.svg"

REMEDY = (
    "On Debian and Ubuntu: sudo apt install libxcb-cursor0 libxkbcommon-x11-0 libxcb-icccm4 libxcb-keysyms1 "
    "libegl1 libgl1. Without a display, use `specexec chat` in the terminal."
)

logger = logging.getLogger(__name__)


def run(arguments: Arguments) -> int:
    """Open the window and stay until it is closed; the exit status."""
    for ending in (signal.SIGINT, signal.SIGTERM):  # at once; the engine follows by itself
        signal.signal(ending, signal.SIG_DFL)
    app = make_application()
    keep_log()
    instance = SingleInstance()
    if not instance.is_first and instance.raise_first(arguments.file):
        return 0
    preferences, store = PreferencesFile(), open_store()
    theme.choose(app, preferences.now.theme)
    program = Program(app, arguments, preferences, store)
    instance.raise_asked.connect(program.show_window)
    instance.file_asked.connect(program.open_file)
    if runtime.is_packaged() and not program.setup.is_needed:  # removing an old one takes up to 20 s
        threading.Thread(target=runtime.tidy, name="tidy", daemon=True).start()
    program.open_window()
    if arguments.file is not None:
        program.open_file(arguments.file)
    threading.Thread(target=store.chats.purge, name="purge", daemon=True).start()
    status = app.exec()
    instance.close()
    program.close_down()
    program.setup.close()
    program.updates.close()
    store.close()
    if program.window.engine.is_running:  # it did not end in time: its lifeline is cut, so it ends, too
        logger.warning("the engine did not end in time")
        logging.shutdown()
        os._exit(status)
    return status


class Program:
    """Makes the window, and makes it anew where another language is chosen.

    Attributes: `window`; `setup`, `updates`: stay the same.
    """

    window: Window

    def __init__(
        self, app: QApplication, arguments: Arguments, preferences: PreferencesFile, store: Store
    ) -> None:
        self._app, self._arguments = app, arguments
        self._preferences, self._store = preferences, store
        self._is_made_anew = False
        self.setup = EngineSetup(preferences, app)
        self.setup.began.connect(self._make_room)
        self.setup.ended.connect(self._switch)
        released = runtime.repository()
        self.updates = Updates(lambda: bool(released) and preferences.now.updates, released or "", parent=app)
        self.updates.start()

    def open_window(self) -> None:
        languages.install(self._app, self._preferences.now.language)
        self.window = Window(self._arguments, self._store, self._preferences)
        self._tray = Tray(self._app.windowIcon(), self.window)
        self._tray.raise_asked.connect(self.show_window)
        self._tray.quit_asked.connect(self.window.close)
        self.window.answered.connect(self._tell_answered)
        self.window.language_changed.connect(self._make_anew)
        self.window.closed.connect(self._closed)
        self.window.engine.lost.connect(self._lead_to_setup)
        self.window.engine.state_changed.connect(self._make_room)
        self.window.header.place(UpdateNotice(self.updates, self.window))
        self._wire_downloads()
        self.window.start()
        self._downloads.look_around()

    def _wire_downloads(self) -> None:
        window = self.window
        self._downloads = Downloads(parent=window)
        self._wizard = Wizard(self._downloads, self.setup, window)
        indicator = DownloadIndicator(self._downloads, window)
        window.header.place(indicator)
        indicator.clicked.connect(self._wizard.show_downloads)
        window.header.wizard_asked.connect(self._wizard.begin)
        self._downloads.lacking.connect(self._wizard.begin)
        window.models_moved.connect(self._downloads.follow_models)
        self._wizard.load_asked.connect(
            lambda target, draft: window.load(RecentPair(target=target, draft=draft))
        )

    def close_down(self) -> None:
        """Downloads go on with the next start."""
        self._wizard.shut_down()
        self._downloads.close()

    def show_window(self) -> None:
        self.window.setWindowState(self.window.windowState() & ~Qt.WindowState.WindowMinimized)
        self.window.show()
        self.window.raise_()
        self.window.activateWindow()

    def open_file(self, path: Path) -> None:
        """Import the chats of a file, and show the first."""
        importing = Importing(path, self._store.path, self._app)
        importing.ended.connect(self._show_imported)

    def _show_imported(self, outcome: Outcome) -> None:
        window = self.window
        window.sidebar.refresh()
        if outcome.error is not None:
            window.sidebar.trouble.emit(outcome.error)
        if outcome.skipped:
            import_bar.list_skipped(window, outcome)
        if outcome.chats:
            window.chat.open(outcome.chats[0])

    # -- the engine's packages -------------------------------------------------------------------------------

    def _lead_to_setup(self) -> None:
        if self.setup.is_needed:
            self._wizard.begin()

    def _make_room(self) -> None:
        """What is set up is tried with a model: another one would be in its way."""
        if self.setup.is_running:
            self.window.engine.stop()
            self.window.engine.unload()

    def _switch(self, is_another: bool) -> None:
        """To the runtime that is in use now; where that is the old one, back to work."""
        engine = self.window.engine
        if is_another:
            engine.close()
            engine.start()
        elif engine.state is State.UNLOADED:
            engine.load()

    # -- windows that follow each other ----------------------------------------------------------------------

    def _make_anew(self) -> None:
        self._is_made_anew = True
        self.window.close()

    def _closed(self) -> None:
        if not self._is_made_anew:
            self._app.quit()
            return
        self._is_made_anew = False
        self.close_down()
        old, chat = self.window, self.window.chat.id
        self.open_window()
        self.window.chat.open(chat)
        old.deleteLater()

    def _tell_answered(self, answer: Answer) -> None:
        seconds = (answer.time_to_first_token_s or 0) + sum(structs.astuple(answer.seconds))
        wanted = self._preferences.now.notifications
        if is_worth(seconds, in_front=self.window.isActiveWindow(), wanted=wanted):
            self._tray.tell_answered("", answer.text)


def open_store() -> Store:
    """The person's conversations; ends the process with status 1 and a box where they cannot be opened."""
    try:
        return Store()
    except StoreError as error:
        box = QMessageBox(QMessageBox.Icon.Critical, "SpecExec Desktop", error.message)
        box.setInformativeText(error.hint)
        box.exec()
        sys.exit(1)


def make_application() -> QApplication:
    """A QApplication; ends the process with status 1 and a remedy where no window can be shown here."""
    qInstallMessageHandler(_explain_fatal)
    app = QApplication(sys.argv[:1])
    qInstallMessageHandler(None)
    app.setApplicationName("SpecExec Desktop")
    app.setDesktopFileName("specexec-desktop")
    app.setQuitOnLastWindowClosed(False)  # a closed window waits for its engine
    app.setWindowIcon(QIcon(str(ICON)))
    theme.follow_system(app)
    return app


def _explain_fatal(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    """Qt's own way is to abort; on the thread that creates the application."""
    if kind == QtMsgType.QtFatalMsg:
        print(f"The window cannot be shown: {message.splitlines()[0]}\n{REMEDY}", file=sys.stderr)
        os._exit(1)


def keep_log() -> None:
    """What goes wrong in the window goes to a log beside the engine's and is said in a box."""
    path = log_path().with_name("window.log")
    path.parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(filename=path, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    sys.excepthook = _report


def _report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    logger.error("".join(traceback.format_exception(kind, error, trace)))
    if QApplication.activeModalWidget() is None:
        box = QMessageBox(QApplication.activeWindow())
        box.setText(QApplication.translate("startup", "Something went wrong in the window."))
        where = log_path().with_name("window.log")
        hint = QApplication.translate("startup", "You can go on. If it happens again, its log helps: {}")
        box.setInformativeText(hint.format(where))
        box.open()
