"""Beside the chat: how the answer under way is thought out, as a picture, as charts and as text."""

import os
from pathlib import Path

from PySide6.QtCore import QElapsedTimer, QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QMessageBox, QTabWidget, QToolButton, QVBoxLayout, QWidget

from app import motion
from app.thinking import export, run_words
from app.thinking.history import History
from app.thinking.memory_bars import MemoryBars
from app.thinking.origins import Origins
from app.thinking.run_page import RunPage
from app.thinking.speed_page import SpeedPage
from app.thinking.stats_panel import StatsPanel
from app.thinking.time_page import TimePage
from app.thinking.tree_page import TreePage
from engine.errors import DiskProblem
from engine.protocol.messages import Answer, IterationDone, Loaded, PassProgress, TreeGrown

# A verdict stays this long before the next growing tree takes its place; a newer verdict replaces it at once.
VERDICT_MS = 250
# Of all processors together, growing trees take no more: decoding, which waits for its slowest thread, needs
# them more.
PAINTING_SHARE = 0.01
FADE_MS = 200  # what a verdict rejected takes to fade, in as many frames as that share allows
FRAME_MS = 33
CHARTS_MS = 500
ANNOUNCE_MS = 2_000  # a screen reader is not told more often


class Panel(QFrame):
    """Shows verdicts and, where there is time between them, growing trees. Hidden, it only keeps the newest.

    Attributes:
        origins: where the characters of the answer came from.
        history: the iterations kept, and which is looked at.
        stats, pages, tree_page (and its tree), time_page, memory, speed_page, run_page: its parts.

    Signals:
        origins_added: list of Origin, new ones
        text_asked: int, int: start and end of what the iteration looked at gave the answer
        calibration_asked: plain decoding shall be measured
        colours_toggled: bool, the answer shall be coloured by who proposed its tokens
    """

    origins_added = Signal(list)
    text_asked = Signal(int, int)
    calibration_asked = Signal()
    colours_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAccessibleName(self.tr("Token tree and figures"))
        self.history = History()
        self.origins = Origins()
        self.stats = StatsPanel(self)
        self.tree_page = TreePage(self)
        self.tree = self.tree_page.tree
        self.time_page = TimePage(self)
        self.memory = MemoryBars(self)
        self.speed_page = SpeedPage(self)
        self.run_page = RunPage(self)
        self.pages = QTabWidget(self)
        self._loaded: Loaded | None = None
        self._answer: Answer | None = None
        self._newest: TreeGrown | IterationDone | None = None
        self._waiting: TreeGrown | None = None
        self._pause_timer = self._timer(self._show_waiting)
        self._fade_timer = self._timer(self._fade)
        self._charts_timer = self._timer(self._refresh)
        self._shown = QElapsedTimer()
        self._announced = QElapsedTimer()
        self._build()

    def _timer(self, then: object) -> QTimer:
        timer = QTimer(self, singleShot=True)
        timer.timeout.connect(then)
        return timer

    def _build(self) -> None:
        self.pages.setDocumentMode(True)
        self.pages.setUsesScrollButtons(False)
        for page, name in (
            (self.tree_page, self.tr("Tree")),
            (self.time_page, self.tr("Time")),
            (self.memory, self.tr("Memory")),
            (self.speed_page, self.tr("Why this fast")),
            (self.run_page, self.tr("As text")),
        ):
            self.pages.addTab(page, name)
        colours = QToolButton(self)
        colours.setText(self.tr("Colour the answer"))
        colours.setToolTip(self.tr("By who proposed each token; point at one for what else might have come"))
        colours.setCheckable(True)
        colours.toggled.connect(self.colours_toggled)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 12)
        layout.setSpacing(8)
        layout.addWidget(self.stats)
        layout.addWidget(colours, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self.pages, 1)
        self.tree_page.stepper.stepped.connect(self.step)
        self.tree_page.stepper.pause_toggled.connect(self.pause)
        self.time_page.bars.iteration_asked.connect(self.show_iteration)
        self.run_page.iteration_asked.connect(self.show_iteration)
        self.run_page.export_asked.connect(self._export)
        self.speed_page.calibration_asked.connect(self.calibration_asked)

    @property
    def newest_in_words(self) -> str:
        """The newest iteration in words."""
        link = self._loaded.link if self._loaded else None
        return run_words.iteration_line(self.history.iterations[-1], link) if self.history.iterations else ""

    # -- from the engine -------------------------------------------------------------------------------------

    def show_loaded(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self.stats.show_loaded(loaded)
        self.time_page.show_loaded(loaded)
        self.memory.show_memory(loaded.memory)
        self.speed_page.show_loaded(loaded)

    def begin(self) -> None:
        """An answer begins."""
        self._pause_timer.stop()
        self._charts_timer.stop()
        self._waiting = self._answer = None
        self.history.clear()
        self.origins = Origins()
        self.stats.clear()
        self.time_page.begin()
        self.speed_page.begin()
        self.run_page.show_iterations(self.history.iterations)
        self._show(None)

    def show_tree(self, event: TreeGrown | IterationDone) -> None:
        """Take the newest tree."""
        if isinstance(event, IterationDone):
            self._take(event)
        elif not self.history.is_live:
            pass
        elif self._pause_timer.isActive():
            self._waiting = event
        else:
            self._show_growing(event)

    def show_pass(self, progress: PassProgress) -> None:
        """The pass under way has come so far."""
        self.time_page.show_pass(progress)

    def show_answer(self, answer: Answer) -> None:
        """The answer is whole; its last verdict stays."""
        self._waiting = None
        self._answer = answer
        self.origins.finish(answer)
        self.stats.show_answer(answer)
        self.speed_page.show_answer(answer)
        self.memory.show_memory(answer.memory)
        self._charts_timer.stop()
        self._refresh()

    def show_calibrating(self, is_running: bool) -> None:
        self.speed_page.show_calibrating(is_running)

    # -- from the person -------------------------------------------------------------------------------------

    def step(self, by: int) -> None:
        """Hold an earlier or later iteration."""
        self.history.step(by)
        self._show_held()

    def pause(self, hold: bool) -> None:
        if hold:
            self.history.pause()
        else:
            self.history.go_live()
        self._show_held()

    def show_iteration(self, iteration: int) -> None:
        """Hold this one, where it is still kept, and show its tree."""
        if self.history.show(iteration):
            self.pages.setCurrentWidget(self.tree_page)
            self._show_held()

    def show_origin(self, position: int) -> None:
        """Hold the iteration that made the character at `position` of the answer."""
        origin = self.origins.at(position)
        if origin is not None:
            self.show_iteration(origin.iteration)

    def showEvent(self, event: QEvent) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._show(self._newest)
        self._refresh()

    # -- within ----------------------------------------------------------------------------------------------

    def _take(self, done: IterationDone) -> None:
        self._waiting = None
        self.history.add(done)
        self.time_page.add(done)
        self.stats.show_iteration(done)
        new = self.origins.add(done)
        if new:
            self.origins_added.emit(new)
        if self.history.is_live:
            self._show(done)
            self._begin_fading()
            self._pause_timer.start(VERDICT_MS)
        if self.isVisible() and not self._charts_timer.isActive():
            self._charts_timer.start(CHARTS_MS)

    def _show_held(self) -> None:
        self._waiting = None
        current = self.history.current
        self._show(current)
        if current is not None and (span := self.origins.of_iteration(current.iteration)):
            self.text_asked.emit(*span)

    def _show_waiting(self) -> None:
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self._show_growing(waiting)

    def _show_growing(self, event: TreeGrown) -> None:
        self._show(event)
        self._pause_timer.start(self._frame_ms())

    def _frame_ms(self) -> int:
        """From one frame that need not be painted to the next."""
        return int(1000 * self.tree.cost_s / (PAINTING_SHARE * (os.cpu_count() or 1)))

    def _begin_fading(self) -> None:
        if not motion.is_reduced() and self.isVisible() and self._frame_ms() < FADE_MS:
            self._shown.start()
            self._fade()

    def _fade(self) -> None:
        """One frame further, and on until all is faded."""
        share = min(1.0, self._shown.elapsed() / FADE_MS)
        self.tree.fade(share)
        if share < 1:
            self._fade_timer.start(max(FRAME_MS, self._frame_ms()))

    def _show(self, event: TreeGrown | IterationDone | None) -> None:
        self._newest = event
        self._fade_timer.stop()
        if self.isVisible():
            self.tree_page.show_tree(event)
            self.tree_page.stepper.show_history(self.history)
            self.time_page.bars.show_current(event.iteration if event else None)

    def _refresh(self) -> None:
        """Charts, table and live region: seldom enough to cost little."""
        if not self.isVisible():
            return
        self.time_page.refresh()
        self.run_page.show_iterations(self.history.iterations)
        if not self._announced.isValid() or self._announced.hasExpired(ANNOUNCE_MS):
            self._announced.start()
            self._announce()

    def _announce(self) -> None:
        if QAccessible.isActive() and self.history.iterations:
            announcement = QAccessibleAnnouncementEvent(self, self.newest_in_words)
            QAccessible.updateAccessibility(announcement)

    def _export(self, kind: export.Kind) -> None:
        path, _ = QFileDialog.getSaveFileName(self, self.tr("Export"), f"specexec.{kind}", f"*.{kind}")
        if path:
            self.save(Path(path).with_suffix(f".{kind}"), kind)

    def save(self, path: Path, kind: export.Kind) -> None:
        """Write the run or the tree; what goes wrong is said."""
        try:
            if kind == "json":
                run = export.Run(self._loaded, list(self.history.iterations), self._answer)
                export.save_run(path, run)
            else:
                self.pages.setCurrentWidget(self.tree_page)
                export.save_tree(path, self.tree, kind)
        except DiskProblem as error:
            QMessageBox.warning(self, self.tr("Export"), f"{error.message} {error.hint}")
