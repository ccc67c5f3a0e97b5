"""One repository of the Hub: its models, and a proposed draft whose vocabulary is checked."""

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QListWidget, QVBoxLayout, QWidget

from app import formatting
from app.background import Work
from app.widgets.fault_words import in_words
from app.widgets.form_parts import label, set_role
from app.wizard.selection import wording
from app.wizard.selection.choice import Choice, choice_of_repository
from app.wizard.selection.drafts import DraftCheck, check, propose
from app.wizard.selection.offers import Offers, where_it_fits
from engine import catalog, hub
from engine.catalog import Variant
from engine.errors import SpecExecError
from engine.hub import Hub, Repository

USUAL = "q4_k_m"  # the format most people choose: a quarter of the original's bytes, hardly worse answers


class RepositoryView(QWidget):
    """Lets the user choose one model of a repository and a draft for it.

    Attributes:
        forms: the list of the repository's models, one for each format.
        draft: the box of drafts for the chosen model.
        offers: the catalogue's offers on this machine; None until they are known.
        verdict: whether the draft fits; None without a draft, during the check and after a failed check.

    Signals:
        changed: `choice` may have changed
        taken: the user confirmed the choice
    """

    changed = Signal()
    taken = Signal()

    def __init__(self, get_hub: Callable[[], Hub], work: Work, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.offers: Offers | None = None
        self.verdict: DraftCheck | None = None
        self._get_hub, self._work = get_hub, work
        self._repository: Repository | None = None
        self._models: list[hub.RepositoryModel] = []
        self._title = label(role="heading", parent=self)
        self.forms = QListWidget(self)
        self.forms.setAccessibleName(self.tr("Formats of this model"))
        self.forms.setObjectName("choices")
        self.forms.setMinimumHeight(110)
        self.draft = QComboBox(self)
        self.draft.setAccessibleName(self.tr("Draft"))
        self._speed = label(parent=self)
        self._verdict_text = label(parent=self)
        drafting = QHBoxLayout()
        drafting.addWidget(label(self.tr("Draft"), "name", self))
        drafting.addWidget(self.draft, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addWidget(self._title)
        layout.addWidget(self.forms)
        layout.addLayout(drafting)
        layout.addWidget(self._verdict_text)
        layout.addWidget(self._speed)
        self.forms.currentRowChanged.connect(lambda row: self._propose())
        self.forms.itemActivated.connect(lambda item: self.taken.emit())
        self.draft.currentIndexChanged.connect(lambda index: self._check())

    @property
    def choice(self) -> Choice | None:
        """The chosen pair; None if no repository is open or the draft does not fit."""
        if self._repository is None or (self.verdict and self.verdict.says == "differs"):
            return None
        draft = self.draft.currentData()
        missing = draft is not None and catalog.find(draft) is None
        return choice_of_repository(self._repository, self._form, draft, missing)

    def close_repository(self) -> None:
        self._repository = self.verdict = None
        self._work.forget("check")

    def show_repository(self, repository: Repository, models: list[hub.RepositoryModel]) -> None:
        """Show a repository. models: its models, at least one."""
        self._repository, self._models = repository, models
        facts = [repository.id, wording.license(repository.license)]
        facts += [self.tr("account required")] if repository.gated else []
        self._title.setText(" · ".join(facts))
        usual = next((row for row, model in enumerate(models) if USUAL in model.name.lower()), 0)
        with QSignalBlocker(self.forms):
            self.forms.clear()
            self.forms.addItems([self._described(model) for model in models])
            self.forms.setCurrentRow(usual)
        self._propose()

    @property
    def _form(self) -> hub.RepositoryModel:
        return self._models[self.forms.currentRow()]

    def _described(self, model: hub.RepositoryModel) -> str:
        parts = [model.name or self.tr("original format"), formatting.nbytes(model.nbytes)]
        if self.offers is not None:
            parts.append(wording.fit(where_it_fits(self.offers.machine, model.nbytes)))
        return " · ".join(parts)

    def _propose(self) -> None:
        if self._repository is None:
            return
        with QSignalBlocker(self.draft):
            self.draft.clear()
            for draft in propose(catalog.catalog(), self._repository, self._form.nbytes):
                is_local = catalog.find(draft) is not None
                size = self.tr("on this machine") if is_local else formatting.nbytes(draft.nbytes)
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
            self._show_text(self.tr("Checking whether {} fits…").format(draft.name))
            self._work.run(
                "check",
                lambda stop: check(self._get_hub(), catalog.catalog(), target, draft, stop),
                self._show_verdict,
                self._show_unchecked,
            )
        elif self.draft.count() > 1:
            self._show_text(self.tr("A draft is optional. Without one, the model answers more slowly."))
        else:
            self._show_text(
                self.tr("No draft is known for this model. It works without one, only more slowly.")
            )
        self.changed.emit()

    def _predicted(self, target: Repository, draft: Variant | None) -> str:
        """Return a sentence with the predicted speed, or that there is none (pairs outside the catalogue)."""
        wanted = target.id, self._form.name, draft
        for offer in self.offers.all if self.offers else ():
            if (offer.target.repository, offer.target.file, offer.draft) == wanted:
                return wording.speed_sentence(offer)
        return self.tr("There is no estimate for this pair. Its speed is measured once it is loaded.")

    def _show_verdict(self, verdict: DraftCheck) -> None:
        self.verdict = verdict
        self._show_text(
            f"{verdict.message} {verdict.hint}".strip(), "danger" if verdict.says == "differs" else ""
        )
        self.changed.emit()

    def _show_unchecked(self, error: SpecExecError) -> None:
        """Report a failed check. The user can continue, because the engine checks the pair on loading it."""
        self._show_text(self.tr("The draft could not be checked: {}").format(in_words(error)[0]))

    def _show_text(self, text: str, role: str = "muted") -> None:
        self._verdict_text.setText(text)
        set_role(self._verdict_text, role)
