"""An unobtrusive button, and one that copies text."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.widgets import icons, theme
from app.widgets.plain_text import plain

RADIUS = 5
BESIDE, ABOVE = 8, 4  # pixels around the text
AROUND = 3  # pixels around an icon


class QuietButton(QAbstractButton):
    """A button without a frame that shows an icon, a text or both; `name` describes its action for the tool
    tip and screen readers.

    It paints itself: a chat holds many, and applying a style sheet to each is slow.

    Attributes:
        icon_name: the icon that is shown, before the text if there is one, or "".
        elides: which part of the text is left out where it does not fit.
    """

    def __init__(self, text: str, name: str, parent: QWidget | None = None, *, icon_name: str = "") -> None:
        super().__init__(parent)
        self.icon_name = icon_name
        self.elides = Qt.TextElideMode.ElideRight
        self._is_revealed = True
        self.setText(text)
        self.setAccessibleName(name)
        self.setToolTip(plain(name))
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def reveal(self, is_revealed: bool) -> None:
        """Paint the button, or leave its place empty until it has the focus."""
        if is_revealed != self._is_revealed:
            self._is_revealed = is_revealed
            self.update()

    def sizeHint(self) -> QSize:
        return self.size_with(self.texts())

    def size_with(self, texts: Sequence[str]) -> QSize:
        """Return the size in pixels of a button that may show these texts."""
        metrics = QFontMetrics(self._small())
        height = metrics.height() + 2 * ABOVE
        # One pixel more than the advance, which is rounded: else the text would be elided.
        widest = max(map(metrics.horizontalAdvance, texts)) + 1
        if self.icon_name:
            return QSize(height + (widest + BESIDE if any(texts) else 0), height)
        return QSize(widest + 2 * BESIDE, height)

    def texts(self) -> Sequence[str]:
        """Return all texts that the button may show; it is as wide as the widest."""
        return [self.text()]

    def _small(self) -> QFont:
        return theme.smaller(QFont(self.font()))

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._is_revealed and not self.hasFocus():
            return
        colours = theme.current()
        is_lit = self.isEnabled() and (self.underMouse() or self.isDown())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        inset = colours.line / 2
        frame = QPen(QColor(colours.accent), colours.line)
        painter.setPen(frame if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.lit) if is_lit else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), RADIUS, RADIUS)
        quiet = colours.muted if self.isEnabled() else colours.outline
        colour = colours.text if is_lit else quiet
        room = self.rect().adjusted(BESIDE, 0, -BESIDE, 0)
        if self.icon_name:
            box = QRectF(0, 0, self.height(), self.height())
            icons.paint(painter, self.icon_name, box.adjusted(AROUND, AROUND, -AROUND, -AROUND), colour)
            room.setLeft(self.height())
        painter.setPen(QColor(colour))
        painter.setFont(self._small())
        text = painter.fontMetrics().elidedText(self.text(), self.elides, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter, text)


class CopyButton(QuietButton):
    """Copies the text that `read` returns, and shows that it did until the pointer or the focus leaves."""

    def __init__(
        self, name: str, read: Callable[[], str], parent: QWidget | None = None, *, is_icon: bool = False
    ) -> None:
        super().__init__("", name, parent, icon_name="copy" if is_icon else "")
        self._read = read
        self._show(is_copied=False)
        self.clicked.connect(self._copy)

    def texts(self) -> Sequence[str]:
        return [""] if self.icon_name else [self.tr("Copy"), self.tr("Copied")]

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._show(is_copied=False)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._show(is_copied=False)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._read())
        self._show(is_copied=True)

    def _show(self, is_copied: bool) -> None:
        if self.icon_name:
            self.icon_name = "check" if is_copied else "copy"
            self.update()
        else:
            self.setText(self.tr("Copied") if is_copied else self.tr("Copy"))
