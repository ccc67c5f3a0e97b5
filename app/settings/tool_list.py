"""A list of tools with their descriptions; a tick lets one be called without asking."""

from collections.abc import Mapping, Sequence

from msgspec import structs
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.formatting import excerpt
from app.preferences import KnownTool
from app.widgets import theme
from app.widgets.icons import paint
from app.widgets.plain_text import plain

ROWS_SHOWN = 4
SHOWN = 110  # characters of a description


class ToolList(QListWidget):
    """The list. Names and descriptions are untrusted and shown as plain text.

    Signals:
        changed: the user has ticked a tool, or unticked it
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("choices")
        self.setWordWrap(True)
        self.setItemDelegate(_TickDelegate(self))
        self.setAccessibleName(self.tr("Tools; a tick: may be called without asking"))
        self._tools: list[KnownTool] = []
        self.itemChanged.connect(lambda _: self.changed.emit())

    @property
    def tools(self) -> list[KnownTool]:
        """The tools as they are ticked."""
        states = [self.item(row).checkState() for row in range(self.count())]
        return [
            structs.replace(tool, always=state is Qt.CheckState.Checked)
            for tool, state in zip(self._tools, states, strict=True)
        ]

    def show_tools(self, tools: Sequence[KnownTool], about: Mapping[str, str] | None = None) -> None:
        """Show these tools; the list is hidden if there are none.

        about: what is said of some of them in place of their descriptions, by name.
        """
        self._tools = list(tools)
        with QSignalBlocker(self):
            self.clear()
            for tool in tools:
                said = (about or {}).get(tool.name, tool.description)
                item = QListWidgetItem(f"{tool.name}\n{excerpt(said, SHOWN)}", self)
                item.setToolTip(plain(said))
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                item.setCheckState(Qt.CheckState.Checked if tool.always else Qt.CheckState.Unchecked)
        height = sum(self.sizeHintForRow(row) for row in range(min(ROWS_SHOWN, len(tools))))
        self.setFixedHeight(height + 2 * self.frameWidth() + 6)
        self.setVisible(bool(tools))


class _TickDelegate(QStyledItemDelegate):
    """Paints the tick in the box, which the style sheet leaves empty."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        if Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) is not Qt.CheckState.Checked:
            return
        full = QStyleOptionViewItem(option)
        self.initStyleOption(full, index)
        box = full.widget.style().subElementRect(
            QStyle.SubElement.SE_ItemViewItemCheckIndicator, full, full.widget
        )
        colours = theme.current()
        is_enabled = bool(full.state & QStyle.StateFlag.State_Enabled)
        paint(painter, "check", QRectF(box), colours.text if is_enabled else colours.muted)
