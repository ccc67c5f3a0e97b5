"""An unobtrusive button, and one that copies text."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFocusEvent, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.widgets import theme
from app.widgets.plain_text import plain

RADIUS = 5
BESIDE, ABOVE = 8, 4  # pixels around the text


class QuietButton(QAbstractButton):
    """A text button without a frame; `name` describes its action for the tool tip and screen readers.

    It paints itself: a chat holds many, and applying a style sheet to each is slow.
    """

    def __init__(self, text: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFont(theme.smaller(self.font()))
        self.setText(text)
        self.setAccessibleName(name)
        self.setToolTip(plain(name))
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + 2 * BESIDE, metrics.height() + 2 * ABOVE)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.current()
        is_lit = self.isEnabled() and (self.underMouse() or self.isDown())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(colours.accent) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.border) if is_lit else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        quiet = colours.muted if self.isEnabled() else colours.outline
        painter.setPen(QColor(colours.text if is_lit else quiet))
        beside = self.rect().adjusted(BESIDE, 0, -BESIDE, 0)
        painter.drawText(beside, Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter, self.text())


class CopyButton(QuietButton):
    """Copies the text that `read` returns, and shows "Copied" until the pointer or the focus leaves."""

    def __init__(self, name: str, read: Callable[[], str], parent: QWidget | None = None) -> None:
        super().__init__("", name, parent)
        self._read = read
        for text in (self.tr("Copied"), self.tr("Copy")):
            self.setText(text)
            self.setMinimumWidth(max(self.minimumWidth(), self.sizeHint().width()))
        self.clicked.connect(self._copy)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.setText(self.tr("Copy"))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.setText(self.tr("Copy"))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._read())
        self.setText(self.tr("Copied"))
