"""Finds what does not fit on a page: widgets outside their window or scroll area, and text cut off."""

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QFileDialog,
    QHeaderView,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QScrollBar,
    QSizeGrip,
    QSlider,
    QSplitterHandle,
    QTabBar,
    QTextEdit,
    QToolButton,
    QWidget,
)

from app.header.name_button import NameButton
from app.rendering.quiet_button import QuietButton
from app.widgets.elided_label import ElidedLabel

NEVER = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
# Parts of Qt's own widgets, which lay themselves out.
PARTS = (QScrollBar, QSizeGrip, QSplitterHandle, QHeaderView, QMenu)
COMPOSED = (QAbstractSpinBox, QComboBox, QAbstractItemView, QTabBar, QPlainTextEdit, QTextEdit, QLineEdit)
LINES_IN_VIEW = 2  # of a page that is scrolled, at least


def misfits(page: QWidget) -> list[str]:
    """Return a sentence for each thing on a page that a person cannot see whole, or scroll to."""
    found = list(_too_large(page.window()))
    if isinstance(page, QFileDialog):  # Qt lays it out, and its user may resize it
        return found
    for widget in visible(page):
        outside = _outside(widget)
        if outside:
            found.append(f"{named(widget)}: {outside}")
        elif cut := _cut(widget):
            found.append(f"{named(widget)}: {cut}")
    return found


def visible(page: QWidget) -> Iterator[QWidget]:
    """Yield the visible widgets of a page that have no visible widgets of the program's own within them."""
    for child in page.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
        if child.isWindow() or not child.isVisible() or isinstance(child, PARTS):
            continue
        if isinstance(child, COMPOSED):
            yield child
            continue
        within = list(visible(child))
        if within and not isinstance(child, QAbstractButton):
            yield from within
        else:
            yield child
        if isinstance(child, QScrollArea):
            yield child


def named(widget: QWidget) -> str:
    """Return how a widget is called in a finding."""
    text = widget.accessibleName() or _text(widget) or widget.objectName()
    of = widget.parentWidget()
    inside = f" in {type(of).__name__}" if of is not None else ""
    return f"{type(widget).__name__} {text[:60]!r}{inside}"


def _text(widget: QWidget) -> str:
    return widget.text() if isinstance(widget, QAbstractButton | QLabel | QLineEdit) else ""


def _too_large(window: QWidget) -> Iterator[str]:
    room = window.screen().availableSize()
    size = window.size()
    if size.width() > room.width() or size.height() > room.height():
        yield f"{named(window)}: {_wh(size)} is more than the screen's {_wh(room)}"
    elif not window.screen().availableGeometry().intersects(window.geometry()):
        yield f"{named(window)}: {_numbers(window.geometry())} is not on the screen"


def _wh(size: object) -> str:
    return f"{size.width()} × {size.height()}"  # type: ignore[attr-defined]


def _outside(widget: QWidget) -> str:
    """Return in what the widget is cut off, or cannot be scrolled to; "" if it is whole."""
    if isinstance(widget, QScrollArea):
        content = widget.widget()
        least = min(content.height() if content else 0, LINES_IN_VIEW * widget.fontMetrics().lineSpacing())
        if widget.viewport().height() < least:
            return f"only {widget.viewport().height()} pixels of its content are in view"
    here, rect = widget, widget.rect()
    while not here.isWindow() and (parent := here.parentWidget()) is not None:
        rect = rect.translated(here.pos())
        area = parent.parentWidget()
        if isinstance(area, QScrollArea) and parent is area.viewport() and here is area.widget():
            if over := _beyond(area, QRect(rect.topLeft() - here.pos(), rect.size()), here):
                return over
            here, rect = area, area.rect()
            continue
        if isinstance(area, QAbstractScrollArea) and parent is area.viewport():
            here, rect = area, area.rect()
            continue
        if not parent.rect().adjusted(-1, -1, 1, 1).contains(rect) and not rect.isEmpty():
            return f"{_numbers(rect)} is outside its {type(parent).__name__} of {_wh(parent.size())}"
        here = parent
    return ""


def _beyond(area: QScrollArea, rect: QRect, content: QWidget) -> str:
    view = area.viewport().size()
    if not content.rect().adjusted(-1, -1, 1, 1).contains(rect):
        return f"{_numbers(rect)} is outside the scrolled page of {_wh(content.size())}"
    if area.horizontalScrollBarPolicy() == NEVER and rect.right() > view.width():
        return f"ends at {rect.right()}, but {view.width()} pixels are in view, and nothing scrolls sideways"
    if area.verticalScrollBarPolicy() == NEVER and rect.bottom() > view.height():
        return f"ends at {rect.bottom()}, but {view.height()} pixels are in view, and nothing scrolls"
    return ""


def _numbers(rect: QRect) -> str:
    return f"{rect.left()}, {rect.top()}, {_wh(rect.size())}"


def _cut(widget: QWidget) -> str:
    """Return what of the widget's text is cut off; "" if nothing is."""
    size, metrics = widget.size(), widget.fontMetrics()
    match widget:
        case ElidedLabel():
            return "" if widget.toolTip() else _short(metrics.horizontalAdvance(widget.text()), size.width())
        case QLabel():
            return _cut_label(widget)
        case QToolButton() if not widget.text():
            return ""
        case QToolButton() if not isinstance(widget, NameButton):
            return _short(metrics.horizontalAdvance(widget.text()), size.width())
        case QuietButton() | QPushButton() | QToolButton():
            if widget.hasHeightForWidth():
                return _short(widget.heightForWidth(size.width()), size.height(), "high")
            if isinstance(widget, NameButton):
                return "" if widget.toolTip() else "has no tool tip"
            if isinstance(widget, QuietButton) and widget.toolTip() == widget.text():
                return ""
            hint = widget.sizeHint()
            return _short(hint.width(), size.width()) or _short(hint.height(), size.height(), "high")
        case QAbstractButton():
            return _short(widget.sizeHint().width(), size.width())
        case QAbstractSpinBox():
            hint = widget.minimumSizeHint()
            return _short(hint.width(), size.width()) or _short(hint.height(), size.height(), "high")
        case QComboBox():
            field = metrics.horizontalAdvance(widget.currentText()) + metrics.height()
            short = "" if widget.toolTip() else _short(field, size.width())
            return short or _short(metrics.height(), size.height(), "high")
        case QLineEdit():
            shown = widget.placeholderText() if not widget.text() else ""
            needed = metrics.horizontalAdvance(shown) + 8
            short = "" if widget.toolTip() else _short(needed, size.width())
            return short or _short(metrics.height(), size.height(), "high")
        case QPlainTextEdit():
            return _cut_placeholder(widget)
        case QTabBar():
            last = widget.tabRect(widget.count() - 1)
            return "" if widget.usesScrollButtons() else _short(last.right(), size.width())
        case QListView():
            return _cut_list(widget)
        case QSlider() | QProgressBar():
            return ""
    return ""


def _short(needed: int, there: int, what: str = "wide") -> str:
    return f"{there} pixels {what}, needs {needed}" if needed > there + 1 else ""


def _cut_label(label: QLabel) -> str:
    if not label.text():
        return ""
    needed, size = label.sizeHint(), label.size()
    if not label.wordWrap():
        return _short(needed.width(), size.width()) or _short(needed.height(), size.height(), "high")
    high = label.heightForWidth(size.width())
    room = QRect(QPoint(), label.contentsRect().size())
    flags = int(Qt.TextFlag.TextWordWrap)
    broken = label.fontMetrics().boundingRect(room.adjusted(0, 0, 0, 9_999), flags, label.text())
    return _short(broken.width(), room.width() + 2) or _short(high, size.height(), "high")


def _cut_placeholder(editor: QPlainTextEdit) -> str:
    if editor.toPlainText() or not editor.placeholderText():
        return ""
    room = editor.viewport().rect().adjusted(0, 0, 0, 9_999)
    needed = editor.fontMetrics().boundingRect(room, int(Qt.TextFlag.TextWordWrap), editor.placeholderText())
    return _short(needed.height(), editor.viewport().height(), "high")


def _cut_list(view: QListView) -> str:
    if view.horizontalScrollBarPolicy() != NEVER or view.wordWrap():
        return ""
    model = view.model()
    for row in range(model.rowCount()):
        index = model.index(row, 0)
        if view.visualRect(index).isEmpty() or index.data(Qt.ItemDataRole.ToolTipRole):
            continue
        needed = view.sizeHintForIndex(index).width()
        if needed > view.viewport().width():
            return f"row {row} needs {needed} of {view.viewport().width()} pixels, and has no tool tip"
    return ""
