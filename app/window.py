"""The window: what a person does goes to the chat, what the chat reports goes to the widgets."""

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QMainWindow, QSplitter, QVBoxLayout, QWidget

from app import words
from app.arguments import Arguments
from app.chat import BUSY, Chat, State
from app.composer import Composer
from app.conversation import Turn
from app.engine_link import EngineLink
from app.link_question import ask_to_open
from app.model_bar import ModelBar
from app.notice import Notice
from app.panel import Panel
from app.transcript import COLUMN_WIDTH, Transcript
from engine.protocol.messages import Answer, EngineLost, Failed, IterationDone, PrefillProgress, TreeGrown

# An engine is given 5 s to end before it is made to; this is a little more.
CLOSE_TIMEOUT_MS = 6_000


class Window(QMainWindow):
    """One chat with one engine of its own.

    Attributes:
        chat, model_bar, transcript, composer, panel: its parts.

    Signals:
        closed: the window is gone and so is its engine (or the wait for it was given up).
    """

    closed = Signal()

    def __init__(self, arguments: Arguments, link: EngineLink | None = None) -> None:
        super().__init__()
        self.setWindowTitle("SpecExec Desktop")
        self.resize(1280, 800)
        link = link or EngineLink()
        link.setParent(self)
        self.chat = Chat(link, arguments, self)
        self.model_bar = ModelBar(self)
        self.transcript = Transcript(self)
        self.composer = Composer(self)
        self.panel = Panel(self)
        self._close_timer = QTimer(self, singleShot=True)
        self._close_timer.timeout.connect(self.closed)
        self._build()
        self._connect_chat()
        self._connect_widgets()

    def start(self) -> None:
        """Show the window and start the engine."""
        self.show()
        self.composer.setFocus()
        self.chat.start()

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

    def _connect_chat(self) -> None:
        chat, bar = self.chat, self.model_bar
        chat.state_changed.connect(self._show_state)
        chat.load_progressed.connect(bar.show_load_progress)
        chat.loaded.connect(bar.show_loaded)
        chat.loaded.connect(self.panel.stats.show_loaded)
        chat.turn_started.connect(self._begin_turn)
        chat.prefill_progressed.connect(self._show_prefill)
        chat.text_added.connect(self._add_text)
        chat.tree_changed.connect(self._show_tree)
        chat.answered.connect(self._finish_answer)
        chat.failed.connect(self._show_failure)
        chat.load_failed.connect(self._show_load_failure)
        chat.lost.connect(self._show_loss)
        chat.cleared.connect(self._clear)
        chat.ended.connect(self._engine_ended)

    def _connect_widgets(self) -> None:
        self.composer.sent.connect(self._send)
        self.composer.stopped.connect(self.chat.stop)
        self.transcript.suggested.connect(self.composer.write)
        self.transcript.link_clicked.connect(self._ask_to_open)
        self.model_bar.new_chat.clicked.connect(self.chat.clear)
        self.model_bar.panel_switch.toggled.connect(self.panel.setVisible)
        QShortcut(QKeySequence(QKeySequence.StandardKey.New), self, self.chat.clear)
        QShortcut(QKeySequence("Ctrl+T"), self, self.model_bar.panel_switch.toggle)
        QShortcut(QKeySequence("Esc"), self, self.chat.stop)

    def _send(self, text: str) -> None:
        if self.chat.send(text):
            self.composer.accept()

    def _show_state(self, state: State) -> None:
        self.model_bar.show_state(state)
        self.composer.allow(send=state is State.READY, stop=state in BUSY)
        if state in (State.STARTING, State.LOADING, State.ANSWERING):
            self.transcript.clear_notice()

    def _begin_turn(self, turn: Turn) -> None:
        self.transcript.add_turn(turn.question)
        self.panel.begin()

    def _show_prefill(self, progress: PrefillProgress) -> None:
        self.model_bar.show_prefill(progress)
        if self.transcript.answer:
            self.transcript.answer.set_status(self.model_bar.state.text())

    def _add_text(self, text: str) -> None:
        if self.transcript.answer:
            if not self.transcript.answer.text:
                self.model_bar.show_answering()
            self.transcript.answer.append(text)

    def _show_tree(self, event: TreeGrown | IterationDone) -> None:
        if self.chat.state is State.ANSWERING:
            self.model_bar.show_iteration(event)
        self.panel.show_tree(event)

    def _finish_answer(self, answer: Answer) -> None:
        if self.transcript.answer:
            self.transcript.answer.finish(words.answer_summary(answer), answer.text)
        self.panel.show_answer(answer)

    def _show_failure(self, failed: Failed) -> None:
        self._end_answer(self.tr("not completed"))
        notice = Notice(failed.message, failed.hint, self.tr("Try again"), self)
        notice.pressed.connect(self.chat.try_again)
        self.transcript.show_notice(notice)

    def _show_load_failure(self, failed: Failed) -> None:
        notice = Notice(failed.message, failed.hint, self.tr("Load again"), self)
        notice.pressed.connect(self.chat.load)
        self.transcript.show_notice(notice)

    def _show_loss(self, lost: EngineLost) -> None:
        self._end_answer(self.tr("not completed: the engine stopped"))
        hint = self.tr("{} Its log: {}").format(lost.hint, lost.log_path)
        notice = Notice(lost.message, hint, self.tr("Restart engine"), self)
        notice.pressed.connect(self.chat.start)
        self.transcript.show_notice(notice)

    def _end_answer(self, summary: str) -> None:
        turns = self.chat.conversation.turns
        if self.transcript.answer and turns and turns[-1].outcome is None:
            self.transcript.answer.finish(summary)

    def _clear(self) -> None:
        self.transcript.clear()
        self.panel.begin()
        self.composer.setFocus()

    def _ask_to_open(self, url: QUrl) -> None:
        ask_to_open(self, url)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Hide at once; the window is gone when its engine is."""
        if not self.chat.is_running or self._close_timer.isActive():
            event.accept()
            return
        event.ignore()
        self.hide()
        self._close_timer.start(CLOSE_TIMEOUT_MS)
        self.chat.close()

    def _engine_ended(self) -> None:
        if self._close_timer.isActive():
            self._close_timer.stop()
            self.closed.emit()
