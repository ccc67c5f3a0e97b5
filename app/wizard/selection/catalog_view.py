"""The catalogue tab: the recommended model, and a table of all models in the catalogue."""

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app import formatting
from app.widgets.flow import Flow
from app.widgets.form_parts import Card, button, label
from app.widgets.theme import LINE_HEIGHT, enlarged
from app.wizard.selection import wording
from app.wizard.selection.offers import Offer, Offers
from app.wizard.selection.pair_model import FITS, Column, PairFilter, PairModel
from engine.planner import begins_later

_WIDTHS = {
    Column.MODEL: 196,
    Column.DRAFT: 190,
    Column.FORM: 78,
    Column.SIZE: 132,
    Column.FIT: 134,
    Column.SPEED: 78,
    Column.FIRST_TOKEN: 88,
    Column.LICENSE: 60,  # stretches to the remaining width
}
DESCENDING, ASCENDING = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder


class _Table(QTableView):
    """A table in which the user selects rows, not cells.

    Signals:
        taken: Enter or a double click confirmed the current row
    """

    taken = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pairs")
        self.setAccessibleName(self.tr("Model catalogue"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMinimumHeight(170)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(32)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.doubleClicked.connect(lambda: self.taken.emit())

    def fit_columns(self) -> None:
        """Give each column the width that it needs in this size of text, and at least that of its heading."""
        header = self.horizontalHeader()
        header.ensurePolished()
        for column, width in _WIDTHS.items():
            self.setColumnWidth(column, max(enlarged(width), header.sectionSizeHint(column)))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and self.model() is not None:
            self.fit_columns()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.taken.emit()
        else:
            super().keyPressEvent(event)


class AlternativeRow(QWidget):
    """A row with an alternative to the recommended offer; hidden if there is none.

    Attributes:
        offer: the alternative, or None.
        choose: the button that takes it.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.offer: Offer | None = None
        self._title = label(role="name", parent=self)
        self._text = label(role="muted", parent=self)
        self.choose = button(self.tr("Choose"), parent=self)
        text = QVBoxLayout()
        text.setSpacing(0)
        text.addWidget(self._title)
        text.addWidget(self._text)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(16)
        row.addLayout(text, 1)
        row.addWidget(self.choose, alignment=Qt.AlignmentFlag.AlignVCenter)

    def show_offer(self, how: str, offer: Offer | None) -> None:
        """how: how the offer differs from the recommended one."""
        self.offer = offer
        self.setVisible(offer is not None)
        if offer is not None:
            self._title.setText(self.tr("{}: {}").format(how, wording.name(offer)))
            self._text.setText(wording.alternative(offer))
            self.choose.setAccessibleName(self.tr("Choose {}").format(wording.name(offer)))


class Recommended(Card):
    """The recommended offer and its alternatives, in a card above the table.

    Attributes:
        choose: the button that takes the recommended offer.
        larger, smaller: the rows of the alternatives.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "recommended")
        self._title = label(role="heading", parent=self)
        self._about = label(parent=self)
        self._why = label(parent=self)
        self._figures = label(role="muted", parent=self)
        self.choose = button(self.tr("Choose this model"), parent=self)
        self.larger, self.smaller = AlternativeRow(self), AlternativeRow(self)
        text = QVBoxLayout()
        text.setSpacing(4)
        text.addWidget(label(self.tr("Recommended for this machine"), "caption", self))
        for widget in (self._title, self._about, self._why, self._figures):
            text.addWidget(widget)
        row = QHBoxLayout()
        row.setSpacing(16)
        row.addLayout(text, 1)
        row.addWidget(self.choose, alignment=Qt.AlignmentFlag.AlignVCenter)
        self.column.addLayout(row)
        self.column.addSpacing(4)
        self.column.addWidget(self.larger)
        self.column.addWidget(self.smaller)

    def show_offers(self, offers: Offers) -> None:
        offer = offers.recommended
        self._title.setText(wording.name(offer))
        self._about.setText(wording.about(offer))
        self._why.setText(wording.reason(offers))
        how, larger = self.tr("Larger and slower"), offers.larger
        if larger and (larger.speed or 0.0) >= (offer.speed or 0.0) and begins_later(larger.plan, offer.plan):
            how = self.tr("Larger, later to begin")
        self.larger.show_offer(how, larger)
        self.smaller.show_offer(self.tr("Smaller and faster"), offers.smaller)
        size = formatting.nbytes(offer.missing_nbytes)
        download = (
            self.tr("Already on this machine") if offer.is_local else self.tr("{} to download").format(size)
        )
        figures = wording.speed_sentence(offer), download, wording.licenses(offer)
        self._figures.setText(self.tr("{} {}, {}.").format(*figures))
        self.choose.setAccessibleName(self.tr("Choose the recommended model, {}").format(wording.name(offer)))
        self.choose.setEnabled(offer.plan.runs)


class Catalogue(QWidget):
    """Lets the user search, filter and sort the offers and choose one.

    Attributes:
        recommended, table: the card of the recommended offer, and the table of all offers.
        search, fit, every_way: the controls that filter the table.
        order: the box that sorts the table.
        offer: the chosen offer, or None.

    Signals:
        changed: another offer was chosen
        taken: the user confirmed the choice
    """

    changed = Signal()
    taken = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.offer: Offer | None = None
        self._model = PairModel(self)
        self._filter = PairFilter(self._model, self)
        self.recommended = Recommended(self)
        self.recommended.choose.clicked.connect(lambda: self._take_offer(self._model.offers[0]))
        for other in (self.recommended.larger, self.recommended.smaller):
            other.choose.clicked.connect(lambda *_, other=other: self._take_offer(other.offer))
        self.search = QLineEdit(self)
        self.search.setPlaceholderText(self.tr("Search models"))
        self.search.setAccessibleName(self.tr("Search models"))
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumHeight(LINE_HEIGHT)
        self.fit = self._box(self.tr("Runs in"))
        self.order = self._box(self.tr("Sort by"))
        self.every_way = button(self.tr("All variants"), parent=self)
        self.every_way.setCheckable(True)
        self.every_way.setToolTip(
            self.tr("Also show other formats and drafts of each model, which run slower")
        )
        self.table = _Table(self)
        self.table.setModel(self._filter)
        self.table.taken.connect(self._take)
        self._nothing = label(self.tr("No model matches these filters."), "muted", self)
        self._description = label(role="body", parent=self)
        self._fill_boxes()
        self._build()
        self.search.textChanged.connect(self._narrow)
        self.fit.currentIndexChanged.connect(self._narrow)
        self.every_way.toggled.connect(self._narrow)
        self.order.currentIndexChanged.connect(self._sort)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._choose_current())
        self.table.horizontalHeader().sortIndicatorChanged.connect(self._show_order)

    def _box(self, name: str) -> QComboBox:
        box = QComboBox(self)
        box.setAccessibleName(name)
        return box

    def _fill_boxes(self) -> None:
        self.fit.addItem(self.tr("All models"), None)
        self.fit.addItem(self.tr("On this machine"), "here")
        for fit in FITS:
            self.fit.addItem(wording.fit(fit), fit)
        self.order.addItem(self.tr("Recommended first"), None)
        for text, column, way in (
            (self.tr("Fastest first"), Column.SPEED, DESCENDING),
            (self.tr("Smallest download first"), Column.SIZE, ASCENDING),
            (self.tr("Largest download first"), Column.SIZE, DESCENDING),
            (self.tr("By name"), Column.MODEL, ASCENDING),
        ):
            self.order.addItem(text, (int(column), way))

    def _build(self) -> None:
        controls = Flow()
        controls.addWidget(self.search)
        for box in (self.fit, self.order):
            controls.addWidget(box)
        controls.addWidget(self.every_way)
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        self.table.fit_columns()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        header.setSortIndicator(-1, ASCENDING)
        header.setSortIndicatorClearable(True)
        self.table.setSortingEnabled(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 10, 0, 0)
        layout.setSpacing(10)
        layout.addWidget(self.recommended)
        layout.addLayout(controls)
        layout.addWidget(self.table, 1)
        layout.addWidget(self._nothing)
        layout.addWidget(self._description)
        self._nothing.hide()

    def show_offers(self, offers: Offers) -> None:
        """Show the offers and keep the pair chosen before; if there is none, choose the recommended one."""
        kept = self.offer.plan.pair if self.offer else offers.recommended.plan.pair
        self.recommended.show_offers(offers)
        self._model.show_offers(offers.all)
        row = next(row for row, offer in enumerate(offers.all) if offer.plan.pair == kept)
        self._go_to(row)

    def _take_offer(self, offer: Offer) -> None:
        self.search.clear()
        self.fit.setCurrentIndex(0)
        self._go_to(self._model.offers.index(offer))
        self._take()

    def _go_to(self, row: int) -> None:
        index = self._filter.mapFromSource(self._model.index(row, 0))
        if not index.isValid():
            index = self._filter.index(0, 0)
        self.table.setCurrentIndex(index)
        self._choose_current()

    def _choose_current(self) -> None:
        index = self.table.currentIndex()
        row = self._filter.mapToSource(index).row()
        self.offer = self._model.offers[row] if index.isValid() else None
        self.recommended.choose.setVisible(self.offer is None or not self.offer.is_recommended)
        self._description.setText(described(self.offer) if self.offer else "")
        self.changed.emit()

    def _take(self) -> None:
        if self.offer is not None and self.offer.plan.runs:
            self.taken.emit()

    def _narrow(self) -> None:
        self._filter.narrow(self.search.text(), self.fit.currentData(), self.every_way.isChecked())
        if not self.table.currentIndex().isValid() and self._filter.rowCount():
            self.table.setCurrentIndex(self._filter.index(0, 0))
        self._nothing.setVisible(self._filter.rowCount() == 0)
        self._choose_current()

    def _sort(self) -> None:
        column, way = self.order.currentData() or (-1, ASCENDING)
        if self.order.currentIndex() >= 0:
            self.table.sortByColumn(column, way)
            self.table.scrollTo(self.table.currentIndex())

    def _show_order(self, column: int, way: Qt.SortOrder) -> None:
        """Show the table's order in the box `order` after a click on a column header."""
        data = None if column < 0 else (column, way)
        orders = [self.order.itemData(index) for index in range(self.order.count())]
        with QSignalBlocker(self.order):
            self.order.setCurrentIndex(orders.index(data) if data in orders else -1)


def described(offer: Offer) -> str:
    """Return sentences about an offer: what it is, its speed, where it runs, whether the processor helps, its
    time to the first token, and with which weights its architecture was run."""
    parts = [
        wording.about(offer),
        wording.speed_sentence(offer),
        wording.fit_sentence(offer.plan.fit),
        wording.help_sentence(offer.plan),
        wording.first_token_sentence(offer.plan),
        wording.experience(offer),
    ]
    return f"{wording.name(offer)}: " + " ".join(part for part in parts if part)
