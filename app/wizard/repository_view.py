"""One repository of the Hub: the models in it, and a draft for the one that is chosen, checked."""

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QListWidget, QVBoxLayout, QWidget

from app import words
from app.wizard import phrases
from app.wizard.choice import Choice, of_repository
from app.wizard.drafts import Verdict, check, proposed
from app.wizard.offers import Offers, where_it_fits
from app.wizard.parts import LINE_HEIGHT, label, set_role
from app.work import Work
from engine import catalog, hub
from engine.catalog import Variant
from engine.errors import SpecExecError
from engine.hub import Hub, Repository

USUAL = "q4_k_m"  # the form most people take: a quarter of the bytes, hardly worse


class RepositoryView(QWidget):
    """
    Attributes:
        forms: the models in it; draft: what goes with the chosen one.
        offers: what is known of this machine and of models that the catalogue has; None while it is not.
        verdict: whether the draft fits; None while that is being found out, or there is none.

    Signals:
        changed: `choice` may have changed
        taken: a person is sure of it
    """

    changed = Signal()
    taken = Signal()

    def __init__(self, get_hub: Callable[[], Hub], work: Work, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.offers: Offers | None = None
        self.verdict: Verdict | None = None
        self._get_hub, self._work = get_hub, work
        self._repository: Repository | None = None
        self._models: list[hub.Offer] = []
        self._title = label(role="heading", parent=self)
        self.forms = QListWidget(self)
        self.forms.setAccessibleName(self.tr("Forms of this model"))
        self.forms.setObjectName("choices")
        self.forms.setMinimumHeight(110)
        self.draft = QComboBox(self)
        self.draft.setAccessibleName(self.tr("Draft"))
        self.draft.setMinimumHeight(LINE_HEIGHT)
        self._speed = label(parent=self)
        self._told = label(parent=self)
        drafting = QHBoxLayout()
        drafting.addWidget(label(self.tr("Draft"), "name", self))
        drafting.addWidget(self.draft, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addWidget(self._title)
        layout.addWidget(self.forms)
        layout.addLayout(drafting)
        layout.addWidget(self._told)
        layout.addWidget(self._speed)
        self.forms.currentRowChanged.connect(lambda row: self._propose())
        self.forms.itemActivated.connect(lambda item: self.taken.emit())
        self.draft.currentIndexChanged.connect(lambda index: self._check())

    @property
    def choice(self) -> Choice | None:
        """None where the draft does not fit."""
        if self._repository is None or (self.verdict and self.verdict.says == "differs"):
            return None
        draft = self.draft.currentData()
        missing = draft is not None and catalog.find(draft) is None
        return of_repository(self._repository, self._form, draft, missing)

    def close_repository(self) -> None:
        self._repository = self.verdict = None
        self._work.forget("check")

    def show_repository(self, repository: Repository, models: list[hub.Offer]) -> None:
        """models: at least one."""
        self._repository, self._models = repository, models
        facts = [repository.id, phrases.license(repository.license)]
        facts += [self.tr("account needed")] if repository.gated else []
        self._title.setText(" · ".join(facts))
        usual = next((row for row, model in enumerate(models) if USUAL in model.name.lower()), 0)
        with QSignalBlocker(self.forms):
            self.forms.clear()
            self.forms.addItems([self._described(model) for model in models])
            self.forms.setCurrentRow(usual)
        self._propose()

    @property
    def _form(self) -> hub.Offer:
        return self._models[self.forms.currentRow()]

    def _described(self, model: hub.Offer) -> str:
        parts = [model.name or self.tr("as its authors published it"), words.nbytes(model.nbytes)]
        if self.offers is not None:
            parts.append(phrases.fit(where_it_fits(self.offers.machine, model.nbytes)))
        return " · ".join(parts)

    def _propose(self) -> None:
        if self._repository is None:
            return
        with QSignalBlocker(self.draft):
            self.draft.clear()
            for draft in proposed(catalog.catalog(), self._repository, self._form.nbytes):
                is_here = catalog.find(draft) is not None
                size = self.tr("on this machine") if is_here else words.nbytes(draft.nbytes)
                self.draft.addItem(f"{draft.name} · {size}", draft)
            self.draft.addItem(self.tr("No draft"), None)
        self._check()

    def _check(self) -> None:
        assert self._repository is not None
        self._work.forget("check")
        self.verdict = None
        target = self._repository
        draft: Variant | None = self.draft.currentData()
        self._speed.setText(self._predicted(target, draft))
        if draft is not None:
            self._say(self.tr("Checking whether {} fits…").format(draft.name))
            self._work.run(
                "check",
                lambda stop: check(self._get_hub(), catalog.catalog(), target, draft, stop),
                self._show_verdict,
                self._show_unchecked,
            )
        elif self.draft.count() > 1:
            self._say(self.tr("Without a draft it answers all the same, only slower."))
        else:
            self._say(self.tr("No draft for it is known. Without one it answers all the same, only slower."))
        self.changed.emit()

    def _predicted(self, target: Repository, draft: Variant | None) -> str:
        """Of a model that the catalogue has."""
        wanted = target.id, self._form.name, draft
        for offer in self.offers.all if self.offers else ():
            if (offer.target.repository, offer.target.file, offer.draft) == wanted:
                return phrases.told_speed(offer.plan)
        return self.tr("How fast it is, shows when it is loaded: the list does not have this pair.")

    def _show_verdict(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self._say(f"{verdict.message} {verdict.hint}".strip(), "danger" if verdict.says == "differs" else "")
        self.changed.emit()

    def _show_unchecked(self, error: SpecExecError) -> None:
        """Not known is no obstacle: the engine looks when it loads them."""
        self._say(self.tr("Whether the draft fits could not be checked: {}").format(error.message))

    def _say(self, text: str, role: str = "muted") -> None:
        self._told.setText(text)
        set_role(self._told, role)
