"""Before all others, in a packaged program: the engine's own packages."""

from PySide6.QtWidgets import QWidget

from app import words
from app.wizard import engine_words
from app.wizard.engine_setup import EngineSetup
from app.wizard.page import Page
from app.wizard.parts import Facts, label
from app.wizard.setup_view import SetupView
from app.work import Work
from engine.machine import Machine


class SetupPage(Page):
    """
    Attributes:
        view: what is chosen, and how far it is.
    """

    def __init__(self, setup: EngineSetup, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Engine"), self.tr("Set up the engine"), parent)
        self._setup = setup
        self._text = label(role="muted", parent=self)
        self._facts = Facts(self)
        self._facts.hide()  # while nothing is known
        self.view = SetupView(setup, work, self)
        for part in (self._text, self._facts, self.view):
            self.column.addWidget(part)
        self.column.addStretch(1)
        self.view.looked.connect(self._show_machine)
        self.view.changed.connect(self._show_state)
        self._show_state()

    @property
    def can_go_on(self) -> bool:
        return self._setup.is_done or (self.view.chosen is not None and not self._setup.is_running)

    @property
    def first(self) -> QWidget | None:
        has_failed = self._setup.shown is not None and self._setup.shown.state == "failed"
        return self.view.progress.resume if has_failed else None

    @property
    def main_text(self) -> str:
        if self._setup.is_done:
            return self.tr("Choose a model")
        if self._setup.is_running:
            return self.tr("Setting up…")
        if self.view.chosen is None:
            return self.tr("Set it up")
        return self.tr("Set it up ({})").format(words.nbytes(self.view.chosen.download_nbytes))

    def _show_machine(self, seen: Machine) -> None:
        self._facts.show_rows(engine_words.facts(seen))
        self._facts.show()

    def _show_state(self) -> None:
        if self._setup.is_done:
            self.view.choosing.hide()
            text = self.tr(
                "The engine is ready. A small model came with this program: close this window and chat, or "
                "choose a larger one."
            )
        else:
            text = self.tr(
                "What computes the answers depends on this machine, so it is fetched now, once: PyTorch and "
                "what belongs to it. You may close this window meanwhile."
            )
        self._text.setText(text)
        self.changed.emit()
