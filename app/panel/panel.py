"""The panel beside the chat: speculative decoding of the current answer, as a tree, as charts and as text."""

import os
from pathlib import Path

from PySide6.QtCore import QElapsedTimer, QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMessageBox,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import formatting
from app.panel import export, run_figures, told
from app.panel.glossary import Glossary
from app.panel.history import KeptRun, RunHistory
from app.panel.memory_bars import MemoryBars
from app.panel.origins import Origins
from app.panel.run_page import RunPage
from app.panel.speed_page import SpeedPage
from app.panel.stats_panel import StatsPanel
from app.panel.time_page import TimePage
from app.panel.tree_page import TreePage
from app.widgets import motion
from app.widgets.fault_words import in_one
from app.widgets.form_parts import Scrolling, label
from app.widgets.plain_text import PlainMessageBox, plain
from app.widgets.save_dialog import ask_where_to_save
from engine.errors import DiskProblem
from engine.protocol.messages import Answer, Committed, IterationDone, Loaded, PassProgress, TreeGrown

# A verdict stays this long before the next growing tree replaces it; a newer verdict replaces it at once.
VERDICT_MS = 250
# Share of the processors' time that painting growing trees may take. Decoding, which waits for its slowest
# thread, needs the processors more.
PAINTING_SHARE = 0.01
FADE_MS = 200  # duration in which rejected nodes fade, with as many frames as PAINTING_SHARE allows
FRAME_MS = 33
CHARTS_MS = 500
WIDTH = 410  # minimum, in pixels
ANNOUNCE_MS = 2_000  # minimum time between announcements to a screen reader


class Panel(QFrame):
    """Shows each verdict and, if time allows, the trees growing in between.

    While hidden, it paints nothing, but records the iterations and keeps the newest tree.

    Attributes:
        origins: for each character of the answer, the token that produced it.
        history: the iterations kept, and the one in view.
        stats, pages, tree_page, time_page, memory, speed_page, run_page: child widgets.
        tree: the widget with the tree, which belongs to tree_page.

    Signals:
        origins_added: list of the new Origin objects
        text_asked: int, int: start and end of the characters that the iteration in view produced
        race_asked: the user wants to see plain decoding beside SpecExec
        calibration_asked: the user wants plain decoding to be measured
        colours_toggled: bool, whether to colour the answer by the drafters that proposed its tokens
    """

    origins_added = Signal(list)
    text_asked = Signal(int, int)
    race_asked = Signal()
    calibration_asked = Signal()
    colours_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAccessibleName(self.tr("Token tree and statistics"))
        self.history = RunHistory()
        self.origins = Origins()
        self.stats = StatsPanel(self)
        self.tree_page = TreePage(self)
        self.tree = self.tree_page.tree
        self.time_page = TimePage(self)
        self.memory = MemoryBars(self)
        self._details = label(role="muted", parent=self)
        self._experts = label(role="muted", parent=self)
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
        self._speed = Scrolling(self.speed_page)
        self.pages.setDocumentMode(True)
        self.pages.setAccessibleName(self.accessibleName())
        for page, name in (
            (self.tree_page, self.tr("Tree")),
            (Scrolling(self.time_page), self.tr("Time")),
            (Scrolling(self._memory_page()), self.tr("Memory")),
            (self._speed, self.tr("Speed")),
            (self.run_page, self.tr("Table")),
        ):
            self.pages.addTab(page, name)
        colours = QToolButton(self)
        colours.setText(self.tr("Colour the answer"))
        colours.setToolTip(
            self.tr(
                "Colours each token by the drafter that proposed it. "
                "Point at a token to see its alternatives."
            )
        )
        colours.setCheckable(True)
        colours.toggled.connect(self.colours_toggled)
        column = QWidget(self)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(Scrolling(column, self))
        layout = QVBoxLayout(column)
        layout.setContentsMargins(16, 14, 16, 12)
        layout.setSpacing(8)
        layout.addWidget(self.stats)
        words = QToolButton(self)
        words.setText(self.tr("What the words mean"))
        words.clicked.connect(lambda: Glossary(self).show())
        row = QHBoxLayout()
        row.addWidget(colours)
        row.addWidget(words)
        row.addStretch(1)
        layout.addLayout(row)
        layout.addWidget(self.pages, 1)
        self.tree_page.stepper.stepped.connect(self.step)
        self.tree_page.stepper.slid.connect(self.slide)
        self.tree_page.stepper.pause_toggled.connect(self.pause)
        self.time_page.bars.iteration_asked.connect(self.show_iteration)
        self.run_page.iteration_asked.connect(self.show_iteration)
        self.run_page.export_asked.connect(self._export)
        self.speed_page.race_asked.connect(self.race_asked)
        self.speed_page.calibration_asked.connect(self.calibration_asked)

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint().expandedTo(QSize(WIDTH, 0))

    def open_speed(self) -> None:
        """Turn to the page that explains the speed."""
        self.pages.setCurrentWidget(self._speed)

    def _memory_page(self) -> QWidget:
        """Build the page of the memory: how the model was loaded, and the chart.

        It scrolls by itself, since a chart of many parts would make the other pages as high.
        """
        page = QWidget(self)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(10)
        column.addWidget(self._details)
        column.addWidget(self._experts)
        column.addWidget(self.memory, 1)
        return Scrolling(page, self)

    @property
    def newest_in_words(self) -> str:
        """The newest iteration as a line of text; "" if there is none."""
        if not self.history.iterations:
            return ""
        link = self._loaded.link if self._loaded else None
        return run_figures.iteration_line(self.history.iterations[-1], link)

    # -- from the engine -------------------------------------------------------------------------------------

    def show_loaded(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self.stats.show_loaded(loaded)
        self.time_page.show_loaded(loaded)
        self.memory.show_memory(loaded.memory)
        details = [formatting.model_details(loaded)]
        if loaded.place:
            details.append(self.tr("Its memory is the other machine's, which does not tell it."))
        self._details.setText("\n".join(details))
        self.memory.setVisible(not loaded.place)
        self._tell()
        self.speed_page.show_loaded(loaded)

    def begin(self) -> None:
        """Clear everything: a new answer begins."""
        self._pause_timer.stop()
        self._charts_timer.stop()
        self._waiting = self._answer = None
        self._experts.clear()
        self._experts.setToolTip("")
        self.history.clear()
        self.origins = Origins()
        self.stats.clear()
        self.time_page.begin()
        self.speed_page.begin()
        self.run_page.show_iterations(self.history.iterations)
        self._tell()
        self._show(None)

    def kept_run(self) -> KeptRun:
        """Return what is shown, for `show_run`."""
        return KeptRun(tuple(self.history.iterations), self.origins, self._answer)

    def show_run(self, run: KeptRun) -> None:
        """Show a run again, as it was; one that is not complete goes on."""
        self.begin()
        self.origins = run.origins
        for done in run.iterations:
            self.history.add(done)
            self.time_page.add(done)
            self.stats.show_iteration(done)
        self._show(self.history.current)
        if run.answer is not None:
            self.show_answer(run.answer)
        self._refresh()

    def show_tree(self, event: TreeGrown | IterationDone) -> None:
        """Show a tree, growing or with its verdict, unless an iteration is held or the tree has to wait."""
        if isinstance(event, IterationDone):
            self._take(event)
        elif not self.history.is_live:
            pass
        elif self._pause_timer.isActive():
            self._waiting = event
        else:
            self._show_growing(event)

    def show_told_tokens(self, told: Committed) -> None:
        """Note the tokens that an engine tells which does not tell its trees."""
        if self._loaded is not None and not self._loaded.tells_trees:
            new = self.origins.add_told(told)
            if new:
                self.origins_added.emit(new)

    def show_pass(self, progress: PassProgress) -> None:
        """Show the progress of the current target pass."""
        self.time_page.show_pass(progress)

    def show_answer(self, answer: Answer) -> None:
        """Show the figures of the complete answer. The tree of the last verdict stays in view."""
        self._waiting = None
        self._answer = answer
        self.origins.finish(answer)
        self.stats.show_answer(answer)
        self.speed_page.show_answer(answer)
        if not self._is_elsewhere:
            self.memory.show_memory(answer.memory)
        told = answer.experts and run_figures.experts_line(answer.experts, answer.tokens)
        self._experts.setText(told or "")
        self._experts.setToolTip(plain(run_figures.layers_line(answer.experts)) if answer.experts else "")
        self._tell()
        self._charts_timer.stop()
        self._refresh()

    def show_calibrating(self, is_running: bool) -> None:
        self.speed_page.show_calibrating(is_running)

    # -- from the user ---------------------------------------------------------------------------------------

    def step(self, by: int) -> None:
        """Hold the iteration that is `by` iterations later, or earlier if `by` is negative."""
        self.history.step(by)
        self._show_held()

    def slide(self, place: int) -> None:
        """Hold the iteration at a place in the history; at its end, follow the newest one."""
        if place < len(self.history.iterations) - 1:
            self.history.hold(place)
        else:
            self.history.go_live()
        self._show_held()

    def pause(self, hold: bool) -> None:
        if hold:
            self.history.pause()
        else:
            self.history.go_live()
        self._show_held()

    def show_iteration(self, iteration: int) -> None:
        """Hold an iteration, if it is still kept, and show its tree."""
        if self.history.show(iteration):
            self.pages.setCurrentWidget(self.tree_page)
            self._show_held()

    def show_origin(self, position: int) -> None:
        """Hold the iteration that produced the character at `position` of the answer."""
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
        self._tell()
        new = self.origins.add(done)
        if new:
            self.origins_added.emit(new)
        if self.history.is_live:
            self._show(done)
            self._begin_fading()
            self._pause_timer.start(VERDICT_MS)
        if self.isVisible() and not self._charts_timer.isActive():
            self._charts_timer.start(CHARTS_MS)

    @property
    def _is_elsewhere(self) -> bool:
        return self._loaded is not None and bool(self._loaded.place)

    def _tell(self) -> None:
        """Show what an engine says that does not tell its trees."""
        loaded = self._loaded
        newest = self.history.iterations[-1] if self.history.iterations else None
        said = told.lines(loaded, self._answer, newest) if loaded and not loaded.tells_trees else []
        self.tree_page.show_told(said)
        self.time_page.show_told(said[:1])

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
        """Return the minimum time between frames of growing or fading trees, given by PAINTING_SHARE."""
        return int(1000 * self.tree.cost_s / (PAINTING_SHARE * (os.cpu_count() or 1)))

    def _begin_fading(self) -> None:
        if not motion.is_reduced() and self.isVisible() and self._frame_ms() < FADE_MS:
            self._shown.start()
            self._fade()

    def _fade(self) -> None:
        """Paint the next frame of the fading; schedule another until it is complete."""
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
        """Update charts and table, and inform the screen reader; called rarely, because it is slow."""
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
        path = ask_where_to_save(self, self.tr("Export"), "specexec", {f"*.{kind}": kind})
        if path is not None:
            self.save(path, kind)

    def save(self, path: Path, kind: export.Kind) -> None:
        """Write the run or the tree; show a message if that fails."""
        try:
            if kind == "json":
                run = export.RunExport(self._loaded, list(self.history.iterations), self._answer)
                export.save_run(path, run)
            else:
                self.pages.setCurrentWidget(self.tree_page)
                export.save_tree(path, self.tree, kind)
        except DiskProblem as error:
            text = in_one(error)
            box = PlainMessageBox(QMessageBox.Icon.Warning, self.tr("Export"), text, self)
            box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            box.open()
