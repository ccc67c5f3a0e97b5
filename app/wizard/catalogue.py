"""The catalogue, to choose from: what is recommended, and a table of all that is known."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
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

from app.wizard import phrases
from app.wizard.offers import Offer, Offers
from app.wizard.pair_model import FITS, Column, PairFilter, PairModel
from app.wizard.parts import LINE_HEIGHT, button, label
from app.wizard.recommended import Recommended

_WIDTHS = {
    Column.MODEL: 196,
    Column.DRAFT: 190,
    Column.FORM: 78,
    Column.SIZE: 112,
    Column.FIT: 134,
    Column.SPEED: 78,
    Column.FIRST_TOKEN: 88,
    Column.LICENSE: 60,  # and what is left
}
DESCENDING, ASCENDING = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder


class _Table(QTableView):
    """Rows are chosen, not cells; Enter takes one.

    Signals:
        taken: the current row, by Enter or a double click
    """

    taken = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pairs")
        self.setAccessibleName(self.tr("Models of the catalogue"))
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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.taken.emit()
        else:
            super().keyPressEvent(event)


class Catalogue(QWidget):
    """
    Attributes:
        recommended, table, search, fit, order, every_way: its parts.
        offer: the one that is chosen, or None.

    Signals:
        changed: another one is chosen
        taken: a person is sure of the chosen one
    """

    changed = Signal()
    taken = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.offer: Offer | None = None
        self._offers: Offers | None = None
        self._model = PairModel(self)
        self._filter = PairFilter(self._model, self)
        self.recommended = Recommended(self)
        self.recommended.choose.clicked.connect(self._take_recommended)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText(self.tr("Find in the list"))
        self.search.setAccessibleName(self.tr("Find in the list"))
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumHeight(LINE_HEIGHT)
        self.fit = self._box(self.tr("Where it runs"))
        self.order = self._box(self.tr("Order"))
        self.every_way = button(self.tr("Every form and draft"), parent=self)
        self.every_way.setCheckable(True)
        self.every_way.setToolTip(self.tr("Also the slower ways to run the same model"))
        self.table = _Table(self)
        self.table.setModel(self._filter)
        self.table.taken.connect(self._take)
        self._nothing = label(self.tr("No model of the list is like that."), "muted", self)
        self._told = label(role="body", parent=self)
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
        box.setMinimumHeight(LINE_HEIGHT)
        return box

    def _fill_boxes(self) -> None:
        self.fit.addItem(self.tr("Runs anywhere"), None)
        self.fit.addItem(self.tr("Already here"), "here")
        for fit in FITS:
            self.fit.addItem(phrases.fit(fit), fit)
        self.order.addItem(self.tr("Recommended first"), None)
        for text, column, way in (
            (self.tr("Fastest first"), Column.SPEED, DESCENDING),
            (self.tr("Smallest download first"), Column.SIZE, ASCENDING),
            (self.tr("Largest download first"), Column.SIZE, DESCENDING),
            (self.tr("By name"), Column.MODEL, ASCENDING),
        ):
            self.order.addItem(text, (int(column), way))

    def _build(self) -> None:
        controls = QHBoxLayout()
        controls.setSpacing(8)
        controls.addWidget(self.search, 1)
        for box in (self.fit, self.order):
            controls.addWidget(box)
        controls.addWidget(self.every_way)
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        for column, width in _WIDTHS.items():
            self.table.setColumnWidth(column, width)
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
        layout.addWidget(self._told)
        self._nothing.hide()

    def show_offers(self, offers: Offers) -> None:
        """What was chosen before stays chosen."""
        kept = self.offer.plan.pair if self.offer else offers.recommended.plan.pair
        self._offers = offers
        self.recommended.show_offer(offers.recommended)
        self._model.show_offers(offers.all)
        row = next(row for row, offer in enumerate(offers.all) if offer.plan.pair == kept)
        self._go_to(row)

    def _take_recommended(self) -> None:
        self.search.clear()
        self.fit.setCurrentIndex(0)
        self._go_to(0)
        self._take()

    def _go_to(self, row: int) -> None:
        index = self._filter.mapFromSource(self._model.index(row, 0))
        if not index.isValid():
            index = self._filter.index(0, 0)
        self.table.setCurrentIndex(index)
        self._choose_current()

    def _choose_current(self) -> None:
        index = self.table.currentIndex()
        here = index.isValid()
        self.offer = self._model.offers[self._filter.mapToSource(index).row()] if here else None
        self.recommended.choose.setVisible(self.offer is None or not self.offer.why)
        self._told.setText(told(self.offer) if self.offer else "")
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
        """A click on a column's head counts as well."""
        data = None if column < 0 else (column, way)
        orders = [self.order.itemData(index) for index in range(self.order.count())]
        with QSignalBlocker(self.order):
            self.order.setCurrentIndex(orders.index(data) if data in orders else -1)


def told(offer: Offer) -> str:
    """The chosen one, in sentences."""
    parts = [
        phrases.told_speed(offer.plan),
        phrases.told_fit(offer.plan.fit),
        phrases.told_first_token(offer.plan),
    ]
    return f"{phrases.name(offer)}: " + " ".join(part for part in parts if part)
