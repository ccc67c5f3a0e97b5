"""From a machine without a model to one that is loaded: the pages in their order."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QDialog, QStackedWidget, QVBoxLayout, QWidget

from app.wizard.access_page import AccessPage
from app.wizard.choice import Choice
from app.wizard.choose_page import ChoosePage
from app.wizard.download_page import DownloadPage
from app.wizard.downloads import Downloads, Entry
from app.wizard.foot import Foot
from app.wizard.machine_page import MachinePage
from app.wizard.page import Page
from app.wizard.parts import Scrolling
from app.wizard.preparing import Preparing
from app.wizard.ready_page import ReadyPage
from app.wizard.steps import Steps
from app.wizard.survey import Survey
from app.wizard.where_page import WherePage
from app.wizard.work import Work
from engine import catalog
from engine.errors import SpecExecError
from engine.hub import Gated, Item

WIDTH, HEIGHT = 1120, 780


class Wizard(QDialog):
    """Beside the window, not before it: a person may chat meanwhile. Closed, it keeps what it knows;
    downloads go on.

    Attributes:
        machine, choose, where, access, download, ready: its pages.
        main, back, leave: its buttons.
        survey: of this machine.

    Signals:
        load_asked: target, draft, as in `protocol.Load`
    """

    load_asked = Signal(str, str)

    def __init__(self, downloads: Downloads, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("wizard")
        self._downloads = downloads
        self._work = Work(self)
        self.survey = Survey(self._work, self)
        self._preparing = Preparing(downloads.hub, self._work, self)
        self._choice: Choice | None = None
        self._awaited: Entry | None = None
        self.machine = MachinePage(self)
        self.choose = ChoosePage(downloads.hub, self._work, self)
        self.where = WherePage(self._work, self)
        self.access = AccessPage(self)
        self.download = DownloadPage(downloads, self)
        self.ready = ReadyPage(self)
        self._foot = Foot(self)
        self.main, self.back, self.leave = self._foot.main, self._foot.back, self._foot.leave
        self._steps = Steps(self)
        self._stack = QStackedWidget(self)
        self._pages: list[Page] = [
            self.machine, self.choose, self.where, self.access, self.download, self.ready,
        ]  # fmt: skip
        self._build()
        self._connect()
        self._go(self.machine)

    def _build(self) -> None:
        screen = self.screen().availableSize()
        self.resize(min(WIDTH, screen.width()), min(HEIGHT, screen.height()))
        for page in self._pages:
            self._stack.addWidget(Scrolling(page, self))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._steps)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self._foot)

    def _connect(self) -> None:
        for page in self._pages:
            page.changed.connect(self._refresh)
        self.main.clicked.connect(self._go_on)
        self.back.clicked.connect(self._go_back)
        self.leave.clicked.connect(self.close)
        self.machine.measure_asked.connect(lambda: self.survey.begin(again=True))
        self._connect_survey()
        self._preparing.began.connect(lambda: self._show_preparing(True))
        self._preparing.ended.connect(lambda: self._show_preparing(False))
        self._preparing.prepared.connect(self._download)
        self._preparing.refused.connect(self._refuse)
        self.choose.catalogue.taken.connect(self._go_on)
        self.choose.hub_search.taken.connect(self._go_on)
        self.where.moved.connect(lambda: self.survey.begin())
        self.where.moved.connect(self._downloads.follow_models)
        self.access.checked.connect(self._go_on)
        self._downloads.finished.connect(self._arrive)

    def _connect_survey(self) -> None:
        survey = self.survey
        survey.began.connect(self.machine.show_measuring)
        survey.seen.connect(self.machine.show_seen)
        survey.measured.connect(self.machine.show_measured)
        survey.unmeasured.connect(self.machine.show_failure)
        survey.predicted.connect(self.choose.show_offers)
        survey.unpredicted.connect(self.choose.show_failure)

    # -- the way in, and out ---------------------------------------------------------------------------------

    def begin(self) -> None:
        """To choose a model; what this machine can do is shown first, where that is not known yet."""
        if self.page in (self.download, self.ready):
            self._go(self.choose if self.survey.examined else self.machine)
        if not self.survey.is_running:
            self.survey.begin()
        self._show()

    def show_downloads(self) -> None:
        """What is being downloaded, or has come meanwhile."""
        come = [entry for entry in self._downloads.entries if entry.shown.state == "done"]
        if come and not self._downloads.is_running:
            self._show_ready(come[-1])
        else:
            self._go(self.download)
        self._show()

    @property
    def page(self) -> Page:
        return self._pages[self._stack.currentIndex()]

    def shut_down(self) -> None:
        """The program ends: nothing goes on."""
        self._work.close()
        self.close()

    def done(self, result: int) -> None:
        """Closed, in whatever way: nobody waits for answers any more."""
        self.survey.stop()
        self.choose.hub_search.stop()
        self.where.stop()
        self._preparing.stop()
        super().done(result)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter means what has the keyboard, never a button somewhere else."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    # -- from page to page -----------------------------------------------------------------------------------

    def _show(self) -> None:
        self.show()
        self.raise_()
        self.activateWindow()
        self._focus()

    def _go(self, page: Page) -> None:
        self._stack.setCurrentIndex(self._pages.index(page))
        shown = [each for each in self._pages if each is not self.access or page is self.access]
        self._steps.show_steps([each.step for each in shown], shown.index(page))
        self.setWindowTitle(self.tr("Get a model: {}").format(page.step))
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
        back = "" if page is self.machine else self.tr("Back")
        if page in (self.download, self.ready):
            back = self.tr("Get another model")
        self._foot.show_state(page.main_text, page.can_go_on, back)
        if page.can_go_on and self.focusWidget() in (None, self):
            self.main.setFocus()

    def _go_on(self) -> None:
        page = self.page
        if not page.can_go_on:
            return
        if page is self.machine:
            self._go(self.choose)
        elif page is self.choose:
            self._take(self.choose.choice)
        elif page is self.where:
            self._prepare()
        elif page is self.access:
            self._prepare(self.access.token.text())
        elif page is self.download:
            self._show_ready(next(e for e in reversed(self._downloads.entries) if e.shown.state == "done"))
        elif self.ready.entry is not None:
            self._load(self.ready.entry.target, self.ready.entry.draft)

    def _go_back(self) -> None:
        before = {self.choose: self.machine, self.access: self.where}
        self._preparing.stop()
        self._go(before.get(self.page, self.choose))

    def _take(self, choice: Choice | None) -> None:
        if choice is None:
            return
        if choice.is_here:
            self._load(choice.target, choice.draft)
            return
        self._choice = choice
        self.where.show_choice(choice)
        self._go(self.where)

    def _load(self, target: str, draft: str) -> None:
        self.load_asked.emit(target, draft)
        self.close()

    # -- what takes its time ---------------------------------------------------------------------------------

    def _prepare(self, token: str = "") -> None:
        assert self._choice is not None
        self._preparing.begin(self._choice, token)

    def _show_preparing(self, preparing: bool) -> None:
        self.where.prepare(preparing)
        self.access.check(preparing)

    def _download(self, choice: Choice, item: Item, notice: str) -> None:
        self.access.token.clear()
        self._awaited = self._downloads.begin(item, catalog.models_folder(), choice.target, choice.draft)
        self.download.say(notice)
        self._go(self.download)

    def _refuse(self, error: SpecExecError) -> None:
        if isinstance(error, Gated):
            again = self.page is self.access
            self.access.show_gate(error)
            if again:
                self.access.show_failure(error)
            self._go(self.access)
        elif self.page is self.access:
            self.access.show_failure(error)
        else:
            self.where.problem.show_error(error, self.tr("Try again")).pressed.connect(self._prepare)

    def _arrive(self, entry: Entry) -> None:
        if entry is self._awaited and self.page is self.download and self.isVisible():
            self._show_ready(entry)

    def _show_ready(self, entry: Entry) -> None:
        self._downloads.see(entry)
        self.ready.show_entry(entry)
        self._go(self.ready)
