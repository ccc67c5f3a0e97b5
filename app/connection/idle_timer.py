"""Unloads the models after a time in which nobody asks anything. Imports no widgets."""

from PySide6.QtCore import QObject, QTimer

from app.connection.engine import Engine, State

MS_PER_MINUTE = 60_000


class IdleTimer(QObject):
    """Unloads the models when they have been ready for `minutes` without use. The next question loads them
    again.

    Attributes:
        minutes: how long; None: never.
    """

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.minutes: int | None = None
        self._engine = engine
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(engine.rest)
        engine.state_changed.connect(self.restart)
        engine.busy_for_changed.connect(self.restart)

    @property
    def is_waiting(self) -> bool:
        return self._timer.isActive()

    def wait(self, minutes: int | None) -> None:
        """Set how long to wait, from now on."""
        self.minutes = minutes
        self.restart()

    def restart(self) -> None:
        """Start the wait anew: the models are used, or soon will be, by this window or another program."""
        is_idle = self._engine.state is State.READY and self._engine.busy_for is None
        is_idle = is_idle and not self._engine.wanted.engine  # a model elsewhere takes no memory here
        if self.minutes is None or not is_idle:
            self._timer.stop()
        else:
            self._timer.start(self.minutes * MS_PER_MINUTE)
