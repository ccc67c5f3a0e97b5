"""The tree with what belongs to it: the node looked at in words, the steps through the run, the legend."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app import words
from app.thinking.stepper import Stepper
from app.thinking.tree_legend import TreeLegend
from app.thinking.tree_view import TreeView
from engine.protocol.messages import IterationDone, TreeGrown


class TreePage(QWidget):
    """Attributes: `tree`, `stepper`, `detail` (the node under the pointer, in words)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tree = TreeView(self)
        self.stepper = Stepper(self)
        self._title = self._line("name")
        self._count = QLabel(self)
        self._count.setProperty("role", "caption")
        self._legend = TreeLegend(self)
        self.detail = self._line("caption")
        self.detail.setWordWrap(True)
        self.detail.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.detail.setFixedHeight(3 * QFontMetrics(self.detail.font()).height())
        self.detail.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        heading = QHBoxLayout()
        heading.addWidget(self._title, 1)
        heading.addWidget(self._count)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(heading)
        layout.addWidget(self.tree, 1)
        for widget in (self.detail, self.stepper, self._legend):
            layout.addWidget(widget)
        self.tree.described.connect(self._show_detail)
        self.stepper.zoomed.connect(self._zoom)
        self._show_detail("")

    def show_tree(self, event: TreeGrown | IterationDone | None) -> None:
        self.tree.show_tree(event)
        self._show_detail("")
        if event is not None:
            self._legend.show_sources(event.tree)
        summary = self._summary(event)
        showing = self._showing()
        self._title.setText(summary or self.tr("Token tree"))
        self._count.setText(showing)
        self.tree.setAccessibleDescription(" ".join([summary, showing]).strip())

    def _line(self, role: str) -> QLabel:
        line = QLabel(self)
        line.setProperty("role", role)
        line.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        return line

    def _show_detail(self, text: str) -> None:
        self.detail.setText(text or self._gave() or self.tr("Point at a token, or walk to it by arrow keys."))

    def _gave(self) -> str:
        """What the iteration shown gave the answer; "" where that is not known."""
        event = self.tree.event_shown
        if not isinstance(event, IterationDone) or event.committed is None:
            return ""
        text = " ".join("".join(event.committed.pieces).split())
        return self.tr("It gave the answer: “{}”").format(text) if text else ""

    def _zoom(self, factor: float) -> None:
        if factor:
            self.tree.zoom(factor)
        else:
            self.tree.fit()

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
