"""The buttons below every page."""

from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.wizard.parts import button, set_role


class Foot(QFrame):
    """
    Attributes:
        main, back, leave: its buttons.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("wizard_foot")
        self.leave = button(self.tr("Close"), parent=self)
        self.back = button("", parent=self)
        self.main = button("", parent=self)
        set_role(self.main, "main")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(28, 12, 28, 14)
        layout.setSpacing(8)
        layout.addWidget(self.leave)
        layout.addStretch(1)
        layout.addWidget(self.back)
        layout.addWidget(self.main)

    def show_state(self, main: str, enabled: bool, back: str) -> None:
        """main, back: what they say; back: "" where there is no way back."""
        self.main.setText(main)
        self.main.setAccessibleName(main)
        self.main.setEnabled(enabled)
        self.back.setText(back)
        self.back.setAccessibleName(back)
        self.back.setVisible(bool(back))
