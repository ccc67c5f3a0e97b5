"""The window: what a person does goes to the chat, what the chat reports goes to the widgets."""

from collections.abc import Callable

from msgspec import structs
from PySide6.QtCore import QByteArray, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QMainWindow, QSplitter, QVBoxLayout, QWidget

from app import theme
from app.arguments import Arguments
from app.chat import Chat
from app.composer import Composer
from app.engine import BUSY, WILL_ANSWER, Engine, State
from app.engine_link import EngineLink
from app.header.expected_end import usual_tokens
from app.header.header import Header
from app.keyboard_page import KeyboardPage
from app.link_question import ask_to_open
from app.notice import Notice
from app.preferences import (
    Preferences,
    PreferencesError,
    PreferencesFile,
    RecentPair,
    WindowState,
    load_request,
)
from app.settings.dialog import SettingsDialog
from app.shortcuts import listen
from app.sidebar.search_palette import SearchPalette
from app.sidebar.sidebar import Sidebar
from app.store import Store
from app.thinking.calibration import Calibration
from app.thinking.panel import Panel
from app.thinking.tint import Tint
from app.transcript import COLUMN_WIDTH, Transcript
from app.waiting_list import WaitingList
from engine.errors import SpecExecError
from engine.protocol.messages import (
    Answer,
    EngineLost,
    Event,
    Failed,
    IterationDone,
    PassProgress,
    PrefillProgress,
    TreeGrown,
)

# An engine is given 5 s to end before it is made to; this is a little more.
CLOSE_TIMEOUT_MS = 6_000
SPLITTERS = ("sidebar", "chat", "panel")
SIZES = [250, 620, 560]


class Window(QMainWindow):
    """The person's chats, with one engine of its own.

    Attributes:
        engine, chat, header, sidebar, transcript, composer, waiting, panel: its parts.

    Signals:
        answered: Answer, wherever it is shown
        language_changed: the window is to be made anew
        closed: the window is gone and so is its engine (or the wait for it was given up).
    """

    answered = Signal(object)
    language_changed = Signal()
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
        self._store, self._preferences = store, preferences
        now = preferences.now
        link = link or EngineLink()
        link.setParent(self)
        target, context = arguments.target or now.new_chats.target, now.new_chats.context
        wanted = load_request(target, arguments.draft, context, now.loading)
        self.engine = Engine(link, structs.replace(wanted, drafter=arguments.drafter), self)
        options = now.new_chats.options
        if arguments.drafter != "auto":
            options = structs.replace(options, drafter=arguments.drafter)
        if arguments.budget is not None:
            options = structs.replace(options, budget=arguments.budget)
        self.chat = Chat(store, self.engine, structs.replace(now.new_chats, options=options), self)
        self.header = Header(self)
        self.header.show_recent(now.recent_pairs)
        self.sidebar = Sidebar(store, store.path, self)
        self.transcript = Transcript(self)
        self.waiting = WaitingList(self)
        self.composer = Composer(self)
        self.panel = Panel(self)
        self.tint = Tint(self)
        self.calibration = Calibration(self.engine, self)
        self.search = SearchPalette(store, self)
        self._close_timer = QTimer(self, singleShot=True)
        self._close_timer.timeout.connect(self.closed)
        self._build()
        self._connect_engine()
        self._connect_chat()
        self._connect_chat_list()
        self._connect_widgets()
        self._connect_header()
        self._listen()
        self._restore(now.window)

    def start(self) -> None:
        """Show the window and start the engine."""
        self.show()
        self.composer.setFocus()
        self.sidebar.refresh()
        for trouble in filter(None, (self._store.damage, self._preferences.trouble)):
            self._show_trouble(trouble)
        self.engine.start()

    # -- its parts -------------------------------------------------------------------------------------------

    def _build(self) -> None:
        middle = QWidget(self)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.transcript, 1)
        writing = QWidget(middle)
        around = QVBoxLayout(writing)
        around.setContentsMargins(20, 4, 20, 16)
        around.addWidget(self.waiting)
        around.addWidget(self.composer)
        writing.setMaximumWidth(COLUMN_WIDTH)
        column.addWidget(writing, 0, Qt.AlignmentFlag(0))
        middle.setMinimumWidth(380)
        self._splitter = QSplitter(self)
        self._splitter.setHandleWidth(3)
        self._splitter.setChildrenCollapsible(False)
        for place, part in enumerate((self.sidebar, middle, self.panel)):
            self._splitter.addWidget(part)
            self._splitter.setStretchFactor(place, min(place, 1))
        self._splitter.setSizes(SIZES)
        whole = QWidget(self)
        rows = QVBoxLayout(whole)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addWidget(self.header)
        rows.addWidget(self._splitter, 1)
        self.setCentralWidget(whole)

    def _restore(self, kept: WindowState) -> None:
        room = QGuiApplication.primaryScreen().availableSize()
        self.resize(min(1430, room.width()), min(860, room.height()))
        if kept.geometry:
            self.restoreGeometry(QByteArray(kept.geometry))
        if "parts" in kept.splitters:
            self._splitter.setSizes(kept.splitters["parts"])
        self.header.sidebar_switch.setChecked(kept.sidebar)
        self.sidebar.setVisible(kept.sidebar)
        self.header.panel_switch.setChecked(kept.panel)
        self._show_panel(kept.panel)

    def _connect_engine(self) -> None:
        engine, header = self.engine, self.header
        engine.state_changed.connect(self._show_state)
        engine.load_progressed.connect(header.status.show_load_progress)
        engine.loaded.connect(header.show_loaded)
        engine.loaded.connect(self.panel.show_loaded)
        engine.load_failed.connect(self._show_load_failure)
        engine.lost.connect(self._show_loss)
        engine.ended.connect(self._engine_ended)

    def _connect_chat(self) -> None:
        chat = self.chat
        chat.opened.connect(self._open)
        chat.path_changed.connect(self._show_path)
        chat.text_added.connect(self._add_text)
        chat.reported.connect(self._report)
        chat.answered.connect(self.answered)
        chat.failed.connect(self._show_failure)
        chat.trouble.connect(self._show_trouble)
        chat.waiting_changed.connect(lambda: self.waiting.show_waiting(list(chat.waiting)))

    def _connect_chat_list(self) -> None:
        sidebar, chat, search = self.sidebar, self.chat, self.search
        chat.listed.connect(self._list_chats)
        sidebar.chat_chosen.connect(chat.open)
        sidebar.new_chat.connect(self._new_chat)
        sidebar.search_asked.connect(search.open)
        sidebar.chat_deleted.connect(lambda gone: self._new_chat() if gone == chat.id else None)
        sidebar.trouble.connect(self._show_trouble)
        search.chat_chosen.connect(chat.open)
        search.hit_chosen.connect(self._show_hit)
        search.trouble.connect(self._show_trouble)

    def _connect_widgets(self) -> None:
        transcript, chat = self.transcript, self.chat
        self.composer.sent.connect(self._send)
        self.composer.stopped.connect(chat.stop)
        self.waiting.removed.connect(chat.forget_waiting)
        transcript.suggested.connect(self.composer.write)
        transcript.link_clicked.connect(lambda url: self._ask_to_open(url))
        transcript.edited.connect(chat.edit)
        transcript.regenerate_asked.connect(chat.regenerate)
        transcript.continue_asked.connect(chat.go_on)
        transcript.branch_asked.connect(chat.branch)
        transcript.version_asked.connect(chat.show_version)
        self.panel.calibration_asked.connect(lambda: self.panel.show_calibrating(self.calibration.start()))
        self.panel.colours_toggled.connect(self.tint.set_on)
        self.panel.text_asked.connect(self.tint.look_at)
        self.tint.position_asked.connect(self.panel.show_origin)
        self.calibration.finished.connect(lambda: self.panel.show_calibrating(False))

    def _connect_header(self) -> None:
        header = self.header
        header.new_chat.clicked.connect(self._new_chat)
        header.sidebar_switch.toggled.connect(self.sidebar.setVisible)
        header.panel_switch.toggled.connect(self._show_panel)
        header.load_asked.connect(self.load)
        header.unload_asked.connect(self.engine.unload)
        header.reload_asked.connect(self._reload)
        header.settings_asked.connect(self._open_settings)

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
                "keyboard": lambda: KeyboardPage(self).open(),
                "previous_chat": lambda: sidebar.view.step(-1),
                "next_chat": lambda: sidebar.view.step(1),
                "quit": self.close,
                "stop": self.chat.stop,
                "regenerate": self._regenerate,
                "copy_answer": transcript.copy_last_answer,
                "edit_last": transcript.edit_last_question,
                "previous_version": lambda: transcript.step_version(-1),
                "next_version": lambda: transcript.step_version(1),
                "write": self.composer.setFocus,
            },
        )

    # -- what a person does ----------------------------------------------------------------------------------

    def _send(self, text: str) -> None:
        if self.chat.send(text):
            self.composer.accept()

    def _new_chat(self) -> None:
        self.chat.open(None)
        self.composer.setFocus()

    def _regenerate(self) -> None:
        if self.engine.state is State.READY and not self.transcript.is_editing:
            self.chat.try_again()

    def _show_hit(self, chat: int, message: int) -> None:
        self.chat.open(chat, message)
        self.transcript.jump_to(message)

    def _show_panel(self, shown: bool) -> None:
        self.panel.setVisible(shown)
        self.chat.watch = shown

    def load(self, pair: RecentPair) -> None:
        """Load these models from now on; this chat goes on with them."""
        settings = structs.replace(self.chat.settings, target=pair.target, draft=pair.draft)
        self.chat.set_settings(settings)
        self._reload()
        self._keep(lambda: self._preferences.remember_pair(pair))
        self.header.show_recent(self._preferences.now.recent_pairs)

    def _reload(self) -> None:
        chat, loading = self.chat.settings, self._preferences.now.loading
        self.engine.load(load_request(chat.target, chat.draft, chat.context, loading))

    def _open_settings(self) -> None:
        drafters = self.engine.pair.drafters if self.engine.pair else ()
        dialog = SettingsDialog(self._preferences, self._store.presets, self.chat.settings, drafters, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chat_changed.connect(self.chat.set_settings)
        dialog.preferences_changed.connect(self._apply)
        dialog.reload_asked.connect(self._reload)
        self._language = self._preferences.now.language
        dialog.open()

    def _apply(self, preferences: Preferences) -> None:
        self.chat.new_settings = preferences.new_chats
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.choose(app, preferences.theme)
        self.composer.send_with(preferences.send_key)
        if preferences.language != self._language:
            self.language_changed.emit()

    def _keep(self, change: Callable[[], None]) -> None:
        try:
            change()
        except PreferencesError as error:
            self._show_trouble(error)

    def _ask_to_open(self, url: QUrl) -> None:
        ask_to_open(self, url)

    # -- what is reported ------------------------------------------------------------------------------------

    def _show_state(self, state: State) -> None:
        self.header.show_state(state)
        self.composer.allow(send=state in WILL_ANSWER, stop=state in BUSY)
        self.transcript.allow_changes(state is State.READY)
        if state in (State.STARTING, State.LOADING, State.ANSWERING):
            self.transcript.clear_notice()

    def _list_chats(self) -> None:
        self.sidebar.refresh()
        self.sidebar.show_chat(self.chat.id)
        self.sidebar.mark_answering(self.chat.answering.chat if self.chat.answering else None)

    def _open(self) -> None:
        self.tint.follow(None, self.panel.origins)
        self.transcript.open(self.chat.shown, self._answering())
        self.panel.begin()
        self._list_chats()

    def _show_path(self) -> None:
        before = self.transcript.answer
        self.transcript.show_path(self.chat.shown, self._answering())
        if self.transcript.answer and self.transcript.answer is not before:
            self.transcript.follow()
            self.panel.begin()
            self.tint.follow(self.transcript.answer, self.panel.origins)
            reports = [each.message.reports[-1] for each in self.chat.shown if each.message.reports]
            most = self.chat.settings.options.max_new_tokens
            self.header.status.expect(most, usual_tokens([report.tokens for report in reports]))

    def _answering(self) -> int | None:
        return self.chat.answering.message if self.chat.answering else None

    def _report(self, event: Event) -> None:
        status = self.header.status
        match event:
            case PrefillProgress():
                status.show_prefill(event)
                if self.transcript.answer:
                    self.transcript.answer.set_status(status.state.text())
            case TreeGrown() | IterationDone():
                status.show_iteration(event)
                self.panel.show_tree(event)
                self.tint.refresh()
            case PassProgress():
                status.show_pass(event)
                self.panel.show_pass(event)
            case Answer():
                self.panel.show_answer(event)
                self.tint.refresh()

    def _add_text(self, text: str) -> None:
        if self.transcript.answer:
            if not self.transcript.answer.text:
                self.header.status.show_answering()
            self.transcript.answer.append(text)

    def _show_failure(self, failed: Failed) -> None:
        self._notify(failed.message, failed.hint, self.tr("Try again"), self.chat.try_again)

    def _show_load_failure(self, failed: Failed) -> None:
        self._notify(failed.message, failed.hint, self.tr("Load again"), self.engine.load)

    def _show_loss(self, lost: EngineLost) -> None:
        hint = self.tr("{} Its log: {}").format(lost.hint, lost.log_path)
        self._notify(lost.message, hint, self.tr("Restart engine"), self.engine.start)

    def _show_trouble(self, error: SpecExecError) -> None:
        self._notify(error.message, error.hint, self.tr("Close"), self.transcript.clear_notice)

    def _notify(self, message: str, hint: str, remedy: str, do: Callable[[], object]) -> None:
        notice = Notice(message, hint, remedy, self)
        notice.pressed.connect(lambda: do())
        self.transcript.show_notice(notice)

    # -- the end ---------------------------------------------------------------------------------------------

    def closeEvent(self, event: QCloseEvent) -> None:
        """Hide at once; the window is gone when its engine is."""
        if self._close_timer.isActive():
            event.accept()
            return
        self._remember()
        self.sidebar.close_down()
        if not self.engine.is_running:
            event.accept()
            self.closed.emit()
            return
        event.ignore()
        self.hide()
        self._close_timer.start(CLOSE_TIMEOUT_MS)
        self.engine.close()

    def _remember(self) -> None:
        kept = WindowState(
            geometry=bytes(self.saveGeometry().data()),
            splitters={"parts": self._splitter.sizes()},
            sidebar=self.header.sidebar_switch.isChecked(),
            panel=self.header.panel_switch.isChecked(),
        )
        self._keep(lambda: self._preferences.change(window=kept))

    def _engine_ended(self) -> None:
        if self._close_timer.isActive():
            self._close_timer.stop()
            self.closed.emit()
