"""A form built from a list of options."""

from collections.abc import Sequence
from typing import Generic

from msgspec import Struct
from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QSlider,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.settings.editors import ChoiceEditor, Editor, editor_for
from app.settings.options import Choice, Option, OptionSection, Record, get, is_valid, range_at, replaced
from app.widgets.form_parts import Scrolling
from app.widgets.icons import icon
from app.widgets.plain_text import PlainLabel
from app.widgets.theme import LINE_HEIGHT

TYPING_PAUSE_MS = 400
QWIDGETSIZE_MAX = (1 << 24) - 1  # Qt: no limit
FEW = 8  # a form with up to this many options has no search field
NAME_CHARACTERS = 25  # width of the column of names
NARROW_CHARACTERS = 68  # in a narrower form, the editors stand below the names


class OptionRow(QWidget):
    """The row of one option: name, editor, help text, and a reset button.

    Signals:
        edited: the new value after the user changed it
    """

    edited = Signal(object)

    def __init__(self, option: Option, record: type[Struct], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.option = option
        self._record = record
        self._default: object = None
        self._reason = ""  # why the option cannot be changed now
        self._name = PlainLabel(option.text, self)
        self._name.setWordWrap(True)
        above = (LINE_HEIGHT - self._name.fontMetrics().height()) // 2
        self._name.setContentsMargins(0, above, 0, 0)  # aligns the name with the text in the editor
        span = range_at(record, option.path) if option.kind in ("whole", "fraction") else None
        self.editor: Editor = editor_for(option, span, self)
        self.editor.focus.setAccessibleName(option.text)
        self.editor.focus.setAccessibleDescription(option.help)
        self._help = PlainLabel(parent=self)
        self._help.setProperty("role", "caption")
        self._help.setWordWrap(True)
        self.reset = QToolButton(self)
        self.reset.setIcon(icon("reset"))
        self.reset.setToolTip(self.tr("Reset"))
        self.reset.setAccessibleName(self.tr("Reset: {}").format(option.text))
        keep = self.reset.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(keep)
        self.reset.clicked.connect(lambda: self._take(self._default, show=True))
        self.editor.edited.connect(self._take)
        self._build()

    def _build(self) -> None:
        self._grid = layout = QGridLayout(self)
        layout.setContentsMargins(0, 6, 0, 6)
        layout.setHorizontalSpacing(12)
        layout.setVerticalSpacing(3)
        layout.setColumnStretch(1, 1)
        self._arrange(is_narrow=False)

    def _arrange(self, *, is_narrow: bool) -> None:
        """Put the editor beside the name, or below it."""
        self._is_narrow = is_narrow
        for widget in (self._name, self.editor, self.reset, self._help):
            self._grid.removeWidget(widget)
        width = NAME_CHARACTERS * self.fontMetrics().averageCharWidth()
        top = Qt.AlignmentFlag.AlignTop
        if is_narrow:
            self._name.setMinimumWidth(0)
            self._name.setMaximumWidth(QWIDGETSIZE_MAX)
            self._grid.addWidget(self._name, 0, 0, 1, 3)
        else:
            self._name.setFixedWidth(width)
            self._grid.addWidget(self._name, 0, 0, top)
        below = 1 if is_narrow else 0
        self._grid.addWidget(self.editor, below, 1)
        self._grid.addWidget(self.reset, below, 2, top)
        self._grid.addWidget(self._help, below + 1, 1)

    def minimumSizeHint(self) -> QSize:
        """Return the width with the editor below the name."""
        beside = self.reset.sizeHint().width() + self._grid.horizontalSpacing()
        width = self.editor.minimumSizeHint().width() + beside
        return QSize(width, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = event.size().width() < NARROW_CHARACTERS * self.fontMetrics().averageCharWidth()
        if is_narrow != self._is_narrow:
            self._arrange(is_narrow=is_narrow)

    def show_value(self, value: object, default: object) -> None:
        """Show a value. `default`: the value that the reset button restores."""
        self._default = default
        self.editor.show_value(value)
        self._mark(value)

    def disable(self, reason: str) -> None:
        """Let the user see the value only, and say why."""
        self._reason = reason
        self.editor.setEnabled(False)
        self._mark(self._default)

    def matches(self, words: Sequence[str]) -> bool:
        """Return whether each of the case-folded `words` occurs in the option's name, help text or path."""
        text = f"{self.option.text} {self.option.help} {self.option.path}".casefold()
        return all(word in text for word in words)

    def _take(self, value: object, *, show: bool = False) -> None:
        if show:
            self.editor.show_value(value)
        self._mark(value)
        if is_valid(self._record, self.option.path, value):
            self.edited.emit(value)

    def _mark(self, value: object) -> None:
        """Make the name bold if the value is not the default, and the help text red if it is invalid."""
        differs = value != self._default and not self._reason
        valid = is_valid(self._record, self.option.path, value)
        self._name.setProperty("role", "name" if differs else "body")
        self._name.style().polish(self._name)
        self.reset.setVisible(differs)
        help = self._reason or self.option.help
        if self.option.reloads and not self._reason:
            help = self.tr("{} Takes effect when the model is reloaded.").format(help)
        self._help.setText(help if valid else self.tr("Invalid value, not used. {}").format(help))
        self._help.setProperty("role", "caption" if valid else "danger")
        self._help.style().polish(self._help)


class Form(QWidget, Generic[Record]):
    """A form for one record. Choices apply at once, typed input after a short pause.

    Attributes:
        search: the input field that hides all options except those that match its words.
        rows: the row of each option, by the option's path.
        value: the record with all changes, including those for which `changed` is still to be emitted.

    Signals:
        changed: the record after the user changed it
        shown: another record may be shown
    """

    changed = Signal(object)
    shown = Signal()

    def __init__(
        self,
        sections: Sequence[OptionSection],
        value: Record,
        default: Record,
        parent: QWidget | None = None,
        above: QWidget | None = None,
    ) -> None:
        """above: a widget to show above the options, which scrolls with them."""
        super().__init__(parent)
        self.value = value
        self._default = default
        self.search = QLineEdit(self)
        self.search.setMinimumHeight(LINE_HEIGHT)
        self.search.setPlaceholderText(self.tr("Search settings"))
        self.search.setAccessibleName(self.tr("Search settings"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.rows: dict[str, OptionRow] = {}
        self._titles: list[tuple[QLabel, list[OptionRow]]] = []
        self._nothing = PlainLabel(self.tr("No setting matches."), self)
        self._nothing.setProperty("role", "muted")
        self._nothing.hide()
        self._pause = QTimer(self, singleShot=True, interval=TYPING_PAUSE_MS)
        self._pause.timeout.connect(lambda: self.changed.emit(self.value))
        self._build(sections, above)
        self.search.setVisible(len(self.rows) > FEW)
        self.show_record(value, default)

    def _build(self, sections: Sequence[OptionSection], above: QWidget | None) -> None:
        page = QWidget(self)
        column = QVBoxLayout(page)
        column.setContentsMargins(4, 0, 12, 12)
        column.setSpacing(0)
        if above is not None:
            column.addWidget(above)
        column.addWidget(self._nothing)
        for section in sections:
            title = PlainLabel(section.title, page)
            title.setProperty("role", "section")
            column.addWidget(title)
            rows = [self._row(option, page) for option in section.options]
            self._titles.append((title, rows))
            for row in rows:
                column.addWidget(row)
        column.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self.search)
        layout.addWidget(Scrolling(page, self), 1)

    def _row(self, option: Option, parent: QWidget) -> OptionRow:
        row = self.rows[option.path] = OptionRow(option, type(self.value), parent)
        row.edited.connect(lambda value: self._take(option, value))
        for widget in (
            row.findChildren(QComboBox) + row.findChildren(QAbstractSpinBox) + row.findChildren(QSlider)
        ):
            widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            widget.installEventFilter(self)
        return row

    def show_record(self, value: Record, default: Record) -> None:
        """Show a record. `default`: the record that the reset buttons restore."""
        self.value, self._default = value, default
        for path, row in self.rows.items():
            row.show_value(get(value, path), get(default, path))
        self.shown.emit()

    def values(self) -> list[object]:
        """Return the values of the form's options, which may be a part of the record's."""
        return [get(self.value, path) for path in self.rows]

    def offer(self, path: str, choices: Sequence[Choice]) -> None:
        """Replace the choices of an option; needed if they depend on the machine or the loaded model."""
        editor = self.rows[path].editor
        assert isinstance(editor, ChoiceEditor)
        editor.offer(choices)
        editor.show_value(get(self.value, path))

    def reset_all(self) -> None:
        """Restore the default record."""
        self.put(self._default)

    def put(self, value: Record) -> None:
        """Show a record, and apply it as if the user had written it."""
        self._pause.stop()
        self.show_record(value, self._default)
        self.changed.emit(self.value)

    def flush(self) -> None:
        """Emit a pending change at once."""
        if self._pause.isActive():
            self._pause.stop()
            self.changed.emit(self.value)

    def _take(self, option: Option, value: object) -> None:
        self.value = replaced(self.value, option.path, value)
        self._pause.start()
        if option.kind in ("choice", "switch"):
            self.flush()

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        matches = {path: row.matches(words) for path, row in self.rows.items()}
        for path, row in self.rows.items():
            row.setVisible(matches[path])
        for title, rows in self._titles:
            title.setVisible(any(matches[row.option.path] for row in rows))
        self._nothing.setVisible(not any(matches.values()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the mouse wheel scroll the page, except over the editor that has the focus."""
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return super().eventFilter(watched, event)

    def hideEvent(self, event: QHideEvent) -> None:
        self.flush()
        super().hideEvent(event)
