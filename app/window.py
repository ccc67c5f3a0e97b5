"""The window: what a person does goes to the chat, what the chat reports goes to the widgets."""

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QMainWindow, QSplitter, QVBoxLayout, QWidget

from app.arguments import Arguments
from app.chat import Chat
from app.composer import Composer
from app.engine import BUSY, WILL_ANSWER, Engine, State
from app.engine_link import EngineLink
from app.link_question import ask_to_open
from app.model_bar import ModelBar
from app.notice import Notice
from app.store import ChatSettings, SavedOptions, Store, StoreError
from app.thinking.calibration import Calibration
from app.thinking.panel import Panel
from app.transcript import COLUMN_WIDTH, Transcript
from engine.protocol.messages import (
    Answer,
    EngineLost,
    Event,
    Failed,
    IterationDone,
    Load,
    PassProgress,
    PrefillProgress,
    TreeGrown,
)

# The setting SpecExec was published with. The likeliest token, always, makes small models repeat themselves.
TEMPERATURE, TOP_P = 0.6, 0.9

# An engine is given 5 s to end before it is made to; this is a little more.
CLOSE_TIMEOUT_MS = 6_000


class Window(QMainWindow):
    """One chat with one engine of its own.

    Attributes:
        engine, chat, model_bar, transcript, composer, panel: its parts.

    Signals:
        closed: the window is gone and so is its engine (or the wait for it was given up).
    """

    closed = Signal()

    def __init__(self, arguments: Arguments, store: Store, link: EngineLink | None = None) -> None:
        super().__init__()
        self.setWindowTitle("SpecExec Desktop")
        self.resize(1280, 800)
        link = link or EngineLink()
        link.setParent(self)
        wanted = Load(id=0, target=arguments.target, draft=arguments.draft, drafter=arguments.drafter)
        options = SavedOptions(
            temperature=TEMPERATURE, top_p=TOP_P, drafter=arguments.drafter, budget=arguments.budget
        )
        self.engine = Engine(link, wanted, self)
        self.chat = Chat(store, self.engine, ChatSettings(options=options), self)
        self.model_bar = ModelBar(self)
        self.transcript = Transcript(self)
        self.composer = Composer(self)
        self.panel = Panel(self)
        self.calibration = Calibration(self.engine, self)
        self._close_timer = QTimer(self, singleShot=True)
        self._close_timer.timeout.connect(self.closed)
        self._build()
        self._connect_engine()
        self._connect_chat()
        self._connect_widgets()

    def start(self) -> None:
        """Show the window and start the engine."""
        self.show()
        self.composer.setFocus()
        self.engine.start()

    def _build(self) -> None:
        left = QWidget(self)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.transcript, 1)
        margin = QWidget(left)
        around = QVBoxLayout(margin)
        around.setContentsMargins(20, 4, 20, 16)
        around.addWidget(self.composer)
        margin.setMaximumWidth(COLUMN_WIDTH)
        column.addWidget(margin)
        column.setAlignment(margin, Qt.AlignmentFlag(0))
        left.setMinimumWidth(380)
        splitter = QSplitter(self)
        splitter.setHandleWidth(3)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(left)
        splitter.addWidget(self.panel)
        splitter.setStretchFactor(0, 1)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([680, 600])
        whole = QWidget(self)
        rows = QVBoxLayout(whole)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addWidget(self.model_bar)
        rows.addWidget(splitter, 1)
        self.setCentralWidget(whole)

    def _connect_engine(self) -> None:
        engine, bar = self.engine, self.model_bar
        engine.state_changed.connect(self._show_state)
        engine.load_progressed.connect(bar.show_load_progress)
        engine.loaded.connect(bar.show_loaded)
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
        chat.failed.connect(self._show_failure)
        chat.trouble.connect(self._show_trouble)

    def _connect_widgets(self) -> None:
        self.composer.sent.connect(self._send)
        self.composer.stopped.connect(self.chat.stop)
        self.transcript.suggested.connect(self.composer.write)
        self.transcript.link_clicked.connect(self._ask_to_open)
        self.transcript.edited.connect(self.chat.edit)
        self.transcript.regenerate_asked.connect(self.chat.regenerate)
        self.transcript.continue_asked.connect(self.chat.go_on)
        self.transcript.branch_asked.connect(self.chat.branch)
        self.transcript.version_asked.connect(self.chat.show_version)
        self.model_bar.new_chat.clicked.connect(self._new_chat)
        self.model_bar.panel_switch.toggled.connect(self._show_panel)
        self.panel.calibration_asked.connect(self._calibrate)
        self.calibration.finished.connect(lambda: self.panel.show_calibrating(False))
        QShortcut(QKeySequence(QKeySequence.StandardKey.New), self, self._new_chat)
        QShortcut(QKeySequence("Ctrl+T"), self, self.model_bar.panel_switch.toggle)
        QShortcut(QKeySequence("Esc"), self, self.chat.stop)

    def _calibrate(self) -> None:
        self.panel.show_calibrating(self.calibration.start())

    def _send(self, text: str) -> None:
        if self.chat.send(text):
            self.composer.accept()

    def _show_panel(self, shown: bool) -> None:
        self.panel.setVisible(shown)
        self.chat.watch = shown

    def _new_chat(self) -> None:
        self.chat.open(None)
        self.composer.setFocus()

    def _show_state(self, state: State) -> None:
        self.model_bar.show_state(state)
        self.composer.allow(send=state in WILL_ANSWER, stop=state in BUSY)
        self.transcript.allow_changes(state is State.READY)
        if state in (State.STARTING, State.LOADING, State.ANSWERING):
            self.transcript.clear_notice()

    def _open(self) -> None:
        self.transcript.open(self.chat.shown, self._answering())
        self.panel.begin()

    def _show_path(self) -> None:
        was_answering = self.transcript.answer
        self.transcript.show_path(self.chat.shown, self._answering())
        if self.transcript.answer and self.transcript.answer is not was_answering:
            self.transcript.follow()
            self.panel.begin()

    def _answering(self) -> int | None:
        return self.chat.answering.message if self.chat.answering else None

    def _report(self, event: Event) -> None:
        match event:
            case PrefillProgress():
                self.model_bar.show_prefill(event)
                if self.transcript.answer:
                    self.transcript.answer.set_status(self.model_bar.state.text())
            case TreeGrown() | IterationDone():
                self.model_bar.show_iteration(event)
                self.panel.show_tree(event)
            case PassProgress():
                self.panel.show_pass(event)
            case Answer():
                self.panel.show_answer(event)

    def _add_text(self, text: str) -> None:
        if self.transcript.answer:
            if not self.transcript.answer.text:
                self.model_bar.show_answering()
            self.transcript.answer.append(text)

    def _show_failure(self, failed: Failed) -> None:
        notice = Notice(failed.message, failed.hint, self.tr("Try again"), self)
        notice.pressed.connect(self.chat.try_again)
        self.transcript.show_notice(notice)

    def _show_load_failure(self, failed: Failed) -> None:
        notice = Notice(failed.message, failed.hint, self.tr("Load again"), self)
        notice.pressed.connect(self.engine.load)
        self.transcript.show_notice(notice)

    def _show_loss(self, lost: EngineLost) -> None:
        hint = self.tr("{} Its log: {}").format(lost.hint, lost.log_path)
        notice = Notice(lost.message, hint, self.tr("Restart engine"), self)
        notice.pressed.connect(self.engine.start)
        self.transcript.show_notice(notice)

    def _show_trouble(self, error: StoreError) -> None:
        notice = Notice(error.message, error.hint, self.tr("Close"), self)
        notice.pressed.connect(self.transcript.clear_notice)
        self.transcript.show_notice(notice)

    def _ask_to_open(self, url: QUrl) -> None:
        ask_to_open(self, url)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Hide at once; the window is gone when its engine is."""
        if not self.engine.is_running or self._close_timer.isActive():
            event.accept()
            return
        event.ignore()
        self.hide()
        self._close_timer.start(CLOSE_TIMEOUT_MS)
        self.engine.close()

    def _engine_ended(self) -> None:
        if self._close_timer.isActive():
            self._close_timer.stop()
            self.closed.emit()
