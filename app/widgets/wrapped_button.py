"""A button whose text wraps."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStyle, QStyleOptionButton, QStylePainter, QWidget

BESIDE, ABOVE = 14, 9  # pixels around the text
AS_OTHERS = 6  # above the text of a button that is as high as others
FLAGS = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter)


class WrappedButton(QPushButton):
    """A button for a sentence: where it is too long for one line, it takes more lines."""

    def __init__(self, parent: QWidget | None = None, above: int = ABOVE) -> None:
        """above: pixels above the text and below it."""
        super().__init__(parent)
        self._above = above
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        width = self.fontMetrics().horizontalAdvance(self.text()) + 2 * BESIDE + 2
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        widest = max(map(self.fontMetrics().horizontalAdvance, self.text().split()), default=0)
        return QSize(widest + 2 * BESIDE + 2, self.fontMetrics().height() + 2 * self._above)

    def heightForWidth(self, width: int) -> int:
        room = QRect(0, 0, width - 2 * BESIDE, 100_000)
        return self.fontMetrics().boundingRect(room, FLAGS, self.text()).height() + 2 * self._above

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = ""
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        painter.setPen(self.palette().buttonText().color())
        painter.drawText(self.rect().adjusted(BESIDE, 0, -BESIDE, 0), FLAGS, self.text())
