"""The frame around the wizard's pages: step names above, buttons below; it also moves the keyboard focus."""

from collections.abc import Container, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QFont, QFontMetrics, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.widgets.flow import Flow
from app.widgets.form_parts import Scrolling, button, label, set_role
from app.widgets.plain_text import PlainLabel
from app.widgets.window_size import resize_on_screen
from app.wizard.pages.page import Page

WIDTH, HEIGHT = 1120, 780


class Paged(QDialog):
    """A dialog that shows one page at a time, between the step names and the buttons.

    Attributes:
        pages: the pages, in order.
        main, back, leave, elsewhere: the buttons below the page.
    """

    main: QPushButton
    back: QPushButton
    leave: QPushButton
    elsewhere: QPushButton

    def _add_pages(self, pages: Sequence[Page]) -> None:
        """Add the pages; call this once. The Tab key moves through a page and then to the buttons."""
        self.pages = list(pages)
        self._foot = Foot(self)
        self.main, self.back, self.leave = self._foot.main, self._foot.back, self._foot.leave
        self.elsewhere = self._foot.elsewhere
        self._steps = Steps(self)
        self._stack = QStackedWidget(self)
        resize_on_screen(self, WIDTH, HEIGHT)
        for page in pages:
            self._stack.addWidget(Scrolling(page, self))
            page.changed.connect(self._refresh)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._steps)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self._foot)
        self.leave.clicked.connect(self.close)

    @property
    def page(self) -> Page:
        """The page that is shown."""
        return self.pages[self._stack.currentIndex()]

    @property
    def back_text(self) -> str:
        """The text of the back button; "" hides it."""
        raise NotImplementedError

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Enter act on the focused widget only, never on a default button."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    def _show(self) -> None:
        self.show()
        self.raise_()
        self.activateWindow()
        self._focus()

    def _turn_to(self, page: Page, left_out: Container[Page], title: str) -> None:
        """Show `page`.

        Args:
            left_out: the pages that are not listed as steps; `page` itself is always listed.
            title: the title of the window, with {} in place of the name of the step.
        """
        self._stack.setCurrentIndex(self.pages.index(page))
        steps = [listed for listed in self.pages if listed is page or listed not in left_out]
        self._steps.show_steps([listed.step for listed in steps], steps.index(page))
        self.setWindowTitle(title.format(page.step))
        self._refresh()
        self._focus()
        if self.isVisible():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, page.title))

    def _focus(self) -> None:
        first = self.page.first
        if first is not None and first.isEnabled():
            first.setFocus()
        elif self.main.isEnabled():
            self.main.setFocus()
        else:
            self.setFocus()  # the dialog has the focus until the main button is enabled

    def _refresh(self) -> None:
        page = self.page
        self._foot.show_state(page.main_text, page.can_continue, self.back_text, page.remark)
        if page.can_continue and self.focusWidget() in (None, self):
            self.main.setFocus()


class StepName(PlainLabel):
    """The name of a step, which is as wide as when it is the current one, so that no name moves."""

    def sizeHint(self) -> QSize:
        hint, bold = super().sizeHint(), QFont(self.font())
        bold.setWeight(QFont.Weight.DemiBold)
        return hint.expandedTo(QFontMetrics(bold).size(Qt.TextFlag.TextSingleLine, self.text()))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


class Steps(QWidget):
    """A row of step names with the current one marked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = Flow(self)
        self._row.setContentsMargins(28, 12, 28, 0)
        self._row.setSpacing(22)

    def show_steps(self, names: list[str], current: int) -> None:
        while (item := self._row.takeAt(0)) is not None:
            if old := item.widget():
                old.hide()
                old.deleteLater()
        for number, name in enumerate(names):
            step = StepName(f"{number + 1}  {name}", self)
            set_role(step, "current_step" if number == current else "step")
            self._row.addWidget(step)
        position = self.tr("Step {} of {}: {}").format(current + 1, len(names), names[current])
        self.setAccessibleName(position)


class Foot(QFrame):
    """The row of buttons below every page, and above it what is to be known before the main one is pressed.

    Attributes:
        main, back, leave, elsewhere: the buttons; the last leads away from the wizard.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("wizard_foot")
        self._remark = label(parent=self)
        self.leave = button(self.tr("Close"), parent=self)
        self.elsewhere = button(self.tr("Use an engine elsewhere…"), parent=self)
        self.elsewhere.setToolTip(self.tr("Let another machine or service answer; nothing is downloaded"))
        self.back = button("", parent=self)
        self.main = button("", parent=self)
        set_role(self.main, "main")
        buttons = Flow()
        buttons.addWidget(self.leave)
        buttons.addWidget(self.elsewhere)
        buttons.addStretch()
        buttons.addWidget(self.back)
        buttons.addWidget(self.main)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 12, 28, 14)
        layout.setSpacing(8)
        layout.addWidget(self._remark)
        layout.addLayout(buttons)

    def show_state(self, main: str, enabled: bool, back: str, remark: str) -> None:
        """Set the texts of `main` and `back`, whether `main` is enabled, and the remark above the buttons. ""
        as text hides `back` or the remark."""
        self.main.setText(main)
        self.main.setAccessibleName(main)
        self.main.setAccessibleDescription(remark)
        self.main.setEnabled(enabled)
        self.back.setText(back)
        self.back.setAccessibleName(back)
        self.back.setVisible(bool(back))
        self._remark.setText(remark)
        self._remark.setVisible(bool(remark))
