"""The dialog that explains the panel's words."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.widgets.form_parts import label


class Glossary(QDialog):
    """A dialog with the panel's words and what they mean; the panel can be used while it is open."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("What the words mean"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(560, 620)
        page = QWidget(self)
        page.setObjectName("column")
        table = QGridLayout(page)
        table.setContentsMargins(8, 4, 8, 8)
        table.setHorizontalSpacing(20)
        table.setVerticalSpacing(10)
        table.setColumnStretch(1, 1)
        for row, (word, meaning) in enumerate(self._words()):
            table.addWidget(label(word, "name", page), row, 0, Qt.AlignmentFlag.AlignTop)
            table.addWidget(label(meaning, parent=page), row, 1)
        table.setRowStretch(table.rowCount(), 1)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setWidget(page)
        close = QPushButton(self.tr("Close"), self)
        close.clicked.connect(self.accept)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 12)
        layout.addWidget(area, 1)
        layout.addWidget(close, alignment=Qt.AlignmentFlag.AlignRight)

    def _words(self) -> list[tuple[str, str]]:
        return [
            (self.tr("token"), self.tr("A word or a part of a word. Models read and write token by token.")),
            (self.tr("target"), self.tr("The model that answers. Every token of the answer is its choice.")),
            (
                self.tr("experts"),
                self.tr(
                    "In some models each layer has many parts of which every token uses only a few: a "
                    "mixture of experts. Those used most stay in memory, the others are read when needed."
                ),
            ),
            (
                self.tr("pass"),
                self.tr(
                    "One run through all of the target's weights. It takes nearly as long for one token "
                    "as for many, which is why guessing ahead pays."
                ),
            ),
            (
                self.tr("plain decoding"),
                self.tr("Writing without guesses: each pass of the target adds one token."),
            ),
            (
                self.tr("drafter"),
                self.tr(
                    "A method that proposes how the text might go on: a small model (the draft), "
                    "trained heads, or a search in the text so far."
                ),
            ),
            (
                self.tr("token tree"),
                self.tr(
                    "The proposals of one iteration. Each node is a token; each path from the root is a "
                    "way to go on. The budget is the largest number of nodes."
                ),
            ),
            (
                self.tr("iteration"),
                self.tr("One tree and the pass that verifies it."),
            ),
            (
                self.tr("accepted"),
                self.tr("A proposed token that the target would have chosen itself. It stays in the answer."),
            ),
            (
                self.tr("bonus token"),
                self.tr("The token that the target adds after the last accepted one, in the same pass."),
            ),
            (
                self.tr("weights"),
                self.tr(
                    "The numbers that a model consists of. Those that do not fit into memory are "
                    "streamed: read from the disk, or sent to the graphics card, in every pass."
                ),
            ),
            (
                self.tr("float32, bfloat16, float16"),
                self.tr("How exactly the model calculates: with 32 or 16 bits for each number."),
            ),
            (
                self.tr("Q4_K, Q8_0, AWQ, GPTQ"),
                self.tr("Formats that store weights in 4 or 8 bits, so that a model takes less memory."),
            ),
            (
                self.tr("KV cache"),
                self.tr(
                    "What a model remembers of the text so far. It grows with the context: the number "
                    "of tokens that fit into question and answer together."
                ),
            ),
        ]
