"""The page that sets up a runtime: PyTorch and what belongs to it."""

from PySide6.QtWidgets import QWidget

from app import formatting
from app.background import Work
from app.runtime_setup import wording
from app.runtime_setup.setup_job import EngineSetup
from app.runtime_setup.setup_view import SetupView
from app.widgets.form_parts import Facts, label
from app.wizard.pages.page import Page
from engine.machine import Machine


class SetupPage(Page):
    """Sets up the engine.

    Attributes:
        view: shows the choice of a backend and the progress of the set-up.
    """

    def __init__(self, setup: EngineSetup, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Engine"), self.tr("Set up the engine"), parent)
        self._setup = setup
        self._text = label(role="muted", parent=self)
        self._facts = Facts(self)
        self._facts.hide()  # shown once the machine is examined
        self.view = SetupView(setup, work, self)
        for part in (self._text, self._facts, self.view):
            self.column.addWidget(part)
        self.column.addStretch(1)
        self.view.looked.connect(self._show_machine)
        self.view.changed.connect(self._show_state)
        self._show_state()

    @property
    def can_continue(self) -> bool:
        return self._setup.is_done or (self.view.chosen is not None and not self._setup.is_running)

    @property
    def first(self) -> QWidget | None:
        has_failed = self._setup.progress is not None and self._setup.progress.state == "failed"
        return self.view.progress.resume if has_failed else None

    @property
    def main_text(self) -> str:
        if self._setup.is_done:
            return self.tr("Choose a model")
        if self._setup.is_running:
            return self.tr("Setting up…")
        if self.view.chosen is None:
            return self.tr("Set up")
        return self.tr("Set up ({})").format(formatting.nbytes(self.view.chosen.download_nbytes))

    def _show_machine(self, examined: Machine) -> None:
        self._facts.show_rows(wording.facts(examined))
        self._facts.show()

    def _show_state(self) -> None:
        if self._setup.is_done:
            self.view.choosing.hide()
            text = self.tr(
                "The engine is ready. Close this window to go on chatting, or choose a larger model."
            )
        else:
            text = self.tr(
                "A graphics card, and models that the built-in engine does not cover, need PyTorch. The "
                "version that suits this machine is downloaded once. You can chat in the meantime."
            )
        self._text.setText(text)
        self.changed.emit()
