"""The wizard's dialog, which decides the order of the pages, from the engine's set-up to a loaded model."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.background import Work
from app.downloads.downloads import Downloads, Entry
from app.preferences import PreferencesFile
from app.runtime_setup.setup_job import EngineSetup
from app.wizard.paged_dialog import Paged
from app.wizard.pages.access_page import AccessPage
from app.wizard.pages.choose_page import ChoosePage
from app.wizard.pages.download_page import DownloadPage
from app.wizard.pages.machine_page import MachinePage
from app.wizard.pages.page import Page
from app.wizard.pages.ready_page import ReadyPage
from app.wizard.pages.setup_page import SetupPage
from app.wizard.pages.where_page import WherePage
from app.wizard.selection.choice import Choice, Preparing
from app.wizard.selection.survey import Survey
from engine import catalog
from engine.errors import SpecExecError
from engine.hub import Gated, Item


class Wizard(Paged):
    """The dialog that sets up a runtime if asked to, and downloads a model.

    The wizard is not modal: the user can chat at the same time. Closing it keeps its state, and downloads
    continue.

    Attributes:
        engine, machine, choose, where, access, download, ready: the pages.
        survey: the survey of this machine.

    Signals:
        load_asked: the user wants to load this target and this draft, named as in `protocol.Load`
        engines_asked: the user wants to use an engine elsewhere
    """

    load_asked = Signal(str, str)
    engines_asked = Signal()

    def __init__(
        self,
        downloads: Downloads,
        setup: EngineSetup,
        preferences: PreferencesFile,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("wizard")
        self._downloads, self._setup = downloads, setup
        self._work = Work(self)
        self.survey = Survey(self._work, preferences, self)
        self._preparing = Preparing(downloads.hub, self._work, self)
        self._choice: Choice | None = None
        self._awaited: Entry | None = None
        self._starts_with_engine = False
        self.engine = SetupPage(setup, self._work, self)
        self.machine = MachinePage(self)
        self.choose = ChoosePage(downloads.hub, self._work, self)
        self.where = WherePage(self._work, self)
        self.access = AccessPage(self)
        self.download = DownloadPage(downloads, self)
        self.ready = ReadyPage(self)
        self._add_pages(
            [self.engine, self.machine, self.choose, self.where, self.access, self.download, self.ready]
        )
        self._connect()
        self.go_to(self.choose)

    def _connect(self) -> None:
        self.main.clicked.connect(self._continue)
        self.back.clicked.connect(self._go_back)
        self.elsewhere.clicked.connect(self.close)
        self.elsewhere.clicked.connect(self.engines_asked)
        self.machine.follow(self.survey)
        self.choose.follow(self.survey)
        self._preparing.changed.connect(self.where.set_preparing)
        self._preparing.changed.connect(self.access.set_checking)
        self._preparing.completed.connect(self._complete)
        self._preparing.prepared.connect(self._download)
        self._preparing.refused.connect(self._refuse)
        self.choose.catalogue.taken.connect(self._continue)
        self.choose.hub_search.taken.connect(self._continue)
        self.where.moved.connect(lambda: self.survey.begin())
        self.where.moved.connect(self._downloads.follow_models)
        self.access.checked.connect(self._continue)
        self._downloads.finished.connect(self._finish)
        self._setup.began.connect(self._follow_setup)
        self._setup.ended.connect(self._follow_setup)

    # -- opening and closing ---------------------------------------------------------------------------------

    def begin(self) -> None:
        """Open the wizard where it was left; at `choose` if that was `engine`, `machine`, `download` or
        `ready`."""
        self._starts_with_engine = False
        self._begin_choosing()
        if self.page is self.where and self._choice is not None and self._choice.companion:
            self._show_choice()  # whose answer was no longer awaited while the wizard was closed
        self._show()

    def begin_setup(self) -> None:
        """Open the wizard at the set-up of a runtime."""
        self._starts_with_engine = True
        self.go_to(self.engine)
        self.engine.view.look()
        self._show()

    def _begin_choosing(self) -> None:
        if self.page in (self.engine, self.machine, self.download, self.ready):
            self.go_to(self.choose)
        if not self.survey.is_running:
            self.survey.begin()

    def follow_settings(self) -> None:
        """Predict anew, while the wizard is open, if the user has changed whether the processor may help."""
        if self.isVisible():
            self.survey.follow_settings()

    def show_downloads(self) -> None:
        """Open the wizard at the downloads, or at the choice of a model if there are none.

        If none is running and at least one is complete, open it at the page that offers to load the last one.
        """
        if not self._downloads.entries:
            self.begin()
            return
        self.survey.follow_settings()
        complete = [entry for entry in self._downloads.entries if entry.progress.state == "done"]
        if complete and not self._downloads.is_running:
            self._show_ready(complete[-1])
        else:
            self.go_to(self.download)
        self._show()

    def shut_down(self) -> None:
        """Stop all background work and close the wizard. Called when the program ends."""
        self._work.close()
        self.close()

    def done(self, result: int) -> None:
        """Stop background work whose results are no longer needed, however the dialog was closed."""
        self.survey.stop()
        self.choose.hub_search.stop()
        self.where.stop()
        self._preparing.stop()
        super().done(result)

    # -- from page to page -----------------------------------------------------------------------------------

    def go_to(self, page: Page) -> None:
        """Show a page."""
        left_out = {self.access} if self._starts_with_engine else {self.access, self.engine}
        title = self.tr("Set up: {}") if page is self.engine else self.tr("Get a model: {}")
        self._turn_to(page, left_out, title)

    @property
    def back_text(self) -> str:
        if self.page in (self.engine, self.machine):
            return ""
        if self.page in (self.download, self.ready):
            return self.tr("Get another model")
        return self.tr("Back")

    def _continue(self) -> None:
        page = self.page
        if not page.can_continue:
            return
        if page is self.engine:
            self._set_up()
        elif page is self.machine:
            self.go_to(self.choose)
        elif page is self.choose:
            self._take(self.choose.choice)
        elif page is self.where:
            self._take_shown()
        elif page is self.access:
            self._prepare(self.access.token.text())
        elif page is self.download:
            self._show_ready(next(e for e in reversed(self._downloads.entries) if e.progress.state == "done"))
        elif self.ready.entry is not None:
            self._load(self.ready.entry.target, self.ready.entry.draft)

    def _go_back(self) -> None:
        before = {self.choose: self.machine, self.access: self.where}
        self._preparing.stop()
        self.go_to(before.get(self.page, self.choose))

    def _take(self, choice: Choice | None) -> None:
        if choice is None:
            return
        if choice.is_local:
            self._load(choice.target, choice.draft)
            return
        self._choice = choice
        self._show_choice()
        self.go_to(self.where)

    def _show_choice(self) -> None:
        """Show the choice's parts, and ask for its companion if that is not among them yet."""
        assert self._choice is not None
        self.where.show_choice(self._choice)
        if self._choice.companion:
            self._preparing.complete(self._choice)

    def _complete(self, choice: Choice, left_out: SpecExecError | None) -> None:
        self._choice = choice
        self.where.show_choice(choice, left_out)

    def _take_shown(self) -> None:
        assert self._choice is not None
        if self.where.has_nothing:
            self._load(self._choice.target, self._choice.draft)
        else:
            self._prepare()

    def _load(self, target: str, draft: str) -> None:
        self.load_asked.emit(target, draft)
        self.close()

    # -- set-up and downloads --------------------------------------------------------------------------------

    def _set_up(self) -> None:
        if self._setup.is_done:
            self._begin_choosing()
        else:
            self.engine.view.begin()

    def _follow_setup(self) -> None:
        """Move the focus after a set-up began or ended, because the focused widget may be hidden now."""
        if self.page is self.engine:
            self._focus()

    def _prepare(self, token: str = "") -> None:
        assert self._choice is not None
        self._preparing.begin(self._choice, token)

    def _download(self, choice: Choice, item: Item, notice: str) -> None:
        self.access.token.clear()
        entry = self._downloads.begin(item, catalog.models_folder(), choice.target, choice.draft)
        self._awaited = entry
        self.download.show_notice(notice)
        self.go_to(self.download)
        if entry.progress.state == "done":  # already, before it could be awaited
            self._finish(entry)

    def _refuse(self, error: SpecExecError) -> None:
        if isinstance(error, Gated):
            was_tried = self.page is self.access
            self.access.show_gate(error)
            if was_tried:
                self.access.show_failure(error)
            self.go_to(self.access)
        elif self.page is self.access:
            self.access.show_failure(error)
        else:
            self.where.problem.show_error(error, self.tr("Try again")).pressed.connect(self._prepare)

    def _finish(self, entry: Entry) -> None:
        if entry is self._awaited and self.page is self.download and self.isVisible():
            self._show_ready(entry)

    def _show_ready(self, entry: Entry) -> None:
        self._downloads.mark_seen(entry)
        self.ready.show_entry(entry)
        self.go_to(self.ready)
