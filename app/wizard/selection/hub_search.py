"""The Hub tab, which finds any model on Hugging Face by its name, by its address or by search words."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from app import formatting
from app.background import Work
from app.widgets.flow import Flow
from app.widgets.form_parts import button, label
from app.widgets.notice import Problem
from app.widgets.plain_text import plain
from app.widgets.theme import LINE_HEIGHT
from app.wizard.selection import wording
from app.wizard.selection.choice import Choice
from app.wizard.selection.repository_view import RepositoryView
from engine import hub
from engine.errors import SpecExecError, UnsupportedModel
from engine.hub import Hub, Repository, SearchHit, Stop

KINDS = ("search", "resolve", "check")  # the kinds of background jobs


class HubSearch(QWidget):
    """Finds a repository of the Hub and lets the user choose one of its models.

    Attributes:
        line, ask: the input field and the search button.
        found: the list of search results.
        repository: the view of the open repository.
        problem: shows the last error.

    Signals:
        changed: `choice` may have changed
        taken: the user confirmed the choice
    """

    changed = Signal()
    taken = Signal()

    def __init__(self, get_hub: Callable[[], Hub], work: Work, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._get_hub, self._work = get_hub, work
        self.line = QLineEdit(self)
        self.line.setPlaceholderText(self.tr("owner/name, an address on huggingface.co, or search words"))
        self.line.setToolTip(plain(self.line.placeholderText()))
        self.line.setAccessibleName(self.tr("Name or address of a model, or search words"))
        self.line.setClearButtonEnabled(True)
        self.line.setMinimumHeight(LINE_HEIGHT)
        self.ask = button(self.tr("Search"), parent=self)
        self._busy = QProgressBar(self)
        self._busy.setTextVisible(False)
        self._busy.setRange(0, 0)
        self._busy.setAccessibleName(self.tr("Contacting Hugging Face"))
        self.problem = Problem(self)
        self._note = label(parent=self, role="muted")
        self.found = QListWidget(self)
        self.found.setAccessibleName(self.tr("Search results"))
        self.found.setObjectName("choices")
        self.found.setMinimumHeight(140)
        self.repository = RepositoryView(get_hub, work, self)
        self._build()
        self.line.returnPressed.connect(self.submit)
        self.ask.clicked.connect(self.submit)
        self.found.itemActivated.connect(lambda item: self.open(item.data(Qt.ItemDataRole.UserRole)))
        self.repository.changed.connect(self.changed)
        self.repository.taken.connect(self.taken)
        self._clear()
        self._show_note(
            self.tr(
                "Search for a model on huggingface.co, or paste its name or address. You then choose one of "
                "its formats, and a draft that suits it is proposed."
            )
        )

    def _build(self) -> None:
        asking = Flow()
        asking.addWidget(self.line)
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

    def submit(self) -> None:
        """Open the repository if the input names one, else search the Hub for the input."""
        text = self.line.text().strip()
        if not text:
            return
        if id := hub.repository_id(text):
            self.open(id)
            return
        self._begin()
        self._work.run("search", lambda stop: self._get_hub().search(text), self._show_found, self._fail)

    def open(self, id: str) -> None:
        """Open the repository with this name, such as owner/name."""
        self._begin()

        def resolve(stop: Stop) -> tuple[Repository, list[hub.RepositoryModel]]:
            repository = self._get_hub().repository(id)
            models = hub.offers(repository)
            if not models:
                hub.choose(repository)  # raises an error that says why there are none
            return repository, models

        self._work.run("resolve", resolve, lambda resolved: self._show_repository(*resolved), self._fail)

    def stop(self) -> None:
        """Cancel background work whose results are no longer needed."""
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
        self.problem.show_error(error, again).pressed.connect(self.submit)

    def _show_found(self, hits: list[SearchHit]) -> None:
        self._busy.hide()
        nothing = self.tr("No models found. Check the spelling, or use fewer words.")
        self._show_note(self.tr("Select a model and press Enter.") if hits else nothing)
        self.found.clear()
        for hit in hits:
            facts = [hit.id, self.tr("{} downloads").format(formatting.number(hit.downloads))]
            facts += [wording.license(hit.license)] if hit.license else []
            facts += [self.tr("account required")] if hit.gated else []
            item = QListWidgetItem(" · ".join(facts), self.found)
            item.setData(Qt.ItemDataRole.UserRole, hit.id)
        self.found.setVisible(bool(hits))
        if hits:
            self.found.setCurrentRow(0)
            self.found.setFocus()

    def _show_repository(self, repository: Repository, models: list[hub.RepositoryModel]) -> None:
        self._busy.hide()
        self.repository.show_repository(repository, models)
        self.repository.show()
        self.repository.forms.setFocus()

    def _show_note(self, text: str) -> None:
        self._note.setText(text)
        self._note.show()
