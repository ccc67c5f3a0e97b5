"""Any model of the Hub: pasted by name or address, or searched for."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.wizard import phrases
from app.wizard.choice import Choice
from app.wizard.parts import LINE_HEIGHT, Problem, button, label
from app.wizard.repository_view import RepositoryView
from app.work import Work
from engine import hub
from engine.errors import SpecExecError, UnsupportedModel
from engine.hub import Found, Hub, Repository, Stop

KINDS = ("search", "resolve", "check")  # of work


class HubSearch(QWidget):
    """
    Attributes:
        line, ask: what is typed or pasted, and the button that looks for it.
        found: repositories of that name.
        repository: the one that is open.
        problem: what went wrong.

    Signals:
        changed: `choice` may have changed
        taken: a person is sure of it
    """

    changed = Signal()
    taken = Signal()

    def __init__(self, get_hub: Callable[[], Hub], work: Work, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._get_hub, self._work = get_hub, work
        self.line = QLineEdit(self)
        self.line.setPlaceholderText(
            self.tr("owner/name, an address on huggingface.co, or words to search for")
        )
        self.line.setAccessibleName(self.tr("Name or address of a model, or words to search for"))
        self.line.setClearButtonEnabled(True)
        self.line.setMinimumHeight(LINE_HEIGHT)
        self.ask = button(self.tr("Find"), parent=self)
        self._busy = QProgressBar(self)
        self._busy.setTextVisible(False)
        self._busy.setRange(0, 0)
        self._busy.setAccessibleName(self.tr("Asking the Hub"))
        self.problem = Problem(self)
        self._note = label(parent=self, role="muted")
        self.found = QListWidget(self)
        self.found.setAccessibleName(self.tr("Models that were found"))
        self.found.setObjectName("choices")
        self.found.setMinimumHeight(140)
        self.repository = RepositoryView(get_hub, work, self)
        self._build()
        self.line.returnPressed.connect(self.look)
        self.ask.clicked.connect(self.look)
        self.found.itemActivated.connect(lambda item: self.open(item.data(Qt.ItemDataRole.UserRole)))
        self.repository.changed.connect(self.changed)
        self.repository.taken.connect(self.taken)
        self._clear()
        self._say(
            self.tr(
                "Paste the name or the address of a model from huggingface.co, or search. Its forms are "
                "shown, and a draft that goes with it is looked for."
            )
        )

    def _build(self) -> None:
        asking = QHBoxLayout()
        asking.addWidget(self.line, 1)
        asking.addWidget(self.ask)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 10, 0, 0)
        layout.setSpacing(10)
        layout.addLayout(asking)
        for widget in (self._busy, self.problem, self._note, self.found, self.repository):
            layout.addWidget(widget)
        layout.addStretch(1)

    @property
    def choice(self) -> Choice | None:
        return self.repository.choice

    def look(self) -> None:
        """For what was typed: open it where it is a repository's name, else search."""
        text = self.line.text().strip()
        if not text:
            return
        if id := hub.repository_id(text):
            self.open(id)
            return
        self._begin()
        self._work.run("search", lambda stop: self._get_hub().search(text), self._show_found, self._fail)

    def open(self, id: str) -> None:
        """The repository of that name."""
        self._begin()

        def resolve(stop: Stop) -> tuple[Repository, list[hub.Offer]]:
            repository = self._get_hub().repository(id)
            models = hub.offers(repository)
            if not models:
                hub.choose(repository)  # says why
            return repository, models

        self._work.run("resolve", resolve, lambda found: self._show_repository(*found), self._fail)

    def stop(self) -> None:
        """Nobody waits for an answer any more."""
        for kind in KINDS:
            self._work.forget(kind)
        self._busy.hide()

    def _begin(self) -> None:
        self.stop()
        self._clear()
        self._busy.show()

    def _clear(self) -> None:
        self.repository.close_repository()
        for widget in (self._busy, self._note, self.found, self.repository):
            widget.hide()
        self.problem.clear()
        self.changed.emit()

    def _fail(self, error: SpecExecError) -> None:
        self._busy.hide()
        again = "" if isinstance(error, UnsupportedModel) else self.tr("Try again")
        self.problem.show_error(error, again).pressed.connect(self.look)

    def _show_found(self, found: list[Found]) -> None:
        self._busy.hide()
        nothing = self.tr("The Hub has nothing of that name. Check the spelling, or use fewer words.")
        self._say(self.tr("Choose one and press Enter.") if found else nothing)
        self.found.clear()
        for each in found:
            facts = [each.id, self.tr("{} downloads").format(words.number(each.downloads))]
            facts += [phrases.license(each.license)] if each.license else []
            facts += [self.tr("account needed")] if each.gated else []
            item = QListWidgetItem(" · ".join(facts), self.found)
            item.setData(Qt.ItemDataRole.UserRole, each.id)
        self.found.setVisible(bool(found))
        if found:
            self.found.setCurrentRow(0)
            self.found.setFocus()

    def _show_repository(self, repository: Repository, models: list[hub.Offer]) -> None:
        self._busy.hide()
        self.repository.show_repository(repository, models)
        self.repository.show()
        self.repository.forms.setFocus()

    def _say(self, text: str) -> None:
        self._note.setText(text)
        self._note.show()
