"""A window: passes the user's actions to the chat and the engine."""

from collections.abc import Sequence

from PySide6.QtCore import QByteArray, QEvent, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QMainWindow

from app import formatting
from app.connection.conversation import Conversation
from app.connection.engine import State
from app.connection.pending_answer import request_options
from app.conversation.composer import PAGE_KEYS, has_files_or_picture
from app.conversation.link_question import ask_to_open
from app.header import model_choice
from app.preferences import Preferences, PreferencesError, RecentPair
from app.race.race_dialog import RaceDialog
from app.sidebar.search_palette import SearchPalette
from app.store import AttachedFile, DeletedMessages, StoreError
from app.store.prompts import SavedPrompt
from app.widgets.shortcuts import is_typed, listen
from app.widgets.window_size import resize_on_screen
from app.window.appearance import Appearance
from app.window.attachments import Attachments
from app.window.better_model import BetterModel
from app.window.chat_instructions import ChatInstructions
from app.window.chat_thought import ChatThought
from app.window.chat_tools import ChatTools
from app.window.context_meter import ContextMeter
from app.window.core import Core
from app.window.keyboard_page import KeyboardPage
from app.window.panes import Panes
from app.window.remedies import races_are_here
from app.window.reports import Reports
from app.window.settings_door import SettingsDoor
from app.window.unsent_keeper import UnsentKeeper
from app.window.whereabouts import Whereabouts

# Longest wait for the engine when the window is closed: a little more than the 5 s after which an engine that
# does not end is killed.
CLOSE_TIMEOUT_MS = 6_000
SIZE = (1430, 860)  # default size of the first window in pixels
OTHER_SIZE = (820, 800)  # and of the others, which begin with the chat alone
BESIDE = (32, 32)  # pixels between windows that would lie on each other


class Window(QMainWindow):
    """A window with one chat. All windows share the engine; with the last one, it ends.

    Attributes:
        core: what the windows share.
        settings: opens the settings dialog.
        engine, chat: the engine and the shown chat, whose state the widgets show.
        header, sidebar, transcript, waiting, composer, panel: the widgets of `Panes`.
        search: the search palette above the panes.

    Signals:
        window_asked: int or None, the chat to show in another window; None is a new one
        language_changed: the user chose another language, so the windows must be created again
        models_moved: the user chose another models folder
        setup_asked: the user wants to set up a runtime
        settings_closed: the settings dialog was closed
        left: the window is closed while others stay open
        closed: the last window is closed, and the engine has ended or did not end in time.
    """

    window_asked = Signal(object)
    language_changed = Signal()
    models_moved = Signal()
    setup_asked = Signal()
    settings_closed = Signal()
    left = Signal()
    closed = Signal()

    def __init__(self, core: Core, *, is_first: bool = True) -> None:
        """is_first: whether this is the program's first window, which has the larger layout."""
        super().__init__()
        self.setWindowTitle("SpecExec Desktop")
        self.setAcceptDrops(True)
        self.core, self._is_first = core, is_first
        self._store, self._preferences = core.store, core.preferences
        self.engine = core.engine
        self.chat = Conversation(core.store, self.engine, core.queue, core.new_chats, self)
        self._panes = panes = Panes(core.store, self)
        self.setCentralWidget(panes)
        self.header, self.sidebar, self.panel = panes.header, panes.sidebar, panes.panel
        self.transcript, self.waiting, self.composer = panes.transcript, panes.waiting, panes.composer
        self._reports = Reports(self.engine, self.chat, panes, core.kept_plans)
        self.composer.changed.connect(core.idle.restart)
        self.composer.read_prompts = self._prompts
        self._unsent = UnsentKeeper(self.composer, self.chat, core.unsent, self, keeps_new=is_first)
        self._attachments = Attachments(panes, self.chat, core.store, self._unsent)
        self._appearance = Appearance(panes, core)
        self._meter = ContextMeter(panes, self.chat, self.engine)
        self._instructions = ChatInstructions(panes, self.chat, core.store.presets)
        self._tools = ChatTools(panes, self.chat, core)
        self._thought = ChatThought(panes, self.chat, self.engine)
        self._better = BetterModel(panes, self.engine, self._preferences, self.load)
        self.settings = SettingsDoor(self)
        self._whereabouts = Whereabouts(self)
        for part in (self._attachments, self._instructions):
            part.failed.connect(self._reports.show_error)
        self.search = SearchPalette(core.store, self)
        self._reports.remedies.local_asked.connect(lambda: self.load(core.preferences.now.last_local))
        self._reports.remedies.engine_asked.connect(self.settings.open_engines)
        self._reports.remedies.setup_asked.connect(self.setup_asked)
        self._close_timer = QTimer(self, singleShot=True)
        self._close_timer.timeout.connect(self.closed)
        self.settings_closed.connect(self._instructions.refresh)
        self._connect_chat()
        self._connect_chat_list()
        self._connect_engine()
        self._listen()
        self._restore()

    def start(self) -> None:
        """Show the window, and start the engine with the first one."""
        is_alone = not self.core.windows
        self.show()
        self.composer.setFocus()
        self.sidebar.refresh()
        if not is_alone:
            self._reports.catch_up()
            self._offer_used_models()
            return
        for error in filter(None, (self._store.damage, self._preferences.error)):
            self._reports.show_error(error)
        self.engine.start()

    # -- connections -----------------------------------------------------------------------------------------

    def _connect_chat(self) -> None:
        transcript, chat = self.transcript, self.chat
        self.composer.sent.connect(self._send)
        self.composer.stopped.connect(chat.stop)
        self.waiting.removed.connect(chat.remove_waiting)
        self.waiting.removed.connect(self.composer.setFocus)  # the button with the focus disappears
        transcript.suggested.connect(self.composer.write)
        transcript.link_clicked.connect(lambda url: ask_to_open(self, url))
        again = (transcript.regenerate_asked, transcript.again_asked, transcript.continue_asked)
        for asked in (transcript.edited, *again):
            asked.connect(lambda *_: self.composer.setFocus())  # the button with the focus disappears
        transcript.answer_asked.connect(chat.end_thought)
        transcript.answer_asked.connect(self.composer.setFocus)
        transcript.edited.connect(chat.edit)
        transcript.regenerate_asked.connect(chat.regenerate)
        transcript.again_asked.connect(lambda message: chat.regenerate(message, same_seed=True))
        transcript.continue_asked.connect(chat.continue_answer)
        transcript.branch_asked.connect(self._branch)
        transcript.delete_asked.connect(chat.delete)
        transcript.race_asked.connect(self.open_race)
        transcript.version_asked.connect(chat.show_version)
        chat.deleted.connect(self._offer_undo)

    def _connect_chat_list(self) -> None:
        sidebar, chat, search = self.sidebar, self.chat, self.search
        sidebar.chat_chosen.connect(self._open_chat)
        sidebar.new_chat.connect(self._new_chat)
        sidebar.search_asked.connect(search.open)
        sidebar.keys_asked.connect(self._show_keys)
        sidebar.chat_deleted.connect(self.core.chat_deleted)
        sidebar.chat_restored.connect(self.core.desk.pick_up)
        sidebar.window_asked.connect(self.window_asked)
        self.core.chat_deleted.connect(self._leave_deleted)
        sidebar.failed.connect(self._reports.show_error)
        search.chat_chosen.connect(self._open_chat)
        for changed in (chat.opened, chat.listed, sidebar.view.chats.changed):
            changed.connect(self._show_title)
        search.hit_chosen.connect(self._show_hit)
        search.failed.connect(self._reports.show_error)

    def _connect_engine(self) -> None:
        header, panel = self.header, self.panel
        self.engine.ended.connect(self._engine_ended)
        self.core.pairs_changed.connect(header.show_recent)
        self.core.preferences_changed.connect(self._take_preferences)
        self.core.failed.connect(self._reports.show_error)
        header.new_chat.clicked.connect(self._new_chat)
        header.load_asked.connect(self.load)
        header.unload_asked.connect(self.engine.unload)
        header.reload_asked.connect(self._reload)
        self._panes.used_here.load_asked.connect(self.load)
        for changed in (self.engine.state_changed, self.chat.opened, self.chat.settings_changed):
            changed.connect(self._offer_used_models)
        header.settings_asked.connect(self.settings.open)
        header.panel_switch.toggled.connect(self._set_telemetry)
        panel.calibration_asked.connect(lambda: panel.show_calibrating(self.core.calibration.start()))
        panel.race_asked.connect(self.open_race)
        self.core.calibration.finished.connect(self._end_calibration)
        self.core.calibration.finished.connect(self._reports.show_speed)

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
                "settings": self.settings.open,
                "keyboard": self._show_keys,
                "chats": self._go_to_chats,
                "previous_chat": lambda: sidebar.view.step(-1),
                "next_chat": lambda: sidebar.view.step(1),
                "larger": lambda: self._appearance.zoom(1),
                "smaller": lambda: self._appearance.zoom(-1),
                "usual_size": lambda: self._appearance.set_zoom(100),
                "new_window": lambda: self.window_asked.emit(None),
                "close_window": self.close,
                "quit": self.close_all,
                "find": self._panes.find_bar.open,
                "find_next": lambda: self._panes.find_bar.step(1),
                "find_previous": lambda: self._panes.find_bar.step(-1),
                "stop": self._stop,
                "regenerate": self._regenerate,
                "copy_answer": self._copy_answer,
                "edit_last": transcript.edit_last_question,
                "previous_version": lambda: transcript.step_version(-1),
                "next_version": lambda: transcript.step_version(1),
                "race": self.open_race,
                "write": self.composer.setFocus,
            },
        )

    # -- the user's actions ----------------------------------------------------------------------------------

    def _send(self, text: str, files: Sequence[AttachedFile]) -> None:
        if self.chat.send(text, files):
            self.composer.accept()
            self._unsent.forget()

    def _prompts(self) -> Sequence[SavedPrompt]:
        """Return the saved prompts; none if they cannot be read."""
        try:
            return self._store.prompts.all()
        except StoreError as error:
            self._reports.show_error(error)
            return ()

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

    def _offer_undo(self, deleted: DeletedMessages) -> None:
        """Offer to bring deleted messages back; the transcript has the focus, where Ctrl+Z does it."""
        text = self.tr("Deleted 1 message")
        if deleted.count > 1:
            text = self.tr("Deleted {} messages").format(formatting.number(deleted.count))
        self._panes.note.offer_undo(text, lambda: self.chat.restore(deleted))
        self.transcript.setFocus()

    def _copy_answer(self) -> None:
        if self.transcript.copy_last_answer():
            self._panes.note.mention(self.tr("Copied the last answer"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Write what is typed into the composer, and page through the chat, wherever the focus is: the key
        has reached the window because no other widget uses it."""
        if is_typed(event):
            self.composer.take(event)
        elif event.key() in PAGE_KEYS and not event.modifiers():
            self.transcript.keyPressEvent(event)
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
        if self.engine.state in (State.READY, State.IDLE) and not self.transcript.is_editing:
            self.chat.try_again()

    def _go_to_chats(self) -> None:
        self.header.sidebar_switch.setChecked(True)
        self.sidebar.view.setFocus()

    def _show_hit(self, chat: int, message: int, query: str) -> None:
        self.chat.open(chat, message)
        self.transcript.jump_to(message, query)

    def _show_keys(self) -> None:
        page = KeyboardPage(self._preferences.now.send_key, self)
        page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        page.open()

    def _set_telemetry(self, telemetry: bool) -> None:
        self.chat.telemetry = telemetry

    def open_race(self, answer: int | None = None) -> None:
        """Open the dialog of a race with the question of an answer, or with the last question."""
        if self.core.place:
            self._reports.show_words(races_are_here(self.core.place))
            return
        options = request_options(self.chat.settings, telemetry=False)
        dialog = RaceDialog(self.core.race, self.engine, self.chat.messages_before(answer), options, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.restart_asked.connect(self.engine.start)
        dialog.offer_rivals(self.chat.settings.context, self._preferences.now.loading)
        dialog.open()

    # -- models and settings ---------------------------------------------------------------------------------

    def load(self, pair: RecentPair) -> None:
        """Load these models. They answer in every chat from now on, and at the next start."""
        self.core.load(pair, self.chat.settings.context)

    def _reload(self) -> None:
        self.core.reload(self.core.loaded_pair, self.chat.settings.context)

    def _end_calibration(self) -> None:
        self.panel.show_calibrating(False)

    def _offer_used_models(self) -> None:
        """Offer to load the models that gave this chat's answers, if others are loaded."""
        settings, loaded = self.chat.settings, self.engine.wanted
        used = RecentPair(settings.target, settings.draft, settings.engine)
        differs = bool(self.chat.shown) and (used.target, used.engine) != (loaded.target, loaded.engine)
        self._panes.used_here.offer(used if differs and model_choice.is_known(used) else None)

    def _take_preferences(self, preferences: Preferences) -> None:
        self.chat.new_settings = preferences.new_chats
        self.header.plan_by(preferences.loading)

    # -- geometry and closing --------------------------------------------------------------------------------

    def _restore(self) -> None:
        now = self._preferences.now
        kept = now.window if self._is_first else now.other_window
        resize_on_screen(self, *(SIZE if self._is_first else OTHER_SIZE))
        if kept.geometry:
            self.restoreGeometry(QByteArray(kept.geometry))
        while any(other.pos() == self.pos() for other in self.core.windows):
            self.move(self.pos() + QPoint(*BESIDE))
        self._panes.restore(kept)
        self._panes.fit(self.width())  # before the window is shown: a panel beside the chat would widen it
        self._set_telemetry(kept.panel)
        self.header.show_recent(now.recent_pairs)
        self.header.plan_by(now.loading)

    def bring_up(self) -> None:
        """Show the window, above others."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()
        self.core.use(self)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.WindowActivate and self.isVisible():
            self.core.use(self)
        return super().event(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.core.use(self)
            self.chat.enter()

    def close_all(self) -> None:
        """Close all windows, this one last unless it is hidden."""
        others = [window for window in self.core.windows if window is not self]
        for window in others:
            window.close()
        if self.isVisible() or not others:
            self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Close the window. The last one hides and asks the engine to end; `closed` follows when the engine
        has ended or the wait is over."""
        if self._close_timer.isActive():
            event.accept()
            return
        kept = self._panes.state(bytes(self.saveGeometry().data()))
        try:
            self._preferences.change(**{"window" if self._is_first else "other_window": kept})
        except PreferencesError as error:
            self._reports.show_error(error)
        self._attachments.close_down()
        if not set(self.core.windows) - {self}:
            self.core.queue.give_back_all()  # what nobody will ask any more is unsent at the next start
        self._unsent.close()
        self.sidebar.close_down()
        self._better.close_down()
        self.core.leave(self)
        if self.core.windows:
            self.chat.leave()
            event.accept()
            self.left.emit()
            return
        self.core.server.close()
        self.core.desk.close()
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
