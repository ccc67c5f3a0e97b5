"""The page for the choice of a model, from the catalogue or from the Hub."""

from collections.abc import Callable

from PySide6.QtWidgets import QProgressBar, QTabWidget, QWidget

from app import formatting
from app.background import Work
from app.widgets.form_parts import label
from app.widgets.notice import Problem
from app.wizard.pages.page import Page
from app.wizard.selection import wording
from app.wizard.selection.catalog_view import Catalogue
from app.wizard.selection.choice import Choice, choice_of_offer
from app.wizard.selection.hub_search import HubSearch
from app.wizard.selection.offers import Offer, Offers
from app.wizard.selection.survey import Survey
from engine.errors import SpecExecError
from engine.hub import Hub


class ChoosePage(Page):
    """The page on which the user chooses a model, in one of two tabs.

    Attributes:
        catalogue, hub_search: the two tabs of `tabs`.
        problem: shows why there are no predictions.
    """

    def __init__(self, get_hub: Callable[[], Hub], work: Work, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Choose"), self.tr("Choose a model"), parent)
        self.column.addWidget(
            label(
                self.tr(
                    "Larger models know more and answer more slowly. If you are not sure, take the "
                    "recommended one. You can get others at any time."
                ),
                "muted",
                self,
            )
        )
        self._busy = QProgressBar(self)
        self._busy.setTextVisible(False)
        self._busy.setRange(0, 0)
        self._busy.setAccessibleName(self.tr("Estimating which models run here"))
        self._wait = label(
            self.tr("Estimating which models run on this machine, and how fast…"), "muted", self
        )
        self.problem = Problem(self)
        self.catalogue = Catalogue(self)
        self.hub_search = HubSearch(get_hub, work, self)
        self.tabs = QTabWidget(self)
        self.tabs.setAccessibleName(self.title)
        self.tabs.addTab(self.catalogue, self.tr("Catalogue"))
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
        offer = self._offer
        return choice_of_offer(offer) if offer else None

    @property
    def _offer(self) -> Offer | None:
        """The offer chosen in the catalogue, if that is shown and the offer runs."""
        offer = self.catalogue.offer if self.tabs.currentWidget() is self.catalogue else None
        return offer if offer is not None and offer.plan.runs else None

    @property
    def can_continue(self) -> bool:
        return self.choice is not None

    @property
    def main_text(self) -> str:
        choice = self.choice
        if choice is None:
            return self.tr("Next")
        if choice.is_local:
            return self.tr("Load now")
        if not choice.parts:  # of a companion, only the Hub knows the size
            return self.tr("Next")
        return self.tr("Next ({} to download)").format(formatting.nbytes(choice.nbytes))

    @property
    def remark(self) -> str:
        offer = self._offer
        return wording.companion_sentence(offer) if offer else ""

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
