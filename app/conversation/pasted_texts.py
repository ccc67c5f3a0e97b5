"""Long pasted texts, which are kept outside the field in which the user writes."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QToolButton, QVBoxLayout, QWidget

from app import formatting
from app.widgets.elided_label import ElidedLabel
from app.widgets.icons import icon
from app.widgets.plain_text import PlainLabel, plain

BEGIN = 200  # number of characters shown of a text, at most
MAX_ROWS = 4  # rows that are visible at once
PADDING, SPACING = 8, 2  # pixels above and below the text of a row, and between rows


class PastedTexts(QScrollArea):
    """A row for each long pasted text, with its begin, its length and a button that removes it. Hidden while
    there is none.

    Attributes:
        texts: the whole texts, in the order in which they were pasted.

    Signals:
        changed: the user removed a text
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.texts: list[str] = []
        self.setObjectName("column")
        self.setAccessibleName(self.tr("Pasted texts"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._show_rows()

    def add(self, text: str) -> None:
        """Add a text behind the others."""
        self.hold([*self.texts, text])

    def hold(self, texts: list[str]) -> None:
        """Hold these texts and no others."""
        self.texts = list(texts)
        self._show_rows()

    def _row_height(self) -> int:
        return self.fontMetrics().height() + 2 * PADDING

    def _remove(self, place: int) -> None:
        del self.texts[place]
        self._show_rows()
        self.changed.emit()

    def _show_rows(self) -> None:
        page = QWidget(self)
        page.setObjectName("column")
        rows = QVBoxLayout(page)
        rows.setContentsMargins(0, 0, 0, SPACING)
        rows.setSpacing(SPACING)
        for place, text in enumerate(self.texts):
            rows.addWidget(self._row(place, text))
        self.setWidget(page)
        self.setFixedHeight((self._row_height() + SPACING) * min(MAX_ROWS, len(self.texts)))
        self.setVisible(bool(self.texts))
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def _row(self, place: int, text: str) -> QFrame:
        row = QFrame(self)
        row.setObjectName("question")
        row.setFixedHeight(self._row_height())
        begin = ElidedLabel(row)
        begin.setText(" ".join(text[: 2 * BEGIN].split())[:BEGIN])
        length = PlainLabel(self.tr("{} characters").format(formatting.number(len(text))), row)
        length.setProperty("role", "caption")
        remove = QToolButton(row)
        remove.setIcon(icon("close"))
        remove.setAccessibleName(self.tr("Remove the pasted text"))
        remove.setToolTip(plain(remove.accessibleName()))
        remove.clicked.connect(lambda: self._remove(place))
        layout = QHBoxLayout(row)
        layout.setContentsMargins(12, 0, 4, 0)
        layout.addWidget(begin, 1)
        layout.addWidget(length)
        layout.addWidget(remove)
        return row
