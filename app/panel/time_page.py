"""Page with the time of an answer, iteration by iteration."""

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from app.panel import run_figures
from app.panel.bars import Histogram, IterationBars, LayerStrip
from app.panel.run_figures import Rates
from app.panel.speed_plot import SpeedPlot
from app.widgets.plain_text import PlainLabel
from engine.protocol.messages import IterationDone, Link, Loaded, PassProgress


class TimePage(QWidget):
    """Page with charts of durations, layers, speed and accepted nodes. While hidden, it draws nothing.

    Attributes:
        bars, layers: the charts of iterations and of layers.
        rates: speed of the answer and its numbers of accepted nodes.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars = IterationBars(self)
        self.layers = LayerStrip(self)
        self.rates = Rates()
        self._histogram = Histogram(self)
        self._plot = SpeedPlot(self)
        self._link: Link | None = None
        self._link_use = self._caption("")
        self._link_use.setToolTip(
            self.tr("Weights that do not fit in the memory of the compute device are streamed in every pass.")
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.setSpacing(6)
        self._told = self._caption("")
        layout.addWidget(self._told)
        layout.addWidget(self._caption(self.tr("Seconds of each iteration")))
        layout.addWidget(self.bars, 2)
        layout.addWidget(self._link_use)
        layers = self._caption(self.tr("Layers of the current pass"))
        layers.setToolTip(self.tr("The target verifies the tree layer by layer."))
        layout.addWidget(layers)
        layout.addWidget(self.layers)
        below = QGridLayout()
        below.setHorizontalSpacing(20)
        below.addWidget(self._caption(self.tr("Tokens/s")), 0, 0)
        accepted = self._caption(self.tr("Accepted nodes per iteration"))
        accepted.setToolTip(
            self.tr("How often the target accepted 0, 1, 2 or more drafted tokens in one iteration.")
        )
        below.addWidget(accepted, 0, 1)
        below.addWidget(self._plot, 1, 0)
        below.addWidget(self._histogram, 1, 1)
        below.setColumnStretch(0, 3)
        below.setColumnStretch(1, 2)
        layout.addLayout(below, 3)

    def show_loaded(self, loaded: Loaded) -> None:
        self._link = loaded.link
        self.layers.show_pass(0, loaded.target.layers)
        nothing = self.tr("All weights are in memory; nothing is streamed.")
        self._link_use.setText(nothing if loaded.link is None and not loaded.place else "")

    def show_told(self, told: list[str]) -> None:
        """Say that the engine does not tell its trees, nor the time of each; []: it does."""
        self._told.setText(" ".join(told))
        self._told.setVisible(bool(told))

    def begin(self) -> None:
        self.rates = Rates()
        self.bars.clear()
        self._draw()

    def show_pass(self, progress: PassProgress) -> None:
        self.layers.show_pass(progress.done, progress.total)

    def add(self, done: IterationDone) -> None:
        self.rates.add(done)
        self.bars.add(done)
        self.layers.show_whole()
        used = run_figures.link_gb_per_s(done)
        if self._link is not None and used is not None:
            self._link_use.setText(run_figures.link_use(used, self._link))

    def refresh(self) -> None:
        """Draw speed and accepted nodes with all iterations added so far, if visible."""
        self._draw()

    def showEvent(self, event: QEvent) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._draw()

    def _draw(self) -> None:
        if self.isVisible():
            self._plot.show_moments(self.rates.moments)
            self._histogram.show_counts(self.rates.lengths)

    def _caption(self, text: str) -> QLabel:
        caption = PlainLabel(text, self)
        caption.setProperty("role", "caption")
        caption.setWordWrap(True)
        return caption
