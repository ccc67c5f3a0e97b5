"""Text of a message: as high as what it holds, selectable, and inert."""

from PySide6.QtCore import QByteArray, Qt, QUrl, Signal
from PySide6.QtGui import QResizeEvent, QTextCursor, QTextDocument, QTextOption, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from app import markdown, theme


class TextBody(QTextBrowser):
    """Shows a document at its full height; opens and loads nothing by itself.

    Signals:
        link_clicked: QUrl
    """

    link_clicked = Signal(QUrl)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.document().setDocumentMargin(0)
        self._rendered: QTextDocument | None = None  # ours to delete, unlike the first
        self.anchorClicked.connect(self.link_clicked)

    def show_plain(self, text: str) -> None:
        self.setPlainText(text)
        self._fit()

    def show_markdown(self, text: str) -> None:
        """Parse and show `text`; what was selected stays selected, since text only grows."""
        selected = self.textCursor()
        document = markdown.render(text, theme.current(), self.font(), self)
        option = document.defaultTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        document.setDefaultTextOption(option)
        self.setDocument(document)
        if selected.hasSelection():
            self._select(document, selected.anchor(), selected.position())
        if self._rendered is not None:
            self._rendered.deleteLater()
        self._rendered = document
        self._fit()

    def loadResource(self, kind: int, name: QUrl | str) -> QByteArray:
        return QByteArray()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the transcript scrolls

    def _fit(self) -> None:
        self.document().setTextWidth(self.viewport().width())
        self.setFixedHeight(int(self.document().size().height()) + 2)

    def _select(self, document: QTextDocument, anchor: int, position: int) -> None:
        end = document.characterCount() - 1
        cursor = QTextCursor(document)
        cursor.setPosition(min(anchor, end))
        cursor.setPosition(min(position, end), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
