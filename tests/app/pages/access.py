"""Finds what a screen reader or the keyboard does not reach on a page."""

from collections.abc import Iterator

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QScrollArea, QTabBar, QWidget

from app.panel.bars import Histogram, IterationBars, LayerStrip, SplitBar
from app.panel.memory_bars import MemoryBars
from app.panel.speed_plot import SpeedPlot
from app.panel.tree_legend import TreeLegend
from app.panel.tree_view import TreeView
from tests.app.pages.fit import named

NO_ROLE = (QAccessible.Role.NoRole, QAccessible.Role.Client)
PAINTED = (Histogram, IterationBars, LayerStrip, MemoryBars, SpeedPlot, SplitBar, TreeLegend, TreeView)
DRAWN = (*PAINTED, QScrollArea)  # they have a name and a description, or a page within them
BY_TAB = Qt.FocusPolicy.TabFocus
PATIENCE = 12  # presses of Tab within one control: links in a text


def unreachable(page: QWidget) -> list[str]:
    """Return a sentence for each control that has no name or role, each picture that is not described, and
    each control that the Tab key does not reach."""
    if isinstance(page, QMenu | QFileDialog):  # Qt's own
        return []
    return [*_unnamed(page), *_undescribed(page), *_never_focused(page)]


def controls(page: QWidget) -> list[QWidget]:
    """Return the controls of a page that can have the focus now."""
    return [
        widget
        for widget in page.findChildren(QWidget)
        if widget.isVisible()
        and widget.isEnabled()
        and widget.focusPolicy() & BY_TAB
        and widget.window() is page.window()
        and widget.focusProxy() is None
        and not _is_part(widget)
    ]


def _is_part(widget: QWidget) -> bool:
    """Return whether a widget belongs to a control that has its focus for it."""
    parent = widget.parentWidget()
    return widget.objectName().startswith("qt_spinbox") or (
        parent is not None
        and parent.focusProxy() is widget
        and not isinstance(parent, QTabBar)
        and bool(parent.focusPolicy() & BY_TAB)
    )


def interface(widget: QWidget) -> QAccessibleInterface:
    found = QAccessible.queryAccessibleInterface(widget)
    assert found is not None
    return found


def _unnamed(page: QWidget) -> Iterator[str]:
    for widget in controls(page):
        seen = interface(widget)
        if not seen.isValid() or (seen.role() in NO_ROLE and not isinstance(widget, DRAWN)):
            yield f"{named(widget)}: no role"
        if not seen.text(QAccessible.Text.Name) and not isinstance(widget, QTabBar):
            yield f"{named(widget)}: no name"


def _undescribed(page: QWidget) -> Iterator[str]:
    for widget in page.findChildren(QWidget):
        if isinstance(widget, PAINTED) and widget.isVisible():
            if not widget.accessibleName():
                yield f"{named(widget)}: no name"
            if not widget.accessibleDescription():  # without it, Qt would take the tool tip
                yield f"{named(widget)}: no description"


def _never_focused(page: QWidget) -> Iterator[str]:
    """Press Tab often enough to come round, and name the controls that it does not reach or leave."""
    wanted = controls(page)
    if not wanted:
        return
    page.window().activateWindow()
    QTest.qWaitForWindowActive(page.window(), 1_000)
    start = QApplication.focusWidget()
    if start is None or not page.window().isAncestorOf(start):
        wanted[0].setFocus(Qt.FocusReason.TabFocusReason)
        start = QApplication.focusWidget()
    reached: list[QWidget] = []
    here, stays = start, 0
    for _ in range(3 * len(wanted) + PATIENCE):
        if here is None:
            break
        if here not in reached:
            reached.append(here)
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            QCoreApplication.sendEvent(here, QKeyEvent(kind, Qt.Key.Key_Tab, Qt.KeyboardModifier.NoModifier))
        before, here = here, QApplication.focusWidget()
        if here is start and not _missed(wanted, reached):  # from here on, all would be as before
            break
        stays = stays + 1 if here is before else 0
        if stays > PATIENCE and len(wanted) > 1:
            yield f"{named(before)}: Tab does not leave it"
            break
    if start is not None:
        start.setFocus()
    for widget in _missed(wanted, reached):
        yield f"{named(widget)}: Tab does not reach it"


def _missed(wanted: list[QWidget], reached: list[QWidget]) -> list[QWidget]:
    return [widget for widget in wanted if widget not in reached and not _shares(widget, reached)]


def _shares(widget: QWidget, reached: list[QWidget]) -> bool:
    """Return whether the widget is a part of one that was reached, or one of a group of which one was."""
    return any(widget.isAncestorOf(other) or other.isAncestorOf(widget) for other in reached)
