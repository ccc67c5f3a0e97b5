"""The Qt models behind the catalogue's table: one holds the offers as rows, one filters and sorts them."""

from enum import IntEnum

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QFont

from app import formatting
from app.widgets.plain_text import plain
from app.wizard.selection import wording
from app.wizard.selection.offers import Offer
from engine.planner.plan import Fit

Index = QModelIndex | QPersistentModelIndex


class Column(IntEnum):
    MODEL = 0
    DRAFT = 1
    FORM = 2
    SIZE = 3
    FIT = 4
    SPEED = 5
    FIRST_TOKEN = 6
    LICENSE = 7


NUMBERS = frozenset({Column.SIZE, Column.SPEED, Column.FIRST_TOKEN})
FITS: tuple[Fit, ...] = ("in VRAM", "VRAM + RAM", "in RAM", "with SSD", "will not run")  # best first


class PairModel(QAbstractTableModel):
    """The table of offers.

    Attributes:
        offers: the offer of each row, the recommended one first.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.offers: tuple[Offer, ...] = ()

    def show_offers(self, offers: tuple[Offer, ...]) -> None:
        self.beginResetModel()
        self.offers = offers
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.offers)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(Column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._titles()[Column(section)]
            case Qt.ItemDataRole.ToolTipRole:
                return self._tips().get(Column(section))
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(Column(section))
        return None

    def data(self, index: Index, role: int = 0) -> object:
        offer, column = self.offers[index.row()], Column(index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._text(offer, column)
            case Qt.ItemDataRole.UserRole:
                return _key(offer, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.FontRole if offer.is_recommended and column is Column.MODEL:
                font = QFont()
                font.setBold(True)
                return font
            case Qt.ItemDataRole.ToolTipRole if column is Column.MODEL:
                return plain(wording.about(offer))
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{self._titles()[column]}: {self._text(offer, column)}"
        return None

    def _titles(self) -> dict[Column, str]:
        return {
            Column.MODEL: self.tr("Model"),
            Column.DRAFT: self.tr("Draft"),
            Column.FORM: self.tr("Format"),
            Column.SIZE: self.tr("Download"),
            Column.FIT: self.tr("Runs in"),
            Column.SPEED: self.tr("Tokens/s"),
            Column.FIRST_TOKEN: self.tr("First token"),
            Column.LICENSE: self.tr("Licence"),
        }

    def _tips(self) -> dict[Column, str]:
        return {
            Column.DRAFT: self.tr("A small model that guesses ahead, so that the large one answers faster."),
            Column.SPEED: self.tr("Estimated for this machine. People read about 5 tokens per second."),
            Column.FIRST_TOKEN: self.tr(
                "Estimated time to the first token after a question of 1,000 tokens."
            ),
            Column.FORM: self.tr("How the weights are stored: fewer bits make a smaller download."),
        }

    def _text(self, offer: Offer, column: Column) -> str:
        match column:
            case Column.MODEL:
                return offer.target.name
            case Column.DRAFT:
                return wording.draft(offer) or self.tr("none")
            case Column.FORM:
                return wording.form(offer)
            case Column.SIZE:
                return (
                    self.tr("on this machine") if offer.is_local else formatting.nbytes(offer.missing_nbytes)
                )
            case Column.FIT:
                return wording.fit(offer.plan.fit)
            case Column.SPEED:
                return wording.speed(offer)
            case Column.FIRST_TOKEN:
                return wording.first_token(offer.plan)
            case Column.LICENSE:
                return wording.licenses(offer)


class PairFilter(QSortFilterProxyModel):
    """Filters and sorts the table.

    Attributes:
        words: the words, case-folded, that a row must contain; the case of the row does not matter.
        fit: shows only the offers whose `plan.fit` equals it; None shows all, "here" those on this machine.
        every_way: whether to include slower ways to run the same target; "here" includes them anyway.
    """

    def __init__(self, model: PairModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.words: list[str] = []
        self.fit: str | None = None
        self.every_way = False
        self._model = model
        self.setSourceModel(model)
        self.setSortRole(Qt.ItemDataRole.UserRole)

    def narrow(self, text: str, fit: str | None, every_way: bool) -> None:
        self.words, self.fit, self.every_way = text.casefold().split(), fit, every_way
        self.invalidate()

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        offer = self._model.offers[row]
        if not (self.every_way or offer.is_best or self.fit == "here"):
            return False
        fits = offer.is_local if self.fit == "here" else self.fit in (None, offer.plan.fit)
        if not fits:
            return False
        text = " ".join(str(self._model.index(row, column).data()) for column in Column).casefold()
        return all(word in text for word in self.words)

    def lessThan(self, left: Index, right: Index) -> bool:
        one, other = left.data(Qt.ItemDataRole.UserRole), right.data(Qt.ItemDataRole.UserRole)
        return bool(one < other)


def _key(offer: Offer, column: Column) -> float | int | str:
    """Return the sort key of a cell. Offers that will not run sort as the slowest."""
    match column:
        case Column.MODEL:
            return offer.target.name.casefold()
        case Column.DRAFT:
            return wording.draft(offer).casefold()
        case Column.FORM:
            return wording.form(offer)
        case Column.SIZE:
            return offer.missing_nbytes
        case Column.FIT:
            return FITS.index(offer.plan.fit)
        case Column.SPEED:
            return offer.speed or 0.0
        case Column.FIRST_TOKEN:
            seconds = offer.plan.time_to_first_token_s
            return float("inf") if seconds is None else seconds
        case Column.LICENSE:
            return wording.licenses(offer).casefold()


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in NUMBERS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
