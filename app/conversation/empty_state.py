"""What an empty chat shows: an introduction, suggested questions, and what to expect of the demo model."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.widgets.form_parts import label
from app.widgets.wrapped_button import WrappedButton

# Questions that the demo model answers well, greedily and with each of ten seeds, or nine of them:
# tests/app/conversation/tries.md. Not translated, since it knows English only.
DEMO_QUESTIONS = (
    "What is the capital of Japan?",
    "What do plants need to grow? Answer in one sentence.",
    "What is the Internet? Answer in one sentence.",
)


class EmptyState(QWidget):
    """The widget shown in an empty chat: a short introduction and a few suggested questions.

    Attributes:
        better: the button that leads to a better model than the demo.
        suggestions: the buttons with the suggested questions.

    Signals:
        suggested: str, the question the user picked
        better_asked: the user wants a better model than the demo
    """

    suggested = Signal(str)
    better_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addStretch(2)
        layout.addWidget(label(self.tr("Ask the model something"), "title", self))
        self._private = label("", "muted", self)
        layout.addWidget(self._private)
        self._demo = label(
            self.tr(
                "A tiny demo model answers for now. It understands English only, knows simple facts, and is "
                "often wrong."
            ),
            "muted",
            self,
        )
        layout.addWidget(self._demo)
        self.better = WrappedButton(self)
        self.better.setText(self.tr("Get a better model"))
        self.better.setAccessibleName(self.better.text())
        self.better.clicked.connect(self.better_asked)
        layout.addWidget(self.better, alignment=Qt.AlignmentFlag.AlignLeft)
        layout.addSpacing(10)
        self.suggestions = [self._suggestion() for _ in DEMO_QUESTIONS]
        for suggestion in self.suggestions:
            layout.addWidget(suggestion, alignment=Qt.AlignmentFlag.AlignLeft)
        layout.addStretch(3)
        self.show_place("")
        self.show_demo(False)

    def _suggestion(self) -> WrappedButton:
        made = WrappedButton(self)
        made.setProperty("role", "suggestion")
        made.clicked.connect(lambda: self.suggested.emit(made.text()))
        return made

    def show_place(self, place: str) -> None:
        """Say where the text goes. place: host and port; "": it stays on this machine."""
        said = self.tr("Everything runs on this computer, and nothing you write leaves it.")
        if place:
            said = self.tr("The model runs at {}, and what you write here is sent there.").format(place)
        self._private.setText(said)

    def show_demo(self, is_demo: bool) -> None:
        """Show what suits the model that answers: the demo, or any other."""
        self._demo.setVisible(is_demo)
        self.better.setVisible(is_demo)
        others = (
            self.tr("Explain in three sentences how a refrigerator works"),
            self.tr("Write a Python function that finds the longest common prefix of a list of strings"),
            self.tr("Suggest a name and a slogan for a small bakery by the sea"),
        )
        for made, question in zip(self.suggestions, DEMO_QUESTIONS if is_demo else others, strict=True):
            made.setText(question)
            made.setAccessibleName(self.tr("Suggestion: {}").format(question))

    def offer(self, better: str) -> None:
        """Name the better model on its button: what it is, and what it costs to get it."""
        self.better.setText(better)
        self.better.setAccessibleName(better)
