"""The bar that searches in the chat shown."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QTextEdit, QToolButton, QWidget
from shiboken6 import Shiboken

from app import formatting
from app.conversation.finder import Finder
from app.conversation.transcript import Transcript
from app.widgets.icons import icon
from app.widgets.plain_text import PlainLabel, plain
from app.widgets.search_field import SearchField

MOST_SELECTED = 100  # characters; longer selected text is not what one wants to find


class FindBar(QFrame):
    """A field for the words, how many matches there are, and buttons for the previous and the next one.

    Attributes:
        field: the field for the words.
        count: the label with the number of the match and of all matches.
        before, after, case, leave: the buttons from left to right.
    """

    def __init__(self, transcript: Transcript, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("find_bar")
        self._transcript = transcript
        self._finder = Finder(transcript)
        self._finder.changed.connect(self._show_count)
        self._focus_before: QWidget | None = None
        self.field = SearchField(self)
        self.field.setPlaceholderText(self.tr("Find in this chat"))
        self.field.setAccessibleName(self.tr("Find in this chat"))
        self.field.query_changed.connect(lambda _: self._seek())
        self.count = PlainLabel(parent=self)
        self.count.setProperty("role", "muted")
        self.before = self._button("up", self.tr("Previous match"), lambda: self._finder.step(-1))
        self.after = self._button("down", self.tr("Next match"), lambda: self._finder.step(1))
        self.case = self._button("", self.tr("Match case"), self._seek)
        self.case.setText(self.tr("Aa"))
        self.case.setCheckable(True)
        self.leave = self._button("close", self.tr("Close"), self.dismiss)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 8, 6)
        row.setSpacing(4)
        row.addWidget(self.field, 1)
        for widget in (self.count, self.before, self.after, self.case, self.leave):
            row.addWidget(widget)
        self.hide()

    def _button(self, drawn: str, name: str, do: Callable[[], object]) -> QToolButton:
        made = QToolButton(self)
        if drawn:
            made.setIcon(icon(drawn))
            made.setIconSize(QSize(16, 16))
        made.setAccessibleName(name)
        made.setToolTip(plain(name))
        made.clicked.connect(lambda: do())
        return made

    def open(self) -> None:
        """Show the bar, with what is selected in the chat as its words."""
        focus = QApplication.focusWidget()
        if focus is not None and not self.isAncestorOf(focus):
            self._focus_before = focus
        selected = focus.textCursor().selectedText() if isinstance(focus, QTextEdit) else ""
        if selected and "\u2029" not in selected and len(selected) <= MOST_SELECTED:
            self.field.setText(selected)
        self.show()
        self.field.setFocus()
        self.field.selectAll()
        self._seek()

    def step(self, by: int) -> None:
        """Go to the next (1) or the previous (-1) match; without words, ask for them."""
        if self.isVisible() and self.field.query():
            self._finder.step(by)
        else:
            self.open()

    def dismiss(self) -> None:
        """Hide the bar and give the focus back."""
        self.hide()
        before = self._focus_before
        if before is not None and Shiboken.isValid(before) and before.isVisible():
            before.setFocus()
        self._focus_before = None

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._finder.seek("")

    def event(self, event: QEvent) -> bool:
        """Keep Esc from the window, where it stops the answer."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            event.setAccepted(event.key() == Qt.Key.Key_Escape)
            return event.isAccepted()
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._finder.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        else:
            super().keyPressEvent(event)

    def _seek(self) -> None:
        if self.isVisible():
            self._finder.seek(self.field.query().strip(), is_exact=self.case.isChecked())
            self._show_count()

    def _show_count(self) -> None:
        matches, current = self._finder.matches, self._finder.current
        text = ""
        if matches:
            place = matches.index(current) + 1 if current in matches else 0
            shown = formatting.number(place) if place else "–"
            text = self.tr("{} of {}").format(shown, formatting.number(len(matches)))
        elif self.field.query().strip():
            text = self.tr("No matches")
        self.count.setText(text)
        for button in (self.before, self.after):
            button.setEnabled(bool(matches))
