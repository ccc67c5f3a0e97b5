"""Controls below the tree: pause, step and slide through the iterations, zoom."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QSlider, QToolButton, QWidget

from app import formatting
from app.panel.history import RunHistory
from app.widgets.plain_text import PlainLabel, plain

BUTTON_WIDTH = 34  # in pixels; a button with a wide sign is wider


class Stepper(QWidget):
    """Row of controls that shows which iteration is in view and lets the user choose another.

    Attributes:
        older, newer, pause: the buttons.
        slider: a place for each iteration that is kept.

    Signals:
        slid: int, place in the history that the slider was moved to
        stepped: int, number of iterations to move by (negative: back)
        pause_toggled: bool, whether to hold the iteration in view
        zoomed: float, factor to zoom by; 0 to fit the whole tree
    """

    slid = Signal(int)
    stepped = Signal(int)
    pause_toggled = Signal(bool)
    zoomed = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        self.older = self._button("◀", self.tr("Previous iteration (Ctrl+Alt+Left)"), "Ctrl+Alt+Left")
        self.pause = self._button("❚❚", self.tr("Pause at this iteration (Alt+P)"), "Alt+P")
        self.pause.setCheckable(True)
        self.newer = self._button("▶", self.tr("Next iteration (Ctrl+Alt+Right)"), "Ctrl+Alt+Right")
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setAccessibleName(self.tr("Iteration"))
        self.slider.setToolTip(self.tr("Iterations of the answer; at the right end, the newest one is shown"))
        self.slider.setMinimumWidth(48)
        self.slider.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._where = PlainLabel(parent=self)
        self._where.setProperty("role", "caption")
        smaller = self._button("−", self.tr("Zoom out (−)"))
        fit = self._button("⤢", self.tr("Fit the whole tree (0)"))
        larger = self._button("+", self.tr("Zoom in (+)"))
        for widget in (self.older, self.pause, self.newer):
            layout.addWidget(widget)
        layout.addSpacing(4)
        layout.addWidget(self.slider, 1)
        layout.addSpacing(4)
        layout.addWidget(self._where)
        layout.addSpacing(8)
        for widget in (smaller, fit, larger):
            layout.addWidget(widget)
        self.older.clicked.connect(lambda: self.stepped.emit(-1))
        self.newer.clicked.connect(lambda: self.stepped.emit(1))
        self.pause.clicked.connect(self.pause_toggled)
        self.slider.valueChanged.connect(self.slid)
        smaller.clicked.connect(lambda: self.zoomed.emit(1 / 1.25))
        larger.clicked.connect(lambda: self.zoomed.emit(1.25))
        fit.clicked.connect(lambda: self.zoomed.emit(0.0))

    def show_history(self, history: RunHistory) -> None:
        kept, current = history.iterations, history.current
        self.older.setEnabled(bool(kept) and current is not None and current.iteration > kept[0].iteration)
        self.newer.setEnabled(bool(kept) and current is not None and current.iteration < kept[-1].iteration)
        self.pause.setEnabled(bool(kept))
        self.pause.setChecked(not history.is_live)
        self._where.setText(self._words(history))
        with QSignalBlocker(self.slider):
            self.slider.setEnabled(len(kept) > 1)
            self.slider.setRange(0, max(0, len(kept) - 1))
            self.slider.setPageStep(max(1, len(kept) // 10))
            self.slider.setValue(max(0, history.place))

    def _words(self, history: RunHistory) -> str:
        if history.current is None:
            return ""
        newest = formatting.number(history.iterations[-1].iteration)
        return self.tr("{} of {}").format(formatting.number(history.current.iteration), newest)

    def _button(self, sign: str, name: str, shortcut: str = "") -> QToolButton:
        button = QToolButton(self)
        button.setText(sign)
        button.setToolTip(plain(name))
        button.setAccessibleName(name)
        if shortcut:
            button.setShortcut(shortcut)
        button.setMinimumWidth(BUTTON_WIDTH)
        return button
