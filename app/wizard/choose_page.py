"""Second: which model."""

from collections.abc import Callable

from PySide6.QtWidgets import QProgressBar, QTabWidget, QWidget

from app import words
from app.wizard.catalogue import Catalogue
from app.wizard.choice import Choice, of_offer
from app.wizard.hub_search import HubSearch
from app.wizard.offers import Offers
from app.wizard.page import Page
from app.wizard.parts import Problem, label
from app.wizard.survey import Survey
from app.work import Work
from engine.errors import SpecExecError
from engine.hub import Hub


class ChoosePage(Page):
    """
    Attributes:
        catalogue, hub_search, tabs: the two ways to choose.
        problem: why there are no predictions.
    """

    def __init__(self, get_hub: Callable[[], Hub], work: Work, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Choose"), self.tr("Choose a model"), parent)
        self.column.addWidget(
            label(
                self.tr(
                    "Larger models know more and answer more slowly. If you are not sure, take the one that "
                    "is recommended; you can get others at any time."
                ),
                "muted",
                self,
            )
        )
        self._busy = QProgressBar(self)
        self._busy.setTextVisible(False)
        self._busy.setRange(0, 0)
        self._busy.setAccessibleName(self.tr("Working out what runs here"))
        self._wait = label(self.tr("Working out what runs on this machine, and how fast…"), "muted", self)
        self.problem = Problem(self)
        self.catalogue = Catalogue(self)
        self.hub_search = HubSearch(get_hub, work, self)
        self.tabs = QTabWidget(self)
        self.tabs.addTab(self.catalogue, self.tr("Models that fit together"))
        self.tabs.addTab(self.hub_search, self.tr("Any model from Hugging Face"))
        self.tabs.tabBar().setDrawBase(False)
        for widget in (self._wait, self._busy, self.problem):
            self.column.addWidget(widget)
        self.column.addWidget(self.tabs, 1)
        self.catalogue.changed.connect(self.changed)
        self.hub_search.changed.connect(self.changed)
        self.tabs.currentChanged.connect(lambda index: self._turn())
        self.catalogue.hide()

    @property
    def choice(self) -> Choice | None:
        if self.tabs.currentWidget() is self.hub_search:
            return self.hub_search.choice
        offer = self.catalogue.offer
        return of_offer(offer) if offer is not None and offer.plan.runs else None

    @property
    def can_go_on(self) -> bool:
        return self.choice is not None

    @property
    def main_text(self) -> str:
        choice = self.choice
        if choice is None:
            return self.tr("Next")
        if choice.is_here:
            return self.tr("Load it now")
        return self.tr("Get it ({})").format(words.nbytes(choice.nbytes))

    @property
    def first(self) -> QWidget | None:
        return self.hub_search.line if self.tabs.currentWidget() is self.hub_search else None

    def follow(self, survey: Survey) -> None:
        survey.predicted.connect(self.show_offers)
        survey.unpredicted.connect(self.show_failure)

    def show_offers(self, offers: Offers) -> None:
        self._wait.hide()
        self._busy.hide()
        self.problem.clear()
        self.catalogue.show()
        self.catalogue.show_offers(offers)
        self.hub_search.repository.offers = offers

    def show_failure(self, error: SpecExecError) -> None:
        self._wait.hide()
        self._busy.hide()
        self.problem.show_error(error)

    def _turn(self) -> None:
        if self.tabs.currentWidget() is self.hub_search:
            self.hub_search.line.setFocus()
        self.changed.emit()
