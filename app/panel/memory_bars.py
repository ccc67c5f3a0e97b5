"""Chart of the memory in use: one stacked bar each for VRAM, RAM and SSD."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import formatting
from app.panel.bars import SWATCH, swatch
from app.widgets import theme
from engine.protocol.messages import Memory, MemoryPart

BAR_HEIGHT = 18
TIERS = ("vram", "ram", "ssd")


class MemoryBars(QWidget):
    """Widget with the chart: one bar per tier in use, all to one scale, each with a legend of its parts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._memory: Memory | None = None
        self.setAccessibleName(self.tr("Memory by tier"))
        self.setToolTip(
            self.tr(
                "target: the model that answers\n"
                "draft: the small model that proposes tokens\n"
                "heads: small networks that propose tokens from the target's own results\n"
                "experts: parts of a layer of which each token uses a few; those used most stay in memory\n"
                "KV cache: what a model remembers of the text so far\n"
                "slots: buffers into which streamed layers are loaded in turn"
            )
        )
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)

    def show_memory(self, memory: Memory | None) -> None:
        self._memory = memory
        self.setAccessibleDescription(". ".join(self.lines()) or self.tr("No model is loaded."))
        self.setMinimumHeight(self._needed())
        self.update()

    def lines(self) -> list[str]:
        """Return one line of text per tier that names all its parts."""
        return [
            f"{self._tier(tier, parts)}: " + ", ".join(self._part(part) for part in parts)
            for tier, parts in self._by_tier()
        ]

    def sizeHint(self) -> QSize:
        return QSize(300, max(240, self._needed()))

    def _line(self) -> int:
        return self.fontMetrics().height() + 4

    def _needed(self) -> int:
        """Return the height of everything that is painted."""
        tiers = self._by_tier()
        parts = sum(len(parts) for _, parts in tiers)
        return len(tiers) * (self._line() + BAR_HEIGHT + 16) + (parts + 3) * self._line()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        colours = theme.current()
        tiers = self._by_tier()
        painter.setPen(QColor(colours.muted))
        if not tiers:
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.tr("No model is loaded."))
            return
        whole = max(sum(part.nbytes for part in parts) for _, parts in tiers)
        y = 0.0
        for tier, parts in tiers:
            total = sum(part.nbytes for part in parts)
            painter.setPen(QColor(colours.text))
            title = f"{self._tier(tier, parts)}  {formatting.nbytes(total)}"
            painter.drawText(QRectF(0, y, self.width(), self._line()), Qt.AlignmentFlag.AlignVCenter, title)
            y = self._paint_tier(painter, y + self._line(), parts, whole) + 12
        assert self._memory is not None
        painter.setPen(QColor(colours.muted))
        peak = self.tr("Peak RAM of the engine, program included: {}.")
        flags = Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
        room = QRectF(0, y, self.width(), 3 * self._line())
        painter.drawText(room, flags, peak.format(formatting.nbytes(self._memory.peak)))

    def _paint_tier(self, painter: QPainter, y: float, parts: Sequence[MemoryPart], whole: int) -> float:
        """Paint the bar of a tier and its legend; return the y coordinate below the legend."""
        colours = theme.current()
        painter.fillRect(QRectF(0, y, self.width(), BAR_HEIGHT), QColor(colours.raised))
        x, line = 0.0, y + BAR_HEIGHT + 4
        for part in parts:
            colour, pattern = self._look(part)
            width = self.width() * part.nbytes / whole
            piece = QRectF(x, y, max(1.0, width - 1), BAR_HEIGHT)
            painter.fillRect(piece, QBrush(QColor(colour), pattern))
            x += width
            swatch(painter, QPointF(0, line + (self._line() - SWATCH) / 2), colour, pattern)
            painter.setPen(QColor(colours.muted))
            text = self._part(part)
            painter.drawText(
                QRectF(15, line, self.width(), self._line()), Qt.AlignmentFlag.AlignVCenter, text
            )
            line += self._line()
        return line

    def _by_tier(self) -> list[tuple[str, list[MemoryPart]]]:
        parts = self._memory.parts if self._memory else []
        grouped = [(tier, [part for part in parts if part.tier == tier]) for tier in TIERS]
        return [(tier, of_tier) for tier, of_tier in grouped if of_tier]

    def _tier(self, tier: str, parts: Sequence[MemoryPart]) -> str:
        is_whole = all(part.what == "target" for part in parts)
        return {
            "vram": self.tr("VRAM"),
            "ram": self.tr("RAM"),
            "ssd": self.tr("SSD, read in every pass") if is_whole else self.tr("SSD"),
        }[tier]

    def _part(self, part: MemoryPart) -> str:
        name = {
            "target": self.tr("target weights"),
            "target_experts": self.tr("all experts, read when needed")
            if part.tier == "ssd"
            else self.tr("experts in memory"),
            "target_ring": self.tr("slots for streamed layers"),
            "target_cache": self.tr("target KV cache"),
            "draft": self.tr("draft weights"),
            "draft_cache": self.tr("draft KV cache"),
            "prompt_cache": self.tr("other chats"),
            "heads": self.tr("heads"),
        }[part.what]
        return f"{name} {formatting.nbytes(part.nbytes)}"

    def _look(self, part: MemoryPart) -> tuple[str, Qt.BrushStyle]:
        c = theme.current()
        solid, striped = Qt.BrushStyle.SolidPattern, Qt.BrushStyle.BDiagPattern
        dense = Qt.BrushStyle.Dense3Pattern
        return {
            "target": (c.time_target, solid),
            "target_experts": (c.time_target, dense),
            "target_ring": (c.time_wait, striped),
            "target_cache": (c.time_target, striped),
            "draft": (c.time_draft, solid),
            "draft_cache": (c.time_draft, striped),
            "prompt_cache": (c.time_other, striped),
            "heads": (c.source_heads, solid),
        }[part.what]
