"""Widget with the key figures of an answer."""

from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from app import formatting
from app.panel.bars import SplitBar
from app.widgets.flow import Flow
from app.widgets.plain_text import PlainLabel, plain
from engine.protocol.messages import Answer, IterationDone, Loaded, Seconds

NOTHING = "—"


class StatsPanel(QWidget):
    """Shows tokens per second and per pass, time to first token, time by phase, and the drafter."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._seconds = Seconds()
        self._place = ""  # of the engine elsewhere that answers
        self._proposes = ""  # says which drafter is loaded
        self._has_answer = False  # whose figures are shown
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        figures = Flow()
        self._speed = self._figure(
            figures,
            self.tr("tokens/s"),
            self.tr("Tokens generated per second. A token is a word or a part of a word."),
        )
        self._per_pass = self._figure(
            figures,
            self.tr("tokens per pass"),
            self.tr(
                "Tokens that one pass of the target model adds to the answer, on average. "
                "Without speculative decoding, it is 1."
            ),
        )
        self._first = self._figure(
            figures,
            self.tr("s to first token"),
            self.tr("Seconds from the request to the first token. In this time, the model reads the prompt."),
        )
        layout.addLayout(figures)
        self._split = SplitBar(self)
        layout.addWidget(self._split)
        self._drafter = PlainLabel(parent=self)
        self._drafter.setProperty("role", "caption")
        self._drafter.setWordWrap(True)
        self._drafter.setToolTip(
            self.tr(
                "The drafter is the method that proposes tokens; the budget is the maximum number of tokens "
                "in one tree of proposals."
            )
        )
        layout.addWidget(self._drafter)

    def clear(self) -> None:
        """Clear the figures: a new answer begins."""
        self._seconds = Seconds()
        for figure in (self._speed, self._per_pass, self._first):
            self._set(figure, None)
        self._split.show_seconds(self._seconds)
        self._drafter.setText(self._proposes)
        self._has_answer = False

    def show_loaded(self, loaded: Loaded) -> None:
        self._place = loaded.place
        self._split.setVisible(not loaded.place)
        answered = self.tr("answered by {}").format(loaded.place)
        drafter = self.tr("drafter: {}").format(formatting.drafter(loaded.drafter))
        self._proposes = answered if loaded.place else drafter
        if not self._has_answer:
            self._drafter.setText(self._proposes)

    def show_iteration(self, event: IterationDone) -> None:
        """Show the figures so far; the time is the sum of the iterations received, which may not be all."""
        self._set(self._speed, event.tokens_per_second)
        self._set(self._per_pass, event.tokens_per_pass)
        total, new = self._seconds, event.seconds
        self._seconds = Seconds(
            draft=total.draft + new.draft,
            target=total.target + new.target,
            stream_wait=total.stream_wait + new.stream_wait,
            other=total.other + new.other,
        )
        self._split.show_seconds(self._seconds)

    def show_answer(self, answer: Answer) -> None:
        """Show the engine's figures of the complete answer."""
        self._set(self._speed, answer.tokens_per_second)
        self._set(self._per_pass, answer.tokens_per_pass)
        self._set(self._first, answer.time_to_first_token_s)
        self._split.show_seconds(answer.seconds)
        self._has_answer = True
        if self._place:
            return
        text = self.tr("drafter: {}, budget: {}")
        drafter, budget = formatting.drafter(answer.drafter), formatting.number(answer.budget)
        self._drafter.setText(text.format(drafter, budget))

    def _figure(self, row: Flow, name: str, tip: str) -> QLabel:
        column = QWidget(self)
        figure = PlainLabel(NOTHING, column)
        figure.setProperty("role", "figure")
        figure.setProperty("caption", name)
        self._set(figure, None)
        caption = PlainLabel(name, column)
        caption.setProperty("role", "caption")
        figure.setToolTip(plain(tip))
        caption.setToolTip(plain(tip))
        layout = QVBoxLayout(column)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(figure)
        layout.addWidget(caption)
        column.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        row.addWidget(column)
        return figure

    def _set(self, figure: QLabel, value: float | None) -> None:
        text = NOTHING if value is None else formatting.decimal(value)
        figure.setText(text)
        figure.setAccessibleName(f"{figure.property('caption')}: {text}")
