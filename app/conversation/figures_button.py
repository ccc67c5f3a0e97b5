"""The button below an answer that shows its figures."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QSizePolicy, QWidget

from app.rendering.quiet_button import QuietButton
from app.widgets.plain_text import PlainLabel, plain

BELOW = 4  # pixels between the button and the figures


class FiguresButton(QuietButton):
    """A small “i” and an answer's speed, which show its figures: as a tool tip, and, when clicked, as text to
    select.

    Attributes:
        figures: names and values, in order.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", self.tr("Figures of this answer"), parent, icon_name="info")
        self.figures: Sequence[tuple[str, str]] = ()
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._speed, self._room = "", 0
        self.clicked.connect(self._open)
        self.show_figures(())

    def minimumSizeHint(self) -> QSize:
        """Return the size of the “i” alone, so that the speed never widens the chat."""
        return QSize(self.sizeHint().height(), self.sizeHint().height())

    def fit(self, room: int) -> None:
        """Show the speed, too, if this many pixels have room for it."""
        self._room = room
        # Another text asks for another layout, which asks whether there is room: so it is set once.
        self.setText(self._speed if self.size_with([self._speed]).width() <= room else "")

    def show_figures(self, figures: Sequence[tuple[str, str]], speed: str = "") -> None:
        """Offer these figures; the button is hidden if there are none. speed: shown beside the “i”."""
        self.figures = figures
        self._speed = speed
        self.fit(self._room)
        lines = "\n".join(f"{name}: {value}" for name, value in figures)
        self.setToolTip(plain(lines))
        self.setAccessibleDescription(lines)
        self.setVisible(bool(figures))

    def _open(self) -> None:
        table = FiguresPopup(self.figures, self)
        table.adjustSize()
        above = self.mapToGlobal(QPoint(0, -table.height() - BELOW))
        fits = above.y() >= self.screen().availableGeometry().top()
        table.move(above if fits else self.mapToGlobal(QPoint(0, self.height() + BELOW)))
        table.show()
        table.setFocus()


class FiguresPopup(QFrame):
    """A popup with the figures; a click elsewhere or Esc closes it."""

    def __init__(self, figures: Sequence[tuple[str, str]], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("figures")
        self.setAccessibleName(parent.accessibleName())
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        grid = QGridLayout(self)
        grid.setContentsMargins(14, 10, 14, 10)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(4)
        for row, (name, value) in enumerate(figures):
            caption = PlainLabel(name, self)
            caption.setProperty("role", "muted")
            shown = PlainLabel(value, self)
            shown.setAccessibleName(name)
            shown.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
            grid.addWidget(caption, row, 0)
            grid.addWidget(shown, row, 1)
