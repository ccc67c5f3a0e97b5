"""The card about models that earlier versions kept in the cache, on the models page."""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.widgets.form_parts import Card, button, label
from engine import catalog


class LeftBehind(Card):
    """A card that offers to move the models out of the cache; hidden if there are none.

    Attributes:
        move_here, stay: the buttons that move the models, and that leave them there for good.

    Signals:
        move_asked: Path of the folder with the models, Path of the folder to move them to
        stay_asked: Path of the folder with the models, which is to remain the models folder
    """

    move_asked = Signal(Path, Path)
    stay_asked = Signal(Path)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._found: tuple[Path, Path] | None = None
        self._text = label(parent=self)
        self.move_here = button(self.tr("Move models"), parent=self)
        self.stay = button(self.tr("Leave them there"), parent=self)
        self.move_here.clicked.connect(self._ask)
        self.stay.clicked.connect(self._keep)
        row = QHBoxLayout()
        row.addWidget(self.move_here)
        row.addWidget(self.stay)
        row.addStretch(1)
        self.column.addWidget(self._text)
        self.column.addSpacing(4)
        self.column.addLayout(row)
        self.hide()

    def look(self) -> None:
        """Look for such models, and show or hide the card."""
        self._found = catalog.left_behind()
        self.setVisible(self._found is not None)
        if self._found is not None:
            former, usual = self._found
            # Only the folder in use can be kept, or the models in the folder chosen since would be lost.
            self.stay.setVisible(catalog.models_folder() == former)
            self._text.setText(
                self.tr(
                    "Models from an earlier version are in {}, a cache, which clean-up programs may empty. "
                    "They are safer in {}."
                ).format(former, usual)
            )

    def _ask(self) -> None:
        if self._found is not None:
            self.move_asked.emit(*self._found)

    def _keep(self) -> None:
        if self._found is not None:
            self.stay_asked.emit(self._found[0])
