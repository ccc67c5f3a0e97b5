"""The editors of option values: one widget class for each kind of option."""

import math
from collections.abc import Sequence

from PySide6.QtCore import QLocale, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QSlider,
    QSpinBox,
    QWidget,
)

from app.settings.options import Choice, Option, Range
from app.widgets.theme import LINE_HEIGHT

MAX_SPIN = 2**31 - 1
DECIMALS = 2
LINES_SHOWN = 4


class Editor(QWidget):
    """The base class of all editors.

    Attributes:
        focus: the widget that takes the keyboard focus.

    Signals:
        edited: the new value, which may be invalid, after the user changed it
    """

    edited = Signal(object)
    focus: QWidget

    def show_value(self, value: object) -> None:
        """Show a value without emitting `edited`."""
        raise NotImplementedError

    def _take(self, *widgets: QWidget) -> None:
        """Lay out the widgets in a row; the last one takes the remaining width."""
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        for widget in widgets:
            layout.addWidget(widget, 1 if widget is widgets[-1] else 0)
        self.focus = widgets[0]
        self.setFocusProxy(self.focus)


class ChoiceEditor(Editor):
    """A combo box of choices."""

    def __init__(self, choices: Sequence[Choice], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = QComboBox(self)
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.box.setMinimumContentsLength(24)
        self.offer(choices)
        self.box.activated.connect(lambda: self.edited.emit(self.box.currentData()))
        self._take(self.box)

    def offer(self, choices: Sequence[Choice]) -> None:
        """Replace the choices and keep the value shown."""
        shown = self.box.currentData()
        self.box.clear()
        for value, text in choices:
            self.box.addItem(text, value)
        if shown is not None:
            self.show_value(shown)

    def show_value(self, value: object) -> None:
        """Show a value; one that is not offered is added under its own name."""
        if self.box.findData(value) < 0:
            self.box.addItem(self.tr("{} (not available)").format(value), value)
        self.box.setCurrentIndex(self.box.findData(value))


class SwitchEditor(Editor):
    """A check box."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = QCheckBox(self)
        self.box.setMinimumHeight(LINE_HEIGHT)
        self.box.clicked.connect(lambda: self.edited.emit(self.box.isChecked()))
        self._take(self.box)

    def show_value(self, value: object) -> None:
        self.box.setChecked(bool(value))


class Snapping(QSpinBox):
    """A spin box that steps from one multiple of its step to the next."""

    def stepBy(self, steps: int) -> None:
        whole, rest = divmod(self.value(), self.singleStep())
        self.setValue((whole + steps + (steps < 0 and rest > 0)) * self.singleStep())


class WholeEditor(Editor):
    """A spin box for a whole number. In an optional field, the lowest number minus 1 stands for None."""

    def __init__(self, option: Option, span: Range, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._optional = span.optional
        self.box = Snapping(self)
        self.box.setRange(int(span.lowest) - span.optional, int(min(span.highest, MAX_SPIN)))
        self.box.setSingleStep(int(option.step))
        self.box.setSpecialValueText(option.lowest)
        self.box.setSuffix(f" {option.unit}" if option.unit else "")
        self.box.setGroupSeparatorShown(True)
        self.box.setMinimumWidth(150)
        self.box.valueChanged.connect(self._say)
        self._take(self.box, QWidget(self))

    def show_value(self, value: object) -> None:
        with QSignalBlocker(self.box):
            self.box.setValue(self.box.minimum() if value is None else min(int(value), MAX_SPIN))  # type: ignore[call-overload]

    def _say(self, value: int) -> None:
        self.edited.emit(None if self._optional and value == self.box.minimum() else value)


class FractionEditor(Editor):
    """A spin box for a number, with a slider if the option has a usual range.

    In an optional field, the lower end of the range, which is not a valid value, stands for None.
    """

    def __init__(self, option: Option, span: Range, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._optional = span.optional
        self._step = option.step
        tick = 10.0**-DECIMALS
        lowest = span.lowest + tick if span.is_open and not span.optional else span.lowest
        self.box = QDoubleSpinBox(self)
        self.box.setDecimals(DECIMALS)
        self.box.setRange(lowest, span.highest if math.isfinite(span.highest) else 1e6)
        self.box.setSingleStep(option.step)
        self.box.setSpecialValueText(option.lowest)
        self.box.setSuffix(f" {option.unit}" if option.unit else "")
        self.box.setMinimumWidth(110 if option.usual else 150)
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setAccessibleName(option.text)
        self.slider.setVisible(option.usual is not None)
        if option.usual:
            self.slider.setRange(*(round(end / option.step) for end in option.usual))
            self.slider.valueChanged.connect(lambda place: self.box.setValue(place * self._step))
        self.box.valueChanged.connect(self._say)
        self._take(self.box, self.slider if option.usual else QWidget(self))

    def show_value(self, value: object) -> None:
        with QSignalBlocker(self.box):
            self.box.setValue(self.box.minimum() if value is None else float(value))  # type: ignore[arg-type]
        self._follow()

    def _say(self, value: float) -> None:
        self._follow()
        value = round(value, DECIMALS)
        self.edited.emit(None if self._optional and value == self.box.minimum() else value)

    def _follow(self) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(round(self.box.value() / self._step))


class LargeEditor(Editor):
    """An input field for a whole number of any size; an empty field stands for None."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = QLineEdit(self)
        self.line.setMinimumHeight(LINE_HEIGHT)
        self.line.textEdited.connect(lambda text: self.edited.emit(self._value(text.strip())))
        self._take(self.line)

    def show_value(self, value: object) -> None:
        self.line.setText("" if value is None else str(value))

    @staticmethod
    def _value(text: str) -> int | str | None:
        return int(text) if text.isascii() and text.isdigit() else text or None


class TextEditor(Editor):
    """An input field for text of several lines."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = QPlainTextEdit(self)
        self.text.setTabChangesFocus(True)
        self.text.setFixedHeight(self.text.fontMetrics().lineSpacing() * LINES_SHOWN + 18)
        self.text.textChanged.connect(lambda: self.edited.emit(self.value_of(self.text.toPlainText())))
        self._take(self.text)

    def show_value(self, value: object) -> None:
        with QSignalBlocker(self.text):
            self.text.setPlainText(self.text_of(value))

    def sizeHint(self) -> QSize:
        return QSize(360, self.text.height())

    def value_of(self, text: str) -> object:
        """Return the value that the text stands for."""
        return text

    def text_of(self, value: object) -> str:
        """Return the text that shows a value."""
        return str(value)


class LinesEditor(TextEditor):
    """An input field for a list of texts, one per line; "\\n" stands for a line break within a text."""

    def value_of(self, text: str) -> object:
        return [line.replace("\\n", "\n") for line in text.split("\n") if line]

    def text_of(self, value: object) -> str:
        assert isinstance(value, list)
        return "\n".join(line.replace("\n", "\\n") for line in value)


class BiasesEditor(TextEditor):
    """An input field for numbers by token id, each on a line of the form "id: number"."""

    def value_of(self, text: str) -> object:
        """Return the numbers by token id, or the text itself if a line is invalid."""
        pairs = [line.partition(":") for line in text.splitlines() if line.strip()]
        try:
            return {int(id): float(number) for id, _, number in pairs}
        except ValueError:
            return text

    def text_of(self, value: object) -> str:
        assert isinstance(value, dict)
        return "\n".join(f"{id}: {QLocale.c().toString(number, 'g', 6)}" for id, number in value.items())


def editor_for(option: Option, span: Range | None, parent: QWidget) -> Editor:
    """Return a new editor for an option. `span`: its range if it is a number, else None."""
    match option.kind:
        case "choice":
            return ChoiceEditor(option.choices, parent)
        case "switch":
            return SwitchEditor(parent)
        case "large":
            return LargeEditor(parent)
        case "text":
            return TextEditor(parent)
        case "lines":
            return LinesEditor(parent)
        case "biases":
            return BiasesEditor(parent)
    assert span is not None
    return (WholeEditor if option.kind == "whole" else FractionEditor)(option, span, parent)
