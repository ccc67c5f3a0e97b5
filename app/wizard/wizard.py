"""From a machine without engine and model to one that is loaded: the pages in their order."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.wizard.access_page import AccessPage
from app.wizard.choice import Choice
from app.wizard.choose_page import ChoosePage
from app.wizard.download_page import DownloadPage
from app.wizard.downloads import Downloads, Entry
from app.wizard.engine_setup import EngineSetup
from app.wizard.machine_page import MachinePage
from app.wizard.page import Page
from app.wizard.paged import Paged
from app.wizard.preparing import Preparing
from app.wizard.ready_page import ReadyPage
from app.wizard.setup_page import SetupPage
from app.wizard.survey import Survey
from app.wizard.where_page import WherePage
from app.work import Work
from engine import catalog
from engine.errors import SpecExecError
from engine.hub import Gated, Item


class Wizard(Paged):
    """Beside the window, not before it: a person may chat meanwhile. Closed, it keeps what it knows;
    downloads go on.

    Attributes:
        engine, machine, choose, where, access, download, ready: its pages.
        survey: of this machine.

    Signals:
        load_asked: target, draft, as in `protocol.Load`
    """

    load_asked = Signal(str, str)

    def __init__(self, downloads: Downloads, setup: EngineSetup, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("wizard")
        self._downloads, self._setup = downloads, setup
        self._work = Work(self)
        self.survey = Survey(self._work, self)
        self._preparing = Preparing(downloads.hub, self._work, self)
        self._choice: Choice | None = None
        self._awaited: Entry | None = None
        self._begins_with_engine = False
        self.engine = SetupPage(setup, self._work, self)
        self.machine = MachinePage(self)
        self.choose = ChoosePage(downloads.hub, self._work, self)
        self.where = WherePage(self._work, self)
        self.access = AccessPage(self)
        self.download = DownloadPage(downloads, self)
        self.ready = ReadyPage(self)
        self._hold(
            [self.engine, self.machine, self.choose, self.where, self.access, self.download, self.ready]
        )
        self._connect()
        self._go(self.machine)

    def _connect(self) -> None:
        self.main.clicked.connect(self._go_on)
        self.back.clicked.connect(self._go_back)
        self.machine.follow(self.survey)
        self.choose.follow(self.survey)
        self._preparing.changed.connect(self.where.prepare)
        self._preparing.changed.connect(self.access.check)
        self._preparing.prepared.connect(self._download)
        self._preparing.refused.connect(self._refuse)
        self.choose.catalogue.taken.connect(self._go_on)
        self.choose.hub_search.taken.connect(self._go_on)
        self.where.moved.connect(lambda: self.survey.begin())
        self.where.moved.connect(self._downloads.follow_models)
        self.access.checked.connect(self._go_on)
        self._downloads.finished.connect(self._arrive)
        self._setup.began.connect(self._follow_setup)
        self._setup.ended.connect(self._follow_setup)

    # -- the way in, and out ---------------------------------------------------------------------------------

    def begin(self) -> None:
        """To choose a model; what this machine can do is shown first, where that is not known yet. Without an
        engine, to set it up."""
        self._begins_with_engine = self._setup.is_needed
        if self._begins_with_engine:
            self._go(self.engine)
            self.engine.view.look()
        else:
            self._begin_choosing()
        self._show()

    def _begin_choosing(self) -> None:
        if self.page in (self.engine, self.download, self.ready):
            self._go(self.choose if self.survey.examined else self.machine)
        if not self.survey.is_running:
            self.survey.begin()

    def show_downloads(self) -> None:
        """What is being downloaded, or has come meanwhile."""
        come = [entry for entry in self._downloads.entries if entry.shown.state == "done"]
        if come and not self._downloads.is_running:
            self._show_ready(come[-1])
        else:
            self._go(self.download)
        self._show()

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

    # -- from page to page -----------------------------------------------------------------------------------

    def _go(self, page: Page) -> None:
        left_out = {self.access} if self._begins_with_engine else {self.access, self.engine}
        title = self.tr("Set up: {}") if page is self.engine else self.tr("Get a model: {}")
        self._turn_to(page, left_out, title)

    @property
    def back_text(self) -> str:
        if self.page in (self.engine, self.machine):
            return ""
        if self.page in (self.download, self.ready):
            return self.tr("Get another model")
        return self.tr("Back")

    def _go_on(self) -> None:
        page = self.page
        if not page.can_go_on:
            return
        if page is self.engine:
            self._set_up()
        elif page is self.machine:
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

    def _set_up(self) -> None:
        if self._setup.is_done:
            self._begin_choosing()
        else:
            self.engine.view.begin()

    def _follow_setup(self) -> None:
        """What had the keyboard may be hidden now."""
        if self.page is self.engine:
            self._focus()

    def _prepare(self, token: str = "") -> None:
        assert self._choice is not None
        self._preparing.begin(self._choice, token)

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
