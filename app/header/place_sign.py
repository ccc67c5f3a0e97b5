"""The sign in the header that says where the text of the chats goes."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QWidget

from app.header.name_button import NameButton
from app.widgets.icons import icon
from app.widgets.plain_text import plain

ICON = 13  # pixels


class PlaceSign(NameButton):
    """A button that always says whether text stays on this machine or to which host and port it goes. It
    leads to the list of engines elsewhere.

    Attributes:
        place: host and port; "" is this machine.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("place_sign")
        self.setIconSize(QSize(ICON, ICON))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.place = ""
        self.show_place("")

    def show_place(self, place: str) -> None:
        changed, self.place = place != self.place, place
        self.setIcon(icon("elsewhere" if place else "here"))
        self.setText(self.tr("Goes to {}").format(place) if place else self.tr("On this machine"))
        said = self.tr("What you write stays on this machine.")
        if place:
            said = self.tr("What you write in chats is sent to {}, which answers.").format(place)
        self.setToolTip(plain(said))
        self.setAccessibleName(self.text())
        self.setAccessibleDescription(said)
        if changed:
            self.setProperty("elsewhere", bool(place))
            self.style().unpolish(self)
            self.style().polish(self)
            self.updateGeometry()
