"""The models on this machine, to be loaded with a click."""

from collections.abc import Container, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, Signal, SignalInstance
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import local_models, words
from app.header.memory import by_tier
from app.header.plans import Plans
from app.local_models import LocalPair
from app.preferences import RecentPair
from engine.planner import Plan
from engine.protocol.messages import Memory

PAIR = Qt.ItemDataRole.UserRole
WIDTH = 460
ROWS_SHOWN = 7


class Picker(QFrame):
    """Closes when something is chosen, or when a person clicks elsewhere.

    Attributes:
        filter: what a name must contain.
        models: the list; rows without data are headings.
        memory: what is taken of each tier.
        unload, reload, open, download: buttons.

    Signals:
        chosen: RecentPair, to be loaded
        unload_asked, reload_asked, wizard_asked: the buttons
    """

    chosen = Signal(object)
    unload_asked = Signal()
    reload_asked = Signal()
    wizard_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("model_picker")
        self.setAccessibleName(self.tr("Models"))
        self.models = QListWidget(self)
        self.models.setObjectName("models")
        self.models.setAccessibleName(self.tr("Models"))
        self.models.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.models.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.models.itemClicked.connect(self._choose)
        self.filter = QLineEdit(self)
        self.filter.setPlaceholderText(self.tr("Find a model on this machine"))
        self.filter.setAccessibleName(self.tr("Find a model on this machine"))
        self.filter.installEventFilter(self)
        self.filter.textChanged.connect(self._filter)
        self.filter.returnPressed.connect(lambda: self._choose(self.models.currentItem()))
        self.memory = QLabel(self)
        self.memory.setProperty("role", "caption")
        self.memory.setWordWrap(True)
        self.unload = self._button(self.tr("Unload"), self.tr("Give its memory back"), self.unload_asked)
        self.reload = self._button(self.tr("Load again"), self.tr("As it is set now"), self.reload_asked)
        self.open = QPushButton(self.tr("Open file…"), self)
        self.open.clicked.connect(self._ask_file)
        self.download = self._button(self.tr("Download models…"), "", self.wizard_asked)
        self.download.setProperty("role", "main")
        self._plans: Plans | None = None
        self._rows: list[tuple[LocalPair, QListWidgetItem]] = []
        self._build()

    def _build(self) -> None:
        lower = QHBoxLayout()
        for button in (self.unload, self.reload, self.open):
            lower.addWidget(button)
        lower.addStretch(1)
        lower.addWidget(self.download)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 10, 10, 10)
        layout.setSpacing(8)
        for widget in (self.filter, self.models, self.memory):
            layout.addWidget(widget)
        layout.addLayout(lower)
        self.setFixedWidth(WIDTH)
        line = self.fontMetrics().lineSpacing()
        self.models.setFixedHeight(ROWS_SHOWN * (2 * line + 10))

    def _button(self, text: str, tip: str, signal: SignalInstance) -> QPushButton:
        button = QPushButton(text, self)
        button.setToolTip(tip)
        button.clicked.connect(self.hide)
        button.clicked.connect(signal)
        return button

    def offer(self, recent: Sequence[RecentPair], held: Memory | None, *, can_unload: bool) -> None:
        """List what is here now. held: the memory that is taken by what is loaded."""
        pairs = local_models.pairs_here()
        named = {pair.target.name: pair for pair in pairs}
        self.models.clear()
        self._rows = []
        known = [each for each in recent if self._is_here(each, named)]
        if known:
            self._head(self.tr("Recent"))
            for each in known:
                self._add_recent(each, named.get(each.target or ""))
        self._head(self.tr("On this machine"))
        for pair in pairs:
            item = self._add(pair.target.text, self._details(pair), RecentPair(pair.target.name))
            self._rows.append((pair, item))
        if not pairs:
            self._head(self.tr("None yet: download one, or open a file."))
        self.unload.setEnabled(can_unload)
        self.memory.setText(by_tier(held) if held else "")
        self.memory.setVisible(held is not None)
        self.filter.clear()
        self._filter("")
        self.filter.setFocus()
        self._plan(pairs, held)

    @staticmethod
    def _is_here(pair: RecentPair, named: Container[str]) -> bool:
        return pair.target is None or pair.target in named or Path(pair.target).exists()

    def _head(self, text: str) -> None:
        item = QListWidgetItem(text, self.models)
        item.setFlags(Qt.ItemFlag.NoItemFlags)

    def _add(self, name: str, details: str, pair: RecentPair) -> QListWidgetItem:
        item = QListWidgetItem(f"{name}\n{details}", self.models)
        item.setData(PAIR, pair)
        return item

    def _add_recent(self, pair: RecentPair, here: LocalPair | None) -> None:
        if pair.target is None:
            name = self.tr("The model that comes with the program")
        else:
            name = here.target.text if here else Path(pair.target).name
        match pair.draft:
            case "auto":
                draft = self.tr("with the best draft here")
            case "none":
                draft = self.tr("no draft model")
            case _:
                draft = self.tr("draft {}").format(Path(pair.draft).name)
        self._add(name, draft, pair)

    def _details(self, pair: LocalPair, plan: str = "") -> str:
        draft = self.tr("draft {}").format(pair.draft.text) if pair.draft else self.tr("no draft model")
        return " · ".join(filter(None, [words.nbytes(pair.nbytes), plan, draft]))

    # -- plans -----------------------------------------------------------------------------------------------

    def _plan(self, pairs: Sequence[LocalPair], held: Memory | None) -> None:
        self._stop_planning()
        self._plans = Plans(pairs, held, self)
        self._plans.planned.connect(self._show_plan)
        self._plans.start()

    def _show_plan(self, place: int, plan: Plan) -> None:
        if self._plans and place < len(self._rows):
            pair, item = self._rows[place]
            item.setText(f"{pair.target.text}\n{self._details(pair, self._plans.said(plan))}")
            item.setToolTip(plan.missing or "")

    def _stop_planning(self) -> None:
        if self._plans:
            self._plans.stop()
            self._plans.deleteLater()
            self._plans = None

    # -- what a person does ----------------------------------------------------------------------------------

    def _choose(self, item: QListWidgetItem | None) -> None:
        if item and item.data(PAIR) and not item.isHidden():
            self.hide()
            self.chosen.emit(item.data(PAIR))

    def _ask_file(self) -> None:
        self.hide()
        path, _ = QFileDialog.getOpenFileName(
            self.parentWidget(), self.tr("Open model"), "", self.tr("Models (*.gguf config.json)")
        )
        if path:
            model = Path(path)
            self.chosen.emit(RecentPair(str(model.parent if model.name == "config.json" else model)))

    def _filter(self, text: str) -> None:
        items = [self.models.item(row) for row in range(self.models.count())]
        for item in items:
            item.setHidden(bool(item.data(PAIR)) and text.casefold() not in item.text().casefold())
        found = [item for item in items if item.data(PAIR) and not item.isHidden()]
        self.models.setCurrentItem(found[0] if found else items[0])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Up and down go through the list while the filter is typed into."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down)
        ):
            self.models.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)

    def hideEvent(self, event: QHideEvent) -> None:
        self._stop_planning()
        super().hideEvent(event)
