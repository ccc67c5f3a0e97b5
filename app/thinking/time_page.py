"""Where the time of an answer went, iteration by iteration."""

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from app.thinking import rates, run_words
from app.thinking.bars import Histogram, IterationBars, LayerStrip
from app.thinking.rates import Rates
from app.thinking.speed_plot import SpeedPlot
from engine.protocol.messages import IterationDone, Link, Loaded, PassProgress


class TimePage(QWidget):
    """Hidden, it only counts. Attributes: `bars`, `layers`, `rates`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars = IterationBars(self)
        self.layers = LayerStrip(self)
        self.rates = Rates()
        self._histogram = Histogram(self)
        self._plot = SpeedPlot(self)
        self._link: Link | None = None
        self._link_use = self._caption("")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self._caption(self.tr("Seconds of each iteration")))
        layout.addWidget(self.bars, 2)
        layout.addWidget(self._link_use)
        layout.addWidget(self._caption(self.tr("Layers of the pass under way")))
        layout.addWidget(self.layers)
        below = QGridLayout()
        below.setHorizontalSpacing(20)
        below.addWidget(self._caption(self.tr("Tokens/s")), 0, 0)
        below.addWidget(self._caption(self.tr("Tokens accepted, how often")), 0, 1)
        below.addWidget(self._plot, 1, 0)
        below.addWidget(self._histogram, 1, 1)
        below.setColumnStretch(0, 3)
        below.setColumnStretch(1, 2)
        layout.addLayout(below, 3)

    def show_loaded(self, loaded: Loaded) -> None:
        self._link = loaded.link
        self.layers.show_pass(0, loaded.target.layers)
        nothing = self.tr("All weights are in memory: nothing is streamed.")
        self._link_use.setText(nothing if loaded.link is None else "")

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
        used = rates.link_gb_per_s(done)
        if self._link is not None and used is not None:
            self._link_use.setText(run_words.link_use(used, self._link))

    def refresh(self) -> None:
        """Draw what was added; nothing where nobody looks."""
        self._draw()

    def showEvent(self, event: QEvent) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._draw()

    def _draw(self) -> None:
        if self.isVisible():
            self._plot.show_moments(self.rates.moments)
            self._histogram.show_counts(self.rates.lengths)

    def _caption(self, text: str) -> QLabel:
        caption = QLabel(text, self)
        caption.setProperty("role", "caption")
        return caption
