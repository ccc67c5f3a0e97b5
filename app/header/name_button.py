"""The button with the model's name."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import (
    QSizePolicy,
    QStyle,
    QStyleOptionToolButton,
    QStylePainter,
    QToolButton,
    QWidget,
)

MOST_CHARACTERS, LEAST_CHARACTERS = 64, 10  # of average width


class NameButton(QToolButton):
    """A button whose text is shortened in its middle to the width that there is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return self._size(MOST_CHARACTERS)

    def minimumSizeHint(self) -> QSize:
        return self._size(LEAST_CHARACTERS)

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        room = self.width() - self._beside()
        option.text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, room)
        QStylePainter(self).drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)

    def _size(self, characters: int) -> QSize:
        """Return the size with the whole name, or with this many characters of it."""
        width = min(characters * self.fontMetrics().averageCharWidth(), self._whole_text())
        return QSize(self._beside() + width, super().sizeHint().height())

    def _beside(self) -> int:
        """Return the width that is not the text's."""
        return super().sizeHint().width() - self._whole_text()

    def _whole_text(self) -> int:
        """Return the width of the whole text, rounded up: half a pixel less would shorten it."""
        return self.fontMetrics().size(Qt.TextFlag.TextShowMnemonic, self.text()).width()
