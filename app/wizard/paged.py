"""A dialog of pages, one after another: which is shown, and where the keyboard is."""

from collections.abc import Container, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QDialog, QPushButton, QStackedWidget, QVBoxLayout

from app.wizard.foot import Foot
from app.wizard.page import Page
from app.wizard.parts import Scrolling
from app.wizard.steps import Steps

WIDTH, HEIGHT = 1120, 780


class Paged(QDialog):
    """The steps above, a page, the buttons below.

    Attributes:
        main, back, leave: its buttons.
    """

    main: QPushButton
    back: QPushButton
    leave: QPushButton

    def _hold(self, pages: Sequence[Page]) -> None:
        """These, once; Tab leads through a page and then to the buttons."""
        self._pages = list(pages)
        self._foot = Foot(self)
        self.main, self.back, self.leave = self._foot.main, self._foot.back, self._foot.leave
        self._steps = Steps(self)
        self._stack = QStackedWidget(self)
        screen = self.screen().availableSize()
        self.resize(min(WIDTH, screen.width()), min(HEIGHT, screen.height()))
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
        return self._pages[self._stack.currentIndex()]

    @property
    def back_text(self) -> str:
        """Of the button that leads back; "": there is none."""
        raise NotImplementedError

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter means what has the keyboard, never a button somewhere else."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    def _show(self) -> None:
        self.show()
        self.raise_()
        self.activateWindow()
        self._focus()

    def _turn_to(self, page: Page, left_out: Container[Page], title: str) -> None:
        """left_out: pages that are no steps, but for `page` itself. title: of the window; {}: the step."""
        self._stack.setCurrentIndex(self._pages.index(page))
        steps = [each for each in self._pages if each is page or each not in left_out]
        self._steps.show_steps([each.step for each in steps], steps.index(page))
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
            self.setFocus()  # until the main button may be pressed

    def _refresh(self) -> None:
        page = self.page
        self._foot.show_state(page.main_text, page.can_go_on, self.back_text)
        if page.can_go_on and self.focusWidget() in (None, self):
            self.main.setFocus()
