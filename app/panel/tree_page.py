"""Page with the tree, the description of a node, buttons to step through the run, and the legend."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app import formatting
from app.panel import tree_view
from app.panel.run_figures import accepted_of, drafted_of
from app.panel.stepper import Stepper
from app.panel.tree_legend import TreeLegend
from app.panel.tree_view import TreeView
from app.widgets.form_parts import label
from app.widgets.plain_text import PlainLabel
from engine.protocol.messages import IterationDone, TreeGrown


class TreePage(QWidget):
    """Page with the tree and the widgets that belong to it.

    Attributes:
        tree, stepper: child widgets.
        detail: label with the description of the node under the pointer or with the focus.
        told: label in their place, with what an engine says that does not tell its trees.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tree = TreeView(self)
        self.stepper = Stepper(self)
        self._title = self._line("name")
        self._title.setWordWrap(True)
        self._count = PlainLabel(parent=self)
        self._count.setProperty("role", "caption")
        self._legend = TreeLegend(self)
        self.detail = self._line("caption")
        self.detail.setWordWrap(True)
        self.detail.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.detail.setFixedHeight(3 * QFontMetrics(self.detail.font()).height())
        self.detail.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.told = label(parent=self)
        self.told.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.told.hide()
        heading = QHBoxLayout()
        heading.addWidget(self._title, 1)
        heading.addWidget(self._count)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(heading)
        layout.addWidget(self.told, 1)
        layout.addWidget(self.tree, 1)
        for widget in (self.detail, self.stepper, self._legend):
            layout.addWidget(widget)
        self.tree.described.connect(self._show_detail)
        self.stepper.zoomed.connect(self._zoom)
        self._show_detail("")

    def show_told(self, told: list[str]) -> None:
        """Show sentences in place of a tree, while there is none. []: the engine tells its trees."""
        self.told.setText("\n\n".join(told))
        self._make_room()

    def _make_room(self) -> None:
        event = self.tree.event_shown
        has_tree = event is not None and not (isinstance(event, IterationDone) and event.step is not None)
        is_told = bool(self.told.text()) and not has_tree
        for widget in (self.tree, self.detail, self.stepper, self._legend):
            widget.setVisible(not is_told)
        self.told.setVisible(is_told)

    def show_tree(self, event: TreeGrown | IterationDone | None) -> None:
        self.tree.show_tree(event)
        self._show_detail("")
        if event is not None:
            self._legend.show_sources(event.tree)
        summary = self._summary(event)
        showing = self._showing()
        self._title.setText(summary or self.tr("Token tree"))
        self._count.setText(showing)
        self._make_room()
        self.tree.setAccessibleDescription(" ".join([summary, showing]).strip() or tree_view.nothing())

    def _line(self, role: str) -> QLabel:
        line = PlainLabel(parent=self)
        line.setProperty("role", role)
        line.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        return line

    def _show_detail(self, text: str) -> None:
        self.detail.setText(
            text or self._contribution() or self.tr("Point at a token or select one with the arrow keys.")
        )

    def _contribution(self) -> str:
        """Return the text that the shown iteration added to the answer; "" if unknown."""
        event = self.tree.event_shown
        if not isinstance(event, IterationDone) or event.committed is None:
            return ""
        text = " ".join("".join(event.committed.pieces).split())
        return self.tr("Added to the answer: “{}”").format(text) if text else ""

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
                return text.format(event.iteration, accepted_of(event), formatting.number(drafted_of(event)))
            case TreeGrown():
                text = self.tr("Iteration {}: {} drafted")
                return text.format(event.iteration, formatting.number(len(event.tree.tokens)))

    def _showing(self) -> str:
        placed = self.tree.placed
        if placed is None or placed.shown == placed.total:
            return ""
        return self.tr("showing {} of {}").format(
            formatting.number(placed.shown), formatting.number(placed.total)
        )
