"""Pictures of formulas, drawn once each, on a thread of their own."""

from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QObject, QThreadPool, Signal

from app.rendering.formula_drawing import Picture, draw

MAX_KEPT = 2_000  # a picture is about 10 KB


class Formula(NamedTuple):
    latex: str
    is_display: bool


class Formulas(QObject):
    """Lives on the GUI thread; draws on another, one formula at a time.

    Signals:
        drawn: Formula, whose picture is there now, or which turned out to have none
    """

    drawn = Signal(object)
    _finished = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pictures: dict[Formula, Picture | None] = {}
        self._asked: set[Formula] = set()
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._finished.connect(self._keep)

    def picture(self, formula: Formula) -> Picture | None:
        """The picture, if there is one yet."""
        return self._pictures.get(formula)

    def is_drawable(self, latex: str, is_display: bool) -> bool:
        """False once it is known that there is no picture. Begins to draw it where nothing is known."""
        formula = Formula(latex, is_display)
        if formula in self._pictures:
            return self._pictures[formula] is not None
        if formula not in self._asked:
            self._asked.add(formula)
            self._pool.start(lambda: self._draw(formula))
        return True

    def forget_waiting(self) -> None:
        """Draw none of those that were not begun."""
        self._pool.clear()

    def _draw(self, formula: Formula) -> None:
        """On the other thread."""
        picture = draw(*formula)
        with suppress(RuntimeError):  # the application has ended meanwhile
            self._finished.emit(formula, picture)

    def _keep(self, formula: Formula, picture: Picture | None) -> None:
        self._asked.discard(formula)
        while len(self._pictures) >= MAX_KEPT:
            del self._pictures[next(iter(self._pictures))]
        self._pictures[formula] = picture
        self.drawn.emit(formula)


@lru_cache(maxsize=1)
def shared() -> Formulas:
    """The ones of the application."""
    app = QCoreApplication.instance()
    made = Formulas(app)
    if app is not None:
        app.aboutToQuit.connect(made.forget_waiting)
    return made
