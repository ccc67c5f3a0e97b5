"""Page with the run as a table that can be copied, and with buttons that export the run."""

from collections import deque
from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import formatting
from app.panel.run_figures import accepted_of, drafted_of, seconds_of
from app.widgets.flow import Flow
from app.widgets.plain_text import plain
from engine.protocol.messages import IterationDone

NUMBERS = 5  # how many leading columns are numbers
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class RunPage(QWidget):
    """Page with a table: one row per iteration, the newest last. It is filled only while visible.

    Attributes:
        table: the table widget.

    Signals:
        iteration_asked: int, number of the iteration whose row was activated
        export_asked: str, the format: one of "json", "svg", "png"
    """

    iteration_asked = Signal(int)
    export_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._iterations: Sequence[IterationDone] = ()
        self._rows: deque[IterationDone] = deque()  # those in the table
        self._heads = [
            self.tr("iteration"),
            self.tr("accepted"),
            self.tr("nodes"),
            self.tr("seconds"),
            self.tr("waiting, s"),
            self.tr("text"),
        ]
        self.table = QTreeWidget(self)
        self.table.setHeaderLabels(self._heads)
        for column, tip in (
            (1, self.tr("Drafted tokens that the target accepted")),
            (2, self.tr("Drafted tokens in the tree")),
            (4, self.tr("Seconds that the target waited for streamed weights")),
        ):
            self.table.headerItem().setToolTip(column, plain(tip))
        for column in range(NUMBERS):
            self.table.headerItem().setTextAlignment(column, _RIGHT)
        self.table.setRootIsDecorated(False)
        self.table.setUniformRowHeights(True)
        self.table.setAccessibleName(self.tr("Iterations of the answer"))
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.itemActivated.connect(self._activate)
        buttons = Flow()
        copy = self._button(self.tr("Copy table"))
        copy.clicked.connect(self.copy)
        buttons.addWidget(copy)
        buttons.addStretch()
        for kind, text in (
            ("json", self.tr("Run as JSON…")),
            ("svg", self.tr("Tree as SVG…")),
            ("png", self.tr("Tree as PNG…")),
        ):
            button = self._button(text)
            button.clicked.connect(lambda _=False, kind=kind: self.export_asked.emit(kind))
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.addWidget(self.table, 1)
        layout.addLayout(buttons)

    def _button(self, text: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setAccessibleName(text)
        return button

    def show_iterations(self, iterations: Sequence[IterationDone]) -> None:
        """Show the iterations of the run so far, oldest first."""
        self._iterations = iterations
        self._fill()

    def copy(self) -> None:
        """Copy the selected rows, or the whole table, to the clipboard, with tabs between the cells."""
        rows = sorted({index.row() for index in self.table.selectedIndexes()})
        chosen = [self._iterations[row] for row in rows] or self._iterations
        lines = [self._heads, *(cells(done) for done in chosen)]
        QGuiApplication.clipboard().setText("\n".join("\t".join(line) for line in lines))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QEvent) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._fill()

    def _fill(self) -> None:
        """Bring the table up to date: most rows stay, since iterations are added at the end, and the oldest
        are dropped."""
        if not self.isVisible():
            return
        here = list(self._iterations)
        while self._rows and (not here or self._rows[0] is not here[0]):
            self._rows.popleft()
            self.table.takeTopLevelItem(0)
        added = here[len(self._rows) :]
        self._rows += added
        self.table.addTopLevelItems([_row(done) for done in added])
        if added:
            self.table.scrollToBottom()

    def _activate(self, item: QTreeWidgetItem) -> None:
        row = self.table.indexOfTopLevelItem(item)
        self.iteration_asked.emit(self._iterations[row].iteration)


def _row(done: IterationDone) -> QTreeWidgetItem:
    row = QTreeWidgetItem(cells(done))
    for column in range(NUMBERS):
        row.setTextAlignment(column, _RIGHT)
    return row


def cells(done: IterationDone) -> list[str]:
    """Return the cells of an iteration's row."""
    text = "".join(done.committed.pieces) if done.committed else ""
    return [
        formatting.number(done.iteration),
        formatting.number(accepted_of(done)),
        formatting.number(drafted_of(done)),
        formatting.decimal(seconds_of(done)),
        formatting.decimal(done.seconds.stream_wait),
        " ".join(text.split()),
    ]
