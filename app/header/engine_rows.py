"""The rows of the picker for models of engines elsewhere."""

from collections.abc import Callable, Collection

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from app import formatting
from app.header import model_choice
from app.header.elsewhere import Elsewhere, Served
from app.preferences import RecentPair
from app.widgets.fault_words import in_words
from app.widgets.plain_text import plain
from engine.remote.models import RemoteModel

PAIR = Qt.ItemDataRole.UserRole


class EngineRows(QObject):
    """Lists the models of each added engine under its name, at the end of a list, and keeps them up to date.

    Attributes:
        elsewhere: asks the engines.
    """

    def __init__(self, rows: QListWidget, changed: Callable[[], object], parent: QObject) -> None:
        """changed: is called after rows were added or removed."""
        super().__init__(parent)
        self.elsewhere = Elsewhere(self)
        self._rows, self._changed = rows, changed
        self._items: list[QListWidgetItem] = []
        self._used = RecentPair()
        self._listed: set[tuple[str | None, str]] = set()
        self.elsewhere.changed.connect(self._list)

    def offer(self, used: RecentPair, listed: Collection[RecentPair] = ()) -> None:
        """List what is known, and ask the engines. used: the pair in use, which is marked. listed: pairs that
        are in the list already."""
        self._used, self._items = used, []
        self._listed = {(pair.target, pair.engine) for pair in listed}
        self._list()
        self.elsewhere.look()

    def _list(self) -> None:
        current = self._rows.currentItem()
        chosen = current.data(PAIR) if current is not None and current in self._items else None
        for item in self._items:
            self._rows.takeItem(self._rows.row(item))
        self._items = []
        for served in self.elsewhere.served:
            self._list_engine(served)
        for item in self._items:
            if chosen is not None and item.data(PAIR) == chosen:
                self._rows.setCurrentItem(item)
        self._changed()

    def _list_engine(self, served: Served) -> None:
        engine = served.engine
        self._add(self.tr("{} · elsewhere, at {}").format(engine.name, engine.place))
        for model in served.models or ():
            if (model.id, engine.name) not in self._listed:
                self._add_model(served, model)
        if served.error is not None:
            self._add("\n".join(in_words(served.error)))
        elif served.models is None:
            self._add(self.tr("Asking for its models…"))

    def _add_model(self, served: Served, model: RemoteModel) -> None:
        pair = RecentPair(model.id, engine=served.engine.name)
        is_used = (self._used.target, self._used.engine) == (pair.target, pair.engine)
        name = model_choice.short_name(model.id)
        known = [
            self.tr("loaded now") if is_used else "",
            self.tr("goes to {}").format(served.engine.place),
            self.tr("context {} tokens").format(formatting.number(model.context)) if model.context else "",
            formatting.nbytes(model.nbytes) if model.nbytes else "",
        ]
        item = self._add(f"{f'✓ {name}' if is_used else name}\n{' · '.join(filter(None, known))}")
        item.setToolTip(plain(f"{model.id}\n{served.engine.name} · {served.engine.address}"))
        item.setFlags(Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled)
        item.setData(PAIR, pair)

    def _add(self, text: str) -> QListWidgetItem:
        item = QListWidgetItem(text, self._rows)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        item.setToolTip(plain(text))
        self._items.append(item)
        return item
