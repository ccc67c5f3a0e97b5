"""The main window: passes the user's actions to the chat and the engine."""

from collections.abc import Callable

from msgspec import structs
from PySide6.QtCore import QByteArray, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QApplication, QMainWindow

from app.connection.conversation import Conversation
from app.connection.engine import Engine, State
from app.connection.engine_link import EngineLink
from app.conversation.composer import has_files_or_picture
from app.conversation.link_question import ask_to_open
from app.header import local_models
from app.panel.calibration import Calibration
from app.preferences import Preferences, PreferencesError, PreferencesFile, RecentPair, load_request
from app.settings.dialog import SettingsDialog
from app.sidebar.search_palette import SearchPalette
from app.store import ChatSettings, Store
from app.widgets import motion, theme
from app.widgets.shortcuts import is_typed, listen
from app.window.arguments import Arguments
from app.window.context_meter import ContextMeter
from app.window.keyboard_page import KeyboardPage
from app.window.panes import Panes
from app.window.reports import Reports
from app.window.unsent_keeper import UnsentKeeper

# Longest wait for the engine when the window is closed: a little more than the 5 s after which an engine that
# does not end is killed.
CLOSE_TIMEOUT_MS = 6_000
SIZE = (1430, 860)  # default size in pixels


class Window(QMainWindow):
    """The main window with an engine of its own.

    Attributes:
        engine, chat: the engine and the shown chat, whose state the widgets show.
        header, sidebar, transcript, waiting, composer, panel: the widgets of `Panes`.
        search: the search palette above the panes.
        calibration: measures the speed of plain decoding for the panel.

    Signals:
        answered: Answer; an answer in any chat is complete
        language_changed: the user chose another language, so the window must be created again
        models_moved: the user chose another models folder
        closed: the window is closed, and its engine has ended or did not end in time.
    """

    answered = Signal(object)
    language_changed = Signal()
    models_moved = Signal()
    closed = Signal()

    def __init__(
        self,
        arguments: Arguments,
        store: Store,
        preferences: PreferencesFile,
        link: EngineLink | None = None,
    ) -> None:
        super().__init__()
        self.setWindowTitle("SpecExec Desktop")
        self.setAcceptDrops(True)
        self._store, self._preferences = store, preferences
        now = preferences.now
        link = link or EngineLink()
        link.setParent(self)
        first = _first_pair(arguments, now)
        wanted = load_request(first.target, first.draft, now.new_chats.context, now.loading)
        self.engine = Engine(link, structs.replace(wanted, drafter=arguments.drafter), self)
        options = now.new_chats.options
        if arguments.drafter != "auto":
            options = structs.replace(options, drafter=arguments.drafter)
        if arguments.budget is not None:
            options = structs.replace(options, budget=arguments.budget)
        self.chat = Conversation(store, self.engine, structs.replace(now.new_chats, options=options), self)
        self._panes = panes = Panes(store, self)
        self.setCentralWidget(panes)
        self.header, self.sidebar, self.panel = panes.header, panes.sidebar, panes.panel
        self.transcript, self.waiting, self.composer = panes.transcript, panes.waiting, panes.composer
        self._reports = Reports(self.engine, self.chat, panes)
        self.calibration = Calibration(self.engine, self)
        self._unsent = UnsentKeeper(self.composer, self.chat, store, self)
        self._meter = ContextMeter(panes, self.chat, self.engine)
        self._unsent.failed.connect(self._reports.show_error)
        self.search = SearchPalette(store, self)
        self._asked: RecentPair | None = None  # what the user asked to load and is not loaded yet
        self._close_timer = QTimer(self, singleShot=True)
        self._close_timer.timeout.connect(self.closed)
        self._connect_chat()
        self._connect_chat_list()
        self._connect_engine()
        self._listen()
        self._restore()
        self._follow(now)

    def start(self) -> None:
        """Show the window and start the engine."""
        self.show()
        self.composer.setFocus()
        self.sidebar.refresh()
        for error in filter(None, (self._store.damage, self._preferences.error)):
            self._reports.show_error(error)
        self.engine.start()

    # -- connections -----------------------------------------------------------------------------------------

    def _connect_chat(self) -> None:
        transcript, chat = self.transcript, self.chat
        chat.answered.connect(self.answered)
        self.composer.sent.connect(self._send)
        self.composer.stopped.connect(chat.stop)
        self.waiting.removed.connect(chat.remove_waiting)
        transcript.suggested.connect(self.composer.write)
        transcript.link_clicked.connect(self._ask_to_open)
        again = (transcript.regenerate_asked, transcript.again_asked, transcript.continue_asked)
        for asked in (transcript.edited, *again):
            asked.connect(lambda *_: self.composer.setFocus())  # the button with the focus disappears
        transcript.edited.connect(chat.edit)
        transcript.regenerate_asked.connect(chat.regenerate)
        transcript.again_asked.connect(lambda message: chat.regenerate(message, same_seed=True))
        transcript.continue_asked.connect(chat.continue_answer)
        transcript.branch_asked.connect(self._branch)
        transcript.version_asked.connect(chat.show_version)

    def _connect_chat_list(self) -> None:
        sidebar, chat, search = self.sidebar, self.chat, self.search
        sidebar.chat_chosen.connect(self._open_chat)
        sidebar.new_chat.connect(self._new_chat)
        sidebar.search_asked.connect(search.open)
        sidebar.keys_asked.connect(self._show_keys)
        sidebar.chat_deleted.connect(self._leave_deleted)
        sidebar.failed.connect(self._reports.show_error)
        search.chat_chosen.connect(self._open_chat)
        for changed in (chat.opened, chat.listed, sidebar.view.chats.changed):
            changed.connect(self._show_title)
        search.hit_chosen.connect(self._show_hit)
        search.failed.connect(self._reports.show_error)

    def _connect_engine(self) -> None:
        header, panel = self.header, self.panel
        self.engine.ended.connect(self._engine_ended)
        self.engine.loaded.connect(self._remember_pair)
        header.new_chat.clicked.connect(self._new_chat)
        header.load_asked.connect(self.load)
        header.unload_asked.connect(self.engine.unload)
        header.reload_asked.connect(lambda: self._load(self._loaded_pair()))
        self._panes.used_here.load_asked.connect(self.load)
        for changed in (self.engine.state_changed, self.chat.opened, self.chat.settings_changed):
            changed.connect(self._offer_used_models)
        header.settings_asked.connect(self._open_settings)
        header.panel_switch.toggled.connect(self._set_telemetry)
        panel.calibration_asked.connect(lambda: panel.show_calibrating(self.calibration.start()))
        self.calibration.finished.connect(lambda: panel.show_calibrating(False))

    def _listen(self) -> None:
        header, transcript, sidebar = self.header, self.transcript, self.sidebar
        self._keys = listen(
            self,
            {
                "new_chat": self._new_chat,
                "search": self.search.open,
                "sidebar": header.sidebar_switch.toggle,
                "panel": header.panel_switch.toggle,
                "model": header.open_picker,
                "settings": self._open_settings,
                "keyboard": self._show_keys,
                "chats": self._go_to_chats,
                "previous_chat": lambda: sidebar.view.step(-1),
                "next_chat": lambda: sidebar.view.step(1),
                "quit": self.close,
                "stop": self._stop,
                "regenerate": self._regenerate,
                "copy_answer": transcript.copy_last_answer,
                "edit_last": transcript.edit_last_question,
                "previous_version": lambda: transcript.step_version(-1),
                "next_version": lambda: transcript.step_version(1),
                "write": self.composer.setFocus,
            },
        )

    # -- the user's actions ----------------------------------------------------------------------------------

    def _send(self, text: str) -> None:
        if self.chat.send(text):
            self.composer.accept()
            self._unsent.forget()

    def _stop(self) -> None:
        """Stop what goes on here; an answer in another chat goes on."""
        if self.composer.can_stop:
            self.chat.stop()

    def _new_chat(self) -> None:
        self.chat.open(None)
        self.composer.setFocus()

    def _show_title(self) -> None:
        self.setWindowTitle(" – ".join(filter(None, (self.chat.title, "SpecExec Desktop"))))

    def _open_chat(self, chat: int) -> None:
        if chat != self.chat.id:
            self.chat.open(chat)
        self.composer.setFocus()

    def _branch(self, message: int) -> None:
        self.chat.branch(message)
        self.composer.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Write what is typed into the composer, wherever the focus is: the key has reached the window
        because no other widget uses it."""
        if is_typed(event):
            self.composer.take(event)
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take files anywhere in the window."""
        if has_files_or_picture(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.composer.bring(event.mimeData())
        self.composer.setFocus()
        event.acceptProposedAction()

    def _leave_deleted(self, deleted: int) -> None:
        """Open a new chat if the shown one was deleted. The focus stays in the chat list, where Ctrl+Z undoes
        the deletion."""
        if deleted == self.chat.id:
            self.chat.open(None)

    def _regenerate(self) -> None:
        if self.engine.state is State.READY and not self.transcript.is_editing:
            self.chat.try_again()

    def _go_to_chats(self) -> None:
        self.header.sidebar_switch.setChecked(True)
        self.sidebar.setFocus()

    def _show_hit(self, chat: int, message: int, query: str) -> None:
        self.chat.open(chat, message)
        self.transcript.jump_to(message, query)

    def _show_keys(self) -> None:
        page = KeyboardPage(self)
        page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        page.open()

    def _set_telemetry(self, telemetry: bool) -> None:
        self.chat.telemetry = telemetry

    def _ask_to_open(self, url: QUrl) -> None:
        ask_to_open(self, url)

    # -- models and settings ---------------------------------------------------------------------------------

    def load(self, pair: RecentPair) -> None:
        """Load these models. They answer in every chat from now on, and at the next start."""
        self._asked = pair
        self._load(pair)

    def _remember_pair(self) -> None:
        """Remember the pair that is loaded if the user asked for it."""
        if self._asked == self._loaded_pair():
            asked, self._asked = self._asked, None
            self._keep(lambda: self._preferences.remember_pair(asked))
            self.header.show_recent(self._preferences.now.recent_pairs)

    def _load(self, pair: RecentPair) -> None:
        context, loading = self.chat.settings.context, self._preferences.now.loading
        self.engine.load(load_request(pair.target, pair.draft, context, loading))

    def _loaded_pair(self) -> RecentPair:
        """The pair that is loaded or being loaded."""
        return RecentPair(self.engine.wanted.target, self.engine.wanted.draft)

    def _offer_used_models(self) -> None:
        """Offer to load the models that gave this chat's answers, if others are loaded."""
        used = RecentPair(self.chat.settings.target, self.chat.settings.draft)
        differs = bool(self.chat.shown) and used.target != self.engine.wanted.target
        self._panes.used_here.offer(used if differs and local_models.is_here(used.target) else None)

    def _open_settings(self) -> None:
        drafters = self.engine.pair.drafters if self.engine.pair else ()
        loaded = self._loaded_pair()
        shown = structs.replace(self.chat.settings, target=loaded.target, draft=loaded.draft)
        dialog = SettingsDialog(self._preferences, self._store.presets, shown, drafters, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chat_changed.connect(self._set_chat)
        dialog.preferences_changed.connect(self._apply)
        dialog.reload_asked.connect(lambda: self.load(dialog.pair))
        dialog.models_moved.connect(self.models_moved)
        language = self._preferences.now.language
        dialog.finished.connect(lambda: self._announce_language(language))
        dialog.open()

    def _set_chat(self, settings: ChatSettings) -> None:
        """Change the shown chat's settings. Its models are those that gave its answers: they change with the
        next answer."""
        kept = self.chat.settings
        self.chat.set_settings(structs.replace(settings, target=kept.target, draft=kept.draft))

    def _apply(self, preferences: Preferences) -> None:
        """Apply preferences that the user has just changed."""
        self.chat.new_settings = preferences.new_chats
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.choose(app, preferences.theme)
        self._follow(preferences)

    def _announce_language(self, before: str) -> None:
        """Emit `language_changed` if the user chose another language than `before`.

        Called only once the settings are closed, because arrow keys pass through the languages in between.
        """
        if self._preferences.now.language != before:
            self.language_changed.emit()

    def _follow(self, preferences: Preferences) -> None:
        """Apply the key that sends and the reduced motion, both when the window is created and when the
        preferences change."""
        self.composer.send_with(preferences.send_key)
        motion.reduce(preferences.reduced_motion)

    def _keep(self, change: Callable[[], None]) -> None:
        try:
            change()
        except PreferencesError as error:
            self._reports.show_error(error)

    # -- geometry and closing --------------------------------------------------------------------------------

    def _restore(self) -> None:
        now = self._preferences.now
        screen = QGuiApplication.primaryScreen().availableSize()
        self.resize(min(SIZE[0], screen.width()), min(SIZE[1], screen.height()))
        if now.window.geometry:
            self.restoreGeometry(QByteArray(now.window.geometry))
        self._panes.restore(now.window)
        self._panes.fit(self.width())  # before the window is shown: a panel beside the chat would widen it
        self._set_telemetry(now.window.panel)
        self.header.show_recent(now.recent_pairs)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Hide the window and ask its engine to end; `closed` follows when the engine has ended or the wait
        is over."""
        if self._close_timer.isActive():
            event.accept()
            return
        kept = self._panes.state(bytes(self.saveGeometry().data()))
        self._keep(lambda: self._preferences.change(window=kept))
        self._unsent.keep()
        self.sidebar.close_down()
        if not self.engine.is_running:
            event.accept()
            self.closed.emit()
            return
        event.ignore()
        self.hide()
        self._close_timer.start(CLOSE_TIMEOUT_MS)
        self.engine.close()

    def _engine_ended(self) -> None:
        if self._close_timer.isActive():
            self._close_timer.stop()
            self.closed.emit()


def _first_pair(arguments: Arguments, now: Preferences) -> RecentPair:
    """Return the pair to load at the start: what the command line names of it, else the last one loaded, else
    the one for new chats."""
    pair = RecentPair(now.new_chats.target)
    if now.recent_pairs and local_models.is_here(now.recent_pairs[0].target):
        pair = now.recent_pairs[0]
    if arguments.target or arguments.draft != "auto":
        pair = RecentPair(arguments.target or pair.target, arguments.draft)
    return pair
