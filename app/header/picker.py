"""Popup list of the models on this machine; a click loads one."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    Qt,
    Signal,
    SignalInstance,
)
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import formatting
from app.background import Work
from app.header import local_models, model_choice
from app.header.engine_rows import PAIR, EngineRows
from app.header.local_models import LocalPair
from app.header.memory import by_tier
from app.header.model_file import ask_for_model
from app.preferences import RecentPair
from app.widgets.flow import Flow
from app.widgets.icons import icon
from app.widgets.plain_text import PlainLabel, plain
from app.widgets.theme import LINE_HEIGHT
from engine import catalog, planner
from engine.hub import StoredModel
from engine.planner import Plan
from engine.protocol.messages import Helps, Loaded, Memory

HAS_BUTTON = Qt.ItemDataRole.UserRole + 1
WIDTH_CHARACTERS = 104
ROWS_SHOWN = 6
MARGIN = 16  # pixels of the screen beside the popup
LINE = "\u2028"  # separates the lines of a row, in Qt's options
PADDING, BUTTON_WIDTH = 14, 58  # pixels at the ends of a row; the second with the space around the button
ELIDED = Qt.TextElideMode.ElideRight


class _BesideButton(QStyledItemDelegate):
    """Elides each line of a row, before the button at its end if it has one."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        room = option.rect.width() - (BUTTON_WIDTH if index.data(HAS_BUTTON) else PADDING)
        lines = option.text.split(LINE)
        option.text = LINE.join(option.fontMetrics.elidedText(line, ELIDED, room) for line in lines)


class Picker(QFrame):
    """Popup that closes when the user chooses an entry or clicks elsewhere.

    Attributes:
        filter: text field; only the entries that contain all of its words are shown.
        models: the list of entries and headings; only entries have data, a RecentPair.
        memory: label with the memory in use.
        unload, reload, open, engines, download: buttons.
        elsewhere: the rows of models of engines elsewhere.
        menu: the menu of the downloaded model that it was opened for.

    Signals:
        chosen: RecentPair to load
        update_asked, delete_asked: StoredModel, for which the user wants newer files, or which to delete
        unload_asked, reload_asked, wizard_asked, engines_asked: the button unload, reload, download or
            engines was clicked
    """

    chosen = Signal(object)
    update_asked = Signal(object)
    delete_asked = Signal(object)
    unload_asked = Signal()
    reload_asked = Signal()
    wizard_asked = Signal()
    engines_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("model_picker")
        self.setAccessibleName(self.tr("Models"))
        self.models = QListWidget(self)
        self.models.setObjectName("models")
        self.models.setAccessibleName(self.tr("Models"))
        self.models.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.models.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.models.setItemDelegate(_BesideButton(self.models))
        self.models.itemClicked.connect(self._choose)
        self.models.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.models.customContextMenuRequested.connect(
            lambda place: self._open_menu(
                self.models.itemAt(place), self.models.viewport().mapToGlobal(place)
            )
        )
        self.filter = QLineEdit(self)
        self.filter.setMinimumHeight(LINE_HEIGHT)
        self.filter.setPlaceholderText(self.tr("Find a model on this machine"))
        self.filter.setAccessibleName(self.tr("Find a model on this machine"))
        self.filter.installEventFilter(self)
        self.filter.textChanged.connect(self._filter)
        self.filter.returnPressed.connect(lambda: self._choose(self.models.currentItem()))
        self.memory = PlainLabel(parent=self)
        self.memory.setProperty("role", "caption")
        self.memory.setWordWrap(True)
        self.unload = self._button(self.tr("Unload"), self.unload_asked)
        self.unload.setToolTip(self.tr("Remove the model from memory"))
        self.reload = self._button(self.tr("Reload"), self.reload_asked)
        self.reload.setToolTip(self.tr("Load the model again with the current settings"))
        self.open = QPushButton(self.tr("Open file…"), self)
        self.open.clicked.connect(self._ask_file)
        self.engines = self._button(self.tr("Add an engine…"), self.engines_asked)
        self.engines.setToolTip(self.tr("Use a model of another machine or service"))
        self.download = self._button(self.tr("Download models…"), self.wizard_asked)
        self.download.setProperty("role", "main")
        self.menu = QMenu(self)
        self._work = Work(self)
        self._loaded: Path | None = None
        self._rows: list[tuple[LocalPair, QListWidgetItem]] = []
        self.elsewhere = EngineRows(self.models, self._follow_engines, self)
        self._build()

    def _build(self) -> None:
        lower = Flow()
        for button in (self.unload, self.reload, self.open, self.engines):
            lower.addWidget(button)
        lower.addStretch()
        lower.addWidget(self.download)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 10, 10, 10)
        layout.setSpacing(8)
        for widget in (self.filter, self.models, self.memory):
            layout.addWidget(widget)
        layout.addLayout(lower)

    def _fit(self) -> None:
        """Take the size that the text needs, and that the screen has room for."""
        screen, metrics = self.screen().availableSize(), self.fontMetrics()
        self.setFixedWidth(min(screen.width() - MARGIN, WIDTH_CHARACTERS * metrics.averageCharWidth()))
        heights = sum(self.models.sizeHintForRow(row) for row in range(self.models.count()))
        most = min(ROWS_SHOWN * (3 * metrics.lineSpacing() + 10), screen.height() // 2)
        self.models.setFixedHeight(min(most, heights + 2 * self.models.frameWidth() + 2))
        layout = self.layout()
        assert layout is not None
        layout.activate()  # the rows of buttons know their height only in this width
        self.resize(self.width(), layout.totalHeightForWidth(self.width()))

    def _button(self, text: str, signal: SignalInstance) -> QPushButton:
        button = QPushButton(text, self)
        button.clicked.connect(self.hide)
        button.clicked.connect(signal)
        return button

    def offer(
        self,
        recent: Sequence[RecentPair],
        loaded: Loaded | None,
        used: RecentPair,
        *,
        can_unload: bool,
        helps: Helps,
    ) -> None:
        """List the models on this machine and elsewhere. loaded: the loaded pair, if any. used: the pair that
        is loaded or being loaded. helps: whether the processor may help a graphics card, as in `Load`."""
        here = loaded if loaded and not loaded.place else None
        held = here.memory if here else None
        self._loaded = Path(here.target.path) if here else None
        pairs = local_models.pairs_here()
        named = {pair.target.name: pair for pair in pairs}
        self._work.forget("plan")
        self.models.clear()
        self._rows = []
        known = [last for last in recent if model_choice.is_known(last, named)]
        if known:
            self._add_heading(self.tr("Recent"))
            for last in known:
                self._add_recent(last, named, used)
        others = [pair for pair in pairs if all(pair is not listed for listed, _ in self._rows)]
        if others or not pairs:
            self._add_heading(self.tr("On this machine"))
        for pair in others:
            self._add_local(pair)
        if not pairs:
            self._add_heading(self.tr("No models yet. Download one or open a file."))
        self.unload.setEnabled(can_unload)
        self.memory.setText(by_tier(held) if held else "")
        self.memory.setVisible(held is not None)
        self.filter.clear()
        self._filter("")
        self.elsewhere.offer(used, [last for last in known if last.engine])
        self._fit()
        self.filter.setFocus()
        self._plan(0, held, helps)

    def _add_heading(self, text: str) -> None:
        item = QListWidgetItem(text, self.models)
        item.setFlags(Qt.ItemFlag.NoItemFlags)

    def _add(self, name: str, details: str, pair: RecentPair) -> QListWidgetItem:
        item = QListWidgetItem(f"{name}\n{details}", self.models)
        item.setToolTip(plain(item.text()))
        item.setData(PAIR, pair)
        return item

    def _add_local(self, pair: LocalPair) -> None:
        item = self._add(self._name(pair), self._details(pair), RecentPair(pair.target.name))
        self._rows.append((pair, item))
        self._dress(item, pair)

    def _dress(self, item: QListWidgetItem, pair: LocalPair) -> None:
        """Give the row of a downloaded model a button for its menu."""
        if pair.target.stored is None:
            return
        more = QToolButton()
        more.setIcon(icon("more"))
        more.setAutoRaise(True)
        more.setToolTip(self.tr("Update or delete"))
        more.setAccessibleName(self.tr("Update or delete {}").format(pair.target.text))
        more.clicked.connect(lambda: self._open_menu(item, more.mapToGlobal(more.rect().bottomLeft())))
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 4, 0)
        row.addStretch(1)
        row.addWidget(more)
        self.models.setItemWidget(item, holder)
        item.setData(HAS_BUTTON, True)

    def _name(self, pair: LocalPair) -> str:
        return f"✓ {pair.target.text}" if self._is_loaded(pair) else pair.target.text

    def _is_loaded(self, pair: LocalPair) -> bool:
        return self._loaded is not None and pair.target.path == self._loaded

    def _open_menu(self, item: QListWidgetItem | None, place: QPoint) -> None:
        """Open the menu of a downloaded model at `place`, on the screen."""
        pair = next((pair for pair, listed in self._rows if listed is item), None)
        if pair is None or pair.target.stored is None:
            return
        stored = pair.target.stored
        self.menu.clear()
        update = self.menu.addAction(self.tr("Look for an update…"))
        update.setEnabled(bool(stored.repository))
        update.triggered.connect(lambda: self._leave_for(self.update_asked, stored))
        delete = self.menu.addAction(self.tr("Delete…"))
        delete.triggered.connect(lambda: self._leave_for(self.delete_asked, stored))
        self.menu.popup(place)

    def _leave_for(self, signal: SignalInstance, stored: StoredModel) -> None:
        self.hide()
        signal.emit(stored)

    def _follow_engines(self) -> None:
        """Show rows that were added or removed later: filtered like the others, in a list of the size they
        need."""
        chosen = self.models.currentItem()
        self._filter(self.filter.text())
        if chosen is not None and not chosen.isHidden() and self.models.row(chosen) >= 0:
            self.models.setCurrentItem(chosen)
        if self.isVisible():
            self._fit()

    def _add_recent(self, pair: RecentPair, named: Mapping[str, LocalPair], used: RecentPair) -> None:
        """List a pair that was loaded before; one that the program would choose itself is not listed again
        below. named: the pairs on this machine by their targets. used: as in `offer`."""
        if pair.engine:
            is_used = (used.target, used.engine) == (pair.target, pair.engine)
            name = model_choice.text_of(pair)
            at = self.tr("{} · elsewhere, at {}").format(pair.engine, model_choice.place_of(pair.engine))
            self._add(f"✓ {name}" if is_used else name, at, pair)
            return
        local = named.get(pair.target or catalog.default_target())
        if local is not None and pair.draft == "auto":
            if all(local is not listed for listed, _ in self._rows):
                self._add_local(local)
            return
        if pair.target is None:
            name = self.tr("The model included with the program")
        else:
            name = local.target.text if local else Path(pair.target).name
        match pair.draft:
            case "auto":
                draft = self.tr("with the best draft model on this machine")
            case "none":
                draft = self.tr("no draft model")
            case planner.SELF:
                draft = self.tr("drafts for itself")
            case _:
                draft = self.tr("draft {}").format(Path(pair.draft).name)
        self._add(name, draft, pair)

    def _details(self, pair: LocalPair, plan: str = "") -> str:
        draft = self.tr("draft {}").format(pair.draft.text) if pair.draft else self.tr("no draft model")
        loaded = self.tr("loaded now") if self._is_loaded(pair) else ""
        figures = " · ".join(filter(None, [loaded, formatting.nbytes(pair.nbytes), plan, draft]))
        return "\n".join(filter(None, [formatting.about_model(pair.target.about), figures]))

    # -- plans -----------------------------------------------------------------------------------------------

    def _plan(self, row: int, held: Memory | None, helps: Helps) -> None:
        """Plan how the pairs from `row` on would be loaded, and show each plan.

        One pair is planned at a time, since each takes tenths of a second.
        """
        if row == len(self._rows):
            return
        pair, item = self._rows[row]

        def show(plan: Plan | None) -> None:
            if plan:
                item.setText(f"{self._name(pair)}\n{self._details(pair, self._plan_text(plan))}")
                item.setToolTip(plain("\n".join(filter(None, [item.text(), plan.missing]))))
            self._plan(row + 1, held, helps)

        self._work.run(
            "plan",
            lambda stop: local_models.plan(pair.target.name, "auto", None, held, helps),
            show,
            lambda error: None,  # `plan` returns None for files that cannot be read
        )

    def _plan_text(self, plan: Plan) -> str:
        fits = {
            "in VRAM": self.tr("fits in VRAM"),
            "in RAM": self.tr("fits in RAM"),
            "VRAM + RAM": self.tr("fits in VRAM and RAM"),
            "with SSD": self.tr("streamed from the disk"),
            "will not run": self.tr("too large for this machine"),
        }
        if plan.predicted_tokens_per_second is None:
            return fits[plan.fit]
        speed = self.tr("about {} tokens/s").format(formatting.decimal(plan.predicted_tokens_per_second))
        return f"{fits[plan.fit]} · {speed}"

    # -- input -----------------------------------------------------------------------------------------------

    def _choose(self, item: QListWidgetItem | None) -> None:
        if item and item.data(PAIR) and not item.isHidden():
            self.hide()
            self.chosen.emit(item.data(PAIR))

    def _ask_file(self) -> None:
        self.hide()
        if pair := ask_for_model(self.parentWidget()):
            self.chosen.emit(pair)

    def _filter(self, text: str) -> None:
        items = [self.models.item(row) for row in range(self.models.count())]
        words = text.casefold().split()
        for item in items:
            shown = item.text().casefold()
            item.setHidden(bool(item.data(PAIR)) and not all(word in shown for word in words))
        matches = [item for item in items if item.data(PAIR) and not item.isHidden()]
        self.models.setCurrentItem(matches[0] if matches else items[0])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the arrow keys move through the list while the filter has the focus."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down)
        ):
            self.models.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)

    def hideEvent(self, event: QHideEvent) -> None:
        self._work.forget("plan")
        self.elsewhere.elsewhere.stop()
        super().hideEvent(event)
