"""Starts the application: creates the window from the parsed command line and reports errors to the user."""

import logging
import os
import signal
import sys
import threading
import traceback
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

from msgspec import structs
from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QMessageBox

from app.connection.engine import State
from app.connection.pending_answer import Answering
from app.downloads.downloads import Downloads
from app.downloads.indicator import DownloadIndicator
from app.header.model_removal import Removal
from app.header.server_sign import ServerSign
from app.header.update_box import UpdateBox
from app.preferences import PreferencesFile, RecentPair, preferences_path
from app.runtime_setup.setup_job import EngineSetup
from app.sidebar import chat_import
from app.sidebar.chat_import import Importing, Outcome
from app.startup import languages
from app.startup.card_offer import CardNotice, CardOffer
from app.startup.collector import Collector
from app.startup.failure import attempt, shown_failure
from app.startup.single_instance import SingleInstance
from app.startup.update_notice import UpdateNotice
from app.startup.updates import Updates, start_new_version
from app.store import Store, StoreError
from app.store.store import default_path
from app.widgets import theme
from app.widgets.plain_text import PlainMessageBox
from app.window.arguments import Arguments
from app.window.core import Core
from app.window.tray import Tray, is_worth
from app.window.window import Window
from app.wizard.wizard import Wizard
from engine import runtime
from engine.assets import RESOURCES
from engine.errors import SpecExecError
from engine.files import make_private_folder, open_private
from engine.protocol.engine_process import log_path
from engine.protocol.messages import Answer
from engine.updates import this_installation, this_package

ICON = RESOURCES / "icons" / "specexec.svg"

REMEDY = (
    "On Debian and Ubuntu: sudo apt install libxcb-cursor0 libxkbcommon-x11-0 libxcb-icccm4 libxcb-keysyms1 "
    "libegl1 libgl1. Without a display, use `specexec chat` in the terminal."
)

logger = logging.getLogger(__name__)


def run(arguments: Arguments) -> int:
    """Open the window and run until it is closed. Return the exit status."""
    for ending in (signal.SIGINT, signal.SIGTERM):  # the program ends at once; the engine follows by itself
        signal.signal(ending, signal.SIG_DFL)
    keep_log()
    if (status := start_new_version(sys.argv[1:], wanted=_wants_new_version)) is not None:
        return status
    app = make_application()
    with shown_failure(_tr("The program cannot start."), log_path().parent):
        instance = SingleInstance()
        if not instance.is_first and instance.raise_first(arguments.file):
            return 0
    with TemporaryDirectory(prefix="specexec-", ignore_cleanup_errors=True) as scratch:
        preferences = open_preferences(Path(scratch))
        store = open_store(Path(scratch))
        with shown_failure(_tr("The window cannot be opened."), log_path().parent):
            theme.choose(app, preferences.now.theme)
            program = Program(app, arguments, preferences, store)
            instance.raise_asked.connect(program.show_window)
            instance.file_asked.connect(program.open_file)
            program.open_window()
            if arguments.file is not None:
                program.open_file(arguments.file)
        if runtime.uses_runtimes():
            # Removing an old runtime takes up to 20 s, so a thread does it.
            threading.Thread(target=runtime.tidy, name="tidy", daemon=True).start()
        threading.Thread(target=_keep_store, args=(store,), name="store", daemon=True).start()
        status = app.exec()
        instance.close()
        program.close_down()
        program.setup.close()
        program.offers.close()
        program.updates.close()
        close_store(store)
    if program.window.engine.is_running:  # the engine ends once this process has ended
        logger.warning("the engine did not end in time")
        logging.shutdown()
        os._exit(status)
    return status


def _wants_new_version() -> bool:
    """Return whether a new version that was downloaded is to be opened: the user wants updates, and no window
    is open already."""
    try:
        return PreferencesFile(preferences_path()).now.updates and not SingleInstance.is_there()
    except (SpecExecError, OSError):
        return False


def close_store(store: Store) -> None:
    """Close the store. The window has told already that the last text cannot be saved, if it cannot."""
    try:
        store.close()
    except StoreError as error:
        logger.warning("the last text could not be saved: %s", error.message)


def _keep_store(store: Store) -> None:
    """Remove deleted chats for good, and back the others up. Runs on a thread of its own."""
    store.chats.purge()
    store.files.sweep()
    store.back_up()


class Program:
    """The running program: creates the windows, and creates them anew when the user chooses another language.

    The first window holds the tray icon and the wizard. While others are open, it is only hidden when it is
    closed.

    Attributes:
        window, wizard: the first window and the wizard; replaced when the user chooses another language.
        setup, offers, updates: the set-up of a runtime, its offer for a graphics card, and the check for a
            newer release; never replaced.
    """

    window: Window
    wizard: Wizard

    def __init__(
        self, app: QApplication, arguments: Arguments, preferences: PreferencesFile, store: Store
    ) -> None:
        self._app, self._arguments = app, arguments
        self._preferences, self._store = preferences, store
        self._reopens = False  # whether the windows close only to reopen in another language
        self._to_reopen: list[int | None] = []  # the chats of the windows beside the first
        self._serves = preferences.now.server.starts_with_window  # whether windows open with the local server
        self.setup = EngineSetup(preferences, app)
        self.setup.testing.connect(self._free_memory)
        self.setup.ended.connect(self._switch_runtime)
        self.offers = CardOffer(self.setup, app)
        self.offers.look()
        self._awaits_switch = False  # whether another runtime is to be used once the engine is idle
        self.updates = Updates(
            lambda: preferences.now.updates, this_package(), this_installation(), parent=app
        )
        self.updates.start()

    def open_window(self) -> None:
        """Create the first window and start its engine."""
        languages.install(self._app, self._preferences.now.language)
        core = Core(self._arguments, self._store, self._preferences)
        self.window = Window(core)
        self._others: list[Window] = []
        if self._serves:
            core.server.start()
        self._tray = Tray(self._app.windowIcon(), self.window)
        self._tray.raise_asked.connect(self.show_window)
        self._tray.quit_asked.connect(self.window.close_all)
        core.queue.finished.connect(self._notify_answered)
        core.engine.state_changed.connect(self._switch_if_idle)
        self._downloads = Downloads(parent=self.window)
        self.wizard = Wizard(self._downloads, self.setup, self._preferences, self.window)
        self.wizard.load_asked.connect(
            lambda target, draft: self.front.load(RecentPair(target=target, draft=draft))
        )
        self.wizard.engines_asked.connect(lambda: self.front.header.engines_asked.emit())
        core.preferences_changed.connect(self.wizard.follow_settings)
        self._wire(self.window)
        self.window.start()
        self._downloads.look_around()

    def open_another(self, chat: int | None) -> None:
        """Show a chat in a window of its own; bring that window up if there is one. None is a new chat."""
        core = self.window.core
        shown = next((window for window in core.windows if chat is not None and window.chat.id == chat), None)
        if shown is not None:
            shown.bring_up()
            return
        window = Window(core, is_first=False)
        self._others.append(window)
        self._wire(window)
        window.left.connect(lambda: self._forget(window))
        window.start()
        if chat is not None:
            window.chat.open(chat)

    def _wire(self, window: Window) -> None:
        sign = ServerSign(window.core.server, window)
        window.header.place(sign)
        sign.clicked.connect(lambda: window.settings.open("server_page"))
        window.window_asked.connect(self.open_another)
        window.language_changed.connect(self._reopen)
        window.closed.connect(self._closed)
        window.models_moved.connect(self._downloads.follow_models)
        window.header.wizard_asked.connect(self.wizard.begin)
        window.setup_asked.connect(self.wizard.begin_setup)
        offered = CardNotice(self.offers, window)
        offered.clicked.connect(self.wizard.begin_setup)
        window.header.place(offered)
        window.header.place(UpdateNotice(self.updates, window))
        indicator = DownloadIndicator(self._downloads, window)
        window.header.place(indicator)
        indicator.clicked.connect(self.wizard.show_downloads)
        removal = Removal(window)
        removal.failed.connect(window.sidebar.failed)
        removal.removed.connect(self._downloads.look_around)
        picker = window.header.picker
        picker.delete_asked.connect(lambda model: removal.ask(model, window.engine.pair))
        picker.update_asked.connect(lambda model: UpdateBox(model, self._downloads, window).look())

    def _forget(self, window: Window) -> None:
        if window in self._others:
            self._others.remove(window)
            window.deleteLater()

    @property
    def front(self) -> Window:
        """The window that the user used last."""
        windows = self.window.core.windows
        return windows[-1] if windows else self.window

    def close_down(self) -> None:
        """Stop the downloads; the user can resume them after the next start."""
        self.wizard.shut_down()
        self._downloads.close()

    def show_window(self) -> None:
        """Bring the window used last to the front."""
        self.front.bring_up()

    def open_file(self, path: Path) -> None:
        """Import the chats in a file and show the first one."""
        importing = Importing(path, self._store.path, self._app)
        importing.ended.connect(self._show_imported)

    def _show_imported(self, outcome: Outcome) -> None:
        window = self.front
        window.sidebar.refresh()
        if outcome.error is not None:
            window.sidebar.failed.emit(outcome.error)
        if outcome.skipped:
            chat_import.list_skipped(window, outcome)
        if outcome.chats:
            window.chat.open(outcome.chats[0])

    # -- the engine's packages -------------------------------------------------------------------------------

    def _free_memory(self) -> None:
        """Unload the model until the next question, because the set-up now loads its own to test the runtime.
        An answer in progress goes on."""
        self.window.engine.rest()

    def _switch_runtime(self, is_another: bool) -> None:
        """Let the engine restart in a new runtime."""
        self._awaits_switch = self._awaits_switch or is_another
        self._switch_if_idle()

    def _switch_if_idle(self) -> None:
        """Restart the engine in a new runtime, unless it is answering: then when the answer is complete."""
        engine = self.window.engine
        if self._awaits_switch and engine.state not in (State.ANSWERING, State.STOPPING):
            self._awaits_switch = False
            engine.end()
            engine.start()

    # -- the end of a window ---------------------------------------------------------------------------------

    def _reopen(self) -> None:
        windows = self.window.core.windows
        self._to_reopen = [window.chat.id for window in windows if window is not self.window]
        self._reopens, self._serves = True, self.window.core.server.is_on
        self.window.close_all()

    def _closed(self) -> None:
        if not self._reopens:
            self._app.quit()
            return
        self._reopens = False
        self.close_down()
        old, chat, loaded = [self.window, *self._others], self.window.chat.id, self.window.engine.wanted
        self._arguments = replace(
            self._arguments, target=loaded.target, draft=loaded.draft, engine=loaded.engine
        )
        self.open_window()
        self.window.chat.open(chat)
        for other in self._to_reopen:
            self.open_another(other)
        for window in old:
            window.deleteLater()
        old[0].core.deleteLater()

    def _notify_answered(self, done: Answering, answer: Answer) -> None:
        seconds = (answer.time_to_first_token_s or 0) + sum(structs.astuple(answer.seconds))
        wanted = self._preferences.now.notifications
        in_front = any(window.isActiveWindow() for window in self.window.core.windows)
        if is_worth(seconds, in_front=in_front, wanted=wanted):
            self._tray.tell_answered("", answer.text)


def open_store(scratch: Path) -> Store:
    """Open the user's conversations. If that fails, ask how to go on: without them, in an empty store in
    `scratch`, or not at all."""
    sentence = _tr("The chats cannot be opened.")
    return attempt(
        Store,
        sentence,
        default_path().parent,
        _tr("Start without the chats"),
        lambda: Store(scratch / "conversations.sqlite"),
    )


def open_preferences(scratch: Path) -> PreferencesFile:
    """Open the settings. If that fails, ask how to go on: with the defaults, in a file in `scratch`, or not
    at all."""
    sentence = _tr("The settings cannot be opened.")
    return attempt(
        PreferencesFile,
        sentence,
        preferences_path().parent,
        _tr("Start with the default settings"),
        lambda: PreferencesFile(scratch / "settings.toml"),
    )


def _tr(text: str) -> str:
    return QApplication.translate("startup", text)


def make_application() -> QApplication:
    """Create the QApplication; if no window can be shown, print a remedy and exit with status 1."""
    qInstallMessageHandler(_explain_fatal)
    app = QApplication(sys.argv[:1])
    qInstallMessageHandler(None)
    app.setApplicationName("SpecExec Desktop")
    app.setDesktopFileName(os.environ.get("FLATPAK_ID", "specexec-desktop"))  # Flatpak renames the entry
    app.setQuitOnLastWindowClosed(False)  # the program still waits for the engine to end
    app.setWindowIcon(QIcon(str(ICON)))
    languages.install(app, "system")  # until the settings are read
    theme.follow_system(app)
    Collector(app)
    return app


def _explain_fatal(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    """Print a remedy for a fatal Qt message and end the process, before Qt aborts it.

    Qt calls this function on the thread that creates the application.
    """
    if kind == QtMsgType.QtFatalMsg:
        print(f"The window cannot be shown: {message.splitlines()[0]}\n{REMEDY}", file=sys.stderr)
        os._exit(1)


def keep_log() -> None:
    """Write unhandled errors in the window to a log file beside the engine's log, and show the user a message
    box. If the file cannot be written, they go to standard error."""
    path = log_path().with_name("window.log")
    style = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    try:
        make_private_folder(path.parent)
        open_private(path, is_appended=True).close()
        logging.basicConfig(filename=path, format=style)
    except OSError as error:
        logging.basicConfig(format=style)
        logger.warning("%s cannot be written: %s", path, error.strerror)
    sys.excepthook = _report


def _report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    logger.error("".join(traceback.format_exception(kind, error, trace)))
    if QApplication.activeModalWidget() is None:
        text = QApplication.translate("startup", "Something went wrong in the window.")
        box = PlainMessageBox(QMessageBox.Icon.NoIcon, "SpecExec Desktop", text, QApplication.activeWindow())
        where = log_path().with_name("window.log")
        hint = QApplication.translate("startup", "You can continue. If it happens again, see the log: {}")
        box.setInformativeText(hint.format(where))
        box.open()
