"""Beside the chat: the token tree and the figures of the answer under way."""

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app import words
from app.stats_panel import StatsPanel
from app.tree_legend import TreeLegend
from app.tree_view import TreeView
from engine.protocol.messages import Answer, IterationDone, TreeGrown

# A verdict stays this long before the next growing tree takes its place; a newer verdict replaces it at once.
VERDICT_MS = 250


class Panel(QFrame):
    """Shows verdicts and, where there is time between them, growing trees. Hidden, it only keeps the newest.

    Attributes:
        tree: the painted tree.
        stats: the figures.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAccessibleName(self.tr("Token tree and figures"))
        self.stats = StatsPanel(self)
        self.tree = TreeView(self)
        self._title = QLabel(self.tr("Token tree"), self)
        self._title.setProperty("role", "name")
        self._count = QLabel(self)
        self._count.setProperty("role", "caption")
        self._newest: TreeGrown | IterationDone | None = None
        self._verdict_timer = QTimer(self, singleShot=True)
        self._verdict_timer.timeout.connect(self._show_waiting)
        self._waiting: TreeGrown | None = None
        self._build()

    def _build(self) -> None:
        heading = QHBoxLayout()
        self._title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        heading.addWidget(self._title, 1)
        heading.addWidget(self._count)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 12)
        layout.setSpacing(8)
        layout.addWidget(self.stats)
        layout.addSpacing(6)
        layout.addLayout(heading)
        layout.addWidget(self.tree, 1)
        layout.addWidget(TreeLegend(self))

    def begin(self) -> None:
        """An answer begins."""
        self._verdict_timer.stop()
        self._waiting = None
        self.stats.clear()
        self._show(None)

    def show_tree(self, event: TreeGrown | IterationDone) -> None:
        """Take the newest tree."""
        if isinstance(event, IterationDone):
            self._waiting = None
            self._show(event)
            self.stats.show_iteration(event)
            self._verdict_timer.start(VERDICT_MS)
        elif self._verdict_timer.isActive():
            self._waiting = event
        else:
            self._show(event)

    def show_answer(self, answer: Answer) -> None:
        """The answer is whole; its last verdict stays."""
        self._waiting = None
        self.stats.show_answer(answer)

    def showEvent(self, event: QEvent) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._show(self._newest)

    def _show_waiting(self) -> None:
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self._show(waiting)

    def _show(self, event: TreeGrown | IterationDone | None) -> None:
        self._newest = event
        if not self.isVisible():
            return
        self.tree.show_tree(event)
        summary = self._summary(event)
        self._title.setText(summary or self.tr("Token tree"))
        self._count.setText(self._showing())
        self.tree.setAccessibleDescription(" ".join([summary, self._showing()]).strip())

    def _summary(self, event: TreeGrown | IterationDone | None) -> str:
        match event:
            case None:
                return ""
            case IterationDone():
                text = self.tr("Iteration {}: {} of {} accepted")
                return text.format(event.iteration, len(event.accepted), words.number(len(event.tree.tokens)))
            case TreeGrown():
                text = self.tr("Iteration {}: {} drafted")
                return text.format(event.iteration, words.number(len(event.tree.tokens)))

    def _showing(self) -> str:
        placed = self.tree.placed
        if placed is None or placed.shown == placed.total:
            return ""
        return self.tr("showing {} of {}").format(words.number(placed.shown), words.number(placed.total))
