"""The passages of files that an answer was given from, below it."""

from collections.abc import Sequence

from msgspec import structs
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.conversation import file_words
from app.rendering.quiet_button import QuietButton
from app.store import Passage
from app.widgets import theme
from app.widgets.flow import Flow
from app.widgets.plain_text import PlainLabel, plain

NAME_WIDTH = 320  # pixels of a file's name and page at most


class PassageList(QWidget):
    """A line with file and page of each passage; a click shows its text. Hidden while there is none.

    Signals:
        asked: Passage, which the user wants to read
    """

    asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Passages that the model has read"))
        self._flow = Flow(self)
        self._flow.setSpacing(2)
        self.hide()

    def show_passages(self, passages: Sequence[Passage]) -> None:
        """Show where these passages stand, once: each place once, with all that was read there."""
        if not passages:
            return
        places: dict[tuple[str, int], Passage] = {}
        for passage in passages:
            place = passage.file, passage.page
            before = f"{places[place].text}\n\n[…]\n\n" if place in places else ""
            places[place] = structs.replace(passage, text=before + passage.text)
        caption = PlainLabel(self.tr("Read for this answer:"), self)
        caption.setProperty("role", "caption")
        self._flow.addWidget(caption)
        for passage in places.values():
            self._flow.addWidget(self._button(passage))
        self.show()

    def _button(self, passage: Passage) -> QuietButton:
        place = file_words.place(passage)
        button = QuietButton(place, self.tr("Show the passage: {}").format(place), self)
        button.elides = Qt.TextElideMode.ElideMiddle
        button.setMaximumWidth(theme.enlarged(NAME_WIDTH))
        button.setToolTip(plain(place))
        button.clicked.connect(lambda: self.asked.emit(passage))
        return button
