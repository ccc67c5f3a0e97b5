"""The run as a table, to read, copy and take away."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.thinking.rates import seconds_of
from engine.protocol.messages import IterationDone


class RunPage(QWidget):
    """A row per iteration, the newest last. Filled only while it is seen.

    Attributes: `table`.

    Signals:
        iteration_asked: int, of a row that was chosen
        export_asked: str, one of "json", "svg", "png"
    """

    iteration_asked = Signal(int)
    export_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._iterations: Sequence[IterationDone] = ()
        self._heads = [
            self.tr("iteration"),
            self.tr("accepted"),
            self.tr("nodes"),
            self.tr("seconds"),
            self.tr("waited, s"),
            self.tr("text"),
        ]
        self.table = QTreeWidget(self)
        self.table.setHeaderLabels(self._heads)
        self.table.setRootIsDecorated(False)
        self.table.setUniformRowHeights(True)
        self.table.setAccessibleName(self.tr("Iterations of the answer"))
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.itemActivated.connect(self._activate)
        buttons = QHBoxLayout()
        copy = self._button(self.tr("Copy the table"))
        copy.clicked.connect(self.copy)
        buttons.addWidget(copy)
        buttons.addStretch(1)
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
        """Those of the run so far, oldest first."""
        self._iterations = iterations
        self._fill()

    def copy(self) -> None:
        """The whole table, or what is selected of it, to the clipboard, cells apart by tabs."""
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
        if not self.isVisible():
            return
        self.table.clear()
        self.table.addTopLevelItems([QTreeWidgetItem(cells(done)) for done in self._iterations])
        self.table.scrollToBottom()

    def _activate(self, item: QTreeWidgetItem) -> None:
        row = self.table.indexOfTopLevelItem(item)
        self.iteration_asked.emit(self._iterations[row].iteration)


def cells(done: IterationDone) -> list[str]:
    text = "".join(done.committed.pieces) if done.committed else ""
    return [
        words.number(done.iteration),
        words.number(len(done.accepted)),
        words.number(len(done.tree.tokens)),
        words.decimal(seconds_of(done)),
        words.decimal(done.seconds.stream_wait),
        " ".join(text.split()),
    ]
