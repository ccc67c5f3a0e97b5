"""Where in the wizard a person is."""

from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.wizard.parts import set_role


class Steps(QWidget):
    """The names of the steps in a row, the current one marked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(28, 12, 28, 0)
        self._row.setSpacing(22)

    def show_steps(self, names: list[str], current: int) -> None:
        while (item := self._row.takeAt(0)) is not None:
            if old := item.widget():
                old.hide()
                old.deleteLater()
        for number, name in enumerate(names):
            label = QLabel(f"{number + 1}  {name}", self)
            set_role(label, "current_step" if number == current else "step")
            self._row.addWidget(label)
        self._row.addStretch(1)
        told = self.tr("Step {} of {}: {}").format(current + 1, len(names), names[current])
        self.setAccessibleName(told)
