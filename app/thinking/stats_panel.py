"""How fast it goes, in figures."""

from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from app import words
from app.thinking.split_bar import SplitBar
from engine.protocol.messages import Answer, IterationDone, Loaded, Seconds

NOTHING = "—"


class StatsPanel(QWidget):
    """Tokens per second and per pass, time to first token, where the time went, and how it was drafted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._seconds = Seconds()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        figures = QGridLayout()
        figures.setVerticalSpacing(0)
        self._speed = self._figure(figures, 0, self.tr("tokens/s"))
        self._per_pass = self._figure(figures, 1, self.tr("tokens per pass"))
        self._first = self._figure(figures, 2, self.tr("s to first token"))
        layout.addLayout(figures)
        self._split = SplitBar(self)
        layout.addWidget(self._split)
        self._how = QLabel(self)
        self._how.setProperty("role", "caption")
        layout.addWidget(self._how)

    def clear(self) -> None:
        """An answer begins: nothing is known yet."""
        self._seconds = Seconds()
        for figure in (self._speed, self._per_pass, self._first):
            self._set(figure, None)
        self._split.show_seconds(self._seconds)

    def show_loaded(self, loaded: Loaded) -> None:
        self._how.setText(self.tr("drafter {}").format(loaded.drafter))

    def show_iteration(self, event: IterationDone) -> None:
        """Figures so far; the time of the iterations seen here is summed up (some may have been left out)."""
        self._set(self._speed, event.tokens_per_second)
        self._set(self._per_pass, event.tokens_per_pass)
        seen, now = self._seconds, event.seconds
        self._seconds = Seconds(
            draft=seen.draft + now.draft,
            target=seen.target + now.target,
            stream_wait=seen.stream_wait + now.stream_wait,
            other=seen.other + now.other,
        )
        self._split.show_seconds(self._seconds)

    def show_answer(self, answer: Answer) -> None:
        """Figures of the whole answer, from the engine."""
        self._set(self._speed, answer.tokens_per_second)
        self._set(self._per_pass, answer.tokens_per_pass)
        self._set(self._first, answer.time_to_first_token_s)
        self._split.show_seconds(answer.seconds)
        how = self.tr("drafter {}, budget {}")
        self._how.setText(how.format(answer.drafter, words.number(answer.budget)))

    def _figure(self, grid: QGridLayout, column: int, name: str) -> QLabel:
        figure = QLabel(NOTHING, self)
        figure.setProperty("role", "figure")
        figure.setAccessibleName(name)
        caption = QLabel(name, self)
        caption.setProperty("role", "caption")
        grid.addWidget(figure, 0, column)
        grid.addWidget(caption, 1, column)
        grid.setColumnStretch(column, 1)
        return figure

    def _set(self, figure: QLabel, value: float | None) -> None:
        figure.setText(NOTHING if value is None else words.decimal(value))
