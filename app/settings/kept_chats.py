"""The button that clears what is kept of chats, so that they are read anew."""

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import formatting
from app.background import Work
from app.widgets.flow import Flow
from app.widgets.form_parts import button, label
from app.widgets.notice import Problem
from engine.errors import SpecExecError
from engine.remote import kept_prompts
from engine.remote.kept_prompts import ClearedPrompts


class KeptChats(QWidget):
    """Clears what models have computed of chats, in RAM and on the disk.

    Attributes:
        clear: the button.
        state: says how much was freed, or that the engine is still at work.
        problem: shows why it failed.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._work = Work(self)
        self.clear = button(
            self.tr("Clear the chat cache"), self.tr("Delete what is kept of chats; the chats stay"), self
        )
        self.state = label(role="muted", parent=self)
        self.problem = Problem(self)
        lower = Flow()
        lower.addWidget(self.clear)
        lower.addWidget(self.state)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.problem)
        layout.addLayout(lower)
        self.clear.clicked.connect(self._clear)

    def _clear(self) -> None:
        self.problem.clear()
        self.clear.setEnabled(False)
        self.state.setText(self.tr("Clearing… An answer in progress is finished first."))
        self._work.run("clear", lambda stop: kept_prompts.clear(), self._show, self._fail)

    def _show(self, freed: ClearedPrompts) -> None:
        self.clear.setEnabled(True)
        text = self.tr("Freed {} of RAM and {} on the disk. The chats stay; they are read anew once.")
        self.state.setText(text.format(formatting.nbytes(freed.ram), formatting.nbytes(freed.disk)))

    def _fail(self, error: SpecExecError) -> None:
        self.clear.setEnabled(True)
        self.state.setText("")
        self.problem.show_error(error)
