"""The models of the added engines, asked for in the background. Imports no widgets."""

from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from app.background import Work
from engine.errors import SpecExecError
from engine.remote import engines
from engine.remote.engines import AddedEngine
from engine.remote.models import RemoteModel, models


@dataclass(frozen=True, slots=True)
class Served:
    """What an added engine serves, as far as it is known.

    models: None if the engine has never told. error: why it did not tell when it was asked last.
    is_asked: whether it is being asked.
    """

    engine: AddedEngine
    models: tuple[RemoteModel, ...] | None = None
    error: SpecExecError | None = None
    is_asked: bool = True


class Elsewhere(QObject):
    """Keeps what the added engines serve, between one look and the next.

    Attributes:
        served: one entry for each added engine, in their order.

    Signals:
        changed: str, the name of the engine whose entry changed; "": the list of engines changed
        failed: SpecExecError; the list of engines cannot be read
    """

    changed = Signal(str)
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.served: list[Served] = []
        self._work = Work(self)

    def look(self) -> None:
        """Read the list of engines, and ask each of them for its models."""
        self._work.run("engines", lambda stop: engines.added(), self._take, self.failed.emit)

    def stop(self) -> None:
        """Discard the answers that have not arrived."""
        self._work.forget("engines")
        for served in self.served:
            self._work.forget(served.engine.name)

    def of(self, name: str) -> Served | None:
        return next((served for served in self.served if served.engine.name == name), None)

    def _take(self, added: list[AddedEngine]) -> None:
        before = {served.engine: served for served in self.served}
        self.served = [replace(before.get(engine, Served(engine)), is_asked=True) for engine in added]
        self.changed.emit("")
        for engine in added:
            self._ask(engine)

    def _ask(self, engine: AddedEngine) -> None:
        self._work.run(
            engine.name,
            lambda stop: models(engine, engines.key_of(engine.name), stop),
            lambda found: self._set(Served(engine, tuple(found), is_asked=False)),
            lambda error: self._set(Served(engine, error=error, is_asked=False)),
        )

    def _set(self, served: Served) -> None:
        self.served = [served if old.engine == served.engine else old for old in self.served]
        self.changed.emit(served.engine.name)
