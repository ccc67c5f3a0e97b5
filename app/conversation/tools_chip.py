"""The chip below the composer that says how many tools the chat's answers may call, and turns them off."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app import formatting
from app.conversation.setting_chip import SettingChip
from app.widgets.form_parts import set_role
from app.widgets.plain_text import plain


class ToolsChip(SettingChip):
    """A chip that is a switch. Hidden while the settings allow no tools.

    Attributes:
        button: the switch.

    Signals:
        switched: bool, whether answers in this chat may call tools
    """

    switched = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.button.setCheckable(True)
        self.button.clicked.connect(self.switched)
        self.hide()

    def show_tools(self, names: list[str], *, is_on: bool) -> None:
        """Show the tools that answers may call, and whether the chat lets them."""
        count = formatting.number(len(names))
        self.button.setText(self.tr("Tools: {}").format(count) if is_on else self.tr("Tools: off"))
        self.button.setChecked(is_on)
        self.button.setAccessibleName(self.button.text())
        about = self.tr("Answers in this chat may call: {}") if is_on else self.tr("Let answers call: {}")
        self.button.setToolTip(plain(about.format(", ".join(names))))
        self.button.setAccessibleDescription(about.format(", ".join(names)))
        self.button.updateGeometry()
        set_role(self, "set" if is_on else "")
        self.setVisible(bool(names))
