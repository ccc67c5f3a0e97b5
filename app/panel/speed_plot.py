"""Plot of the speed against the time: tokens/s over the last 30 seconds, and over the whole answer so far."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import formatting
from app.panel.run_figures import Moment
from app.widgets import theme


class SpeedPlot(QWidget):
    """Widget with the plot. It loads the plotting library when it first becomes visible."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._moments: Sequence[Moment] = ()
        self._plot: Any = None  # pyqtgraph has no types
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self.setMinimumHeight(110)
        self.setAccessibleName(self.tr("Tokens per second over time"))

    def show_moments(self, moments: Sequence[Moment]) -> None:
        self._moments = moments
        if moments:
            text = self.tr("now {} tokens/s, average {} tokens/s")
            newest = moments[-1]
            description = text.format(formatting.decimal(newest.recent), formatting.decimal(newest.whole))
            self.setAccessibleDescription(description)
        self._draw()

    def showEvent(self, event: QEvent) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()

    def _draw(self) -> None:
        if not self.isVisible():
            return
        import pyqtgraph

        colours = theme.current()
        if self._plot is None:
            self._plot = pyqtgraph.PlotWidget(self)
            self._plot.setMenuEnabled(False)
            self._plot.hideButtons()
            self._plot.setMouseEnabled(False, False)
            self._plot.addLegend(offset=(-8, -8))
            self._plot.setLabel("bottom", self.tr("seconds"))
            self._layout.addWidget(self._plot)
        plot = self._plot
        plot.setBackground(colours.surface)
        for side in ("left", "bottom"):
            plot.getAxis(side).setPen(colours.outline)
            plot.getAxis(side).setTextPen(colours.muted)
        item = plot.getPlotItem()
        item.clear()
        item.legend.setLabelTextColor(colours.muted)
        times = [moment.t for moment in self._moments]
        recent, whole = self.tr("last 30 s"), self.tr("whole answer")
        plot.setXRange(0, max(times, default=1.0))
        plot.setYRange(0, max((moment.recent for moment in self._moments), default=1.0) * 1.15)
        thick = pyqtgraph.mkPen(colours.accent, width=2)
        dashed = pyqtgraph.mkPen(colours.time_draft, width=2, style=Qt.PenStyle.DashLine)
        plot.plot(times, [moment.recent for moment in self._moments], pen=thick, name=recent)
        plot.plot(times, [moment.whole for moment in self._moments], pen=dashed, name=whole)
