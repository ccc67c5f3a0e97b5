"""The clock that both answers of a race are replayed by."""

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from app.connection.engine_link import FRAME_MS


class ReplayClock(QObject):
    """Runs from 0 to `end_s` while it plays, at a multiple of real time.

    Attributes:
        t: where it is, in seconds.
        end_s: where it stops.
        speed: seconds of the race per second.

    Signals:
        moved: float, the new `t`
        played: bool, whether it runs now
    """

    moved = Signal(float)
    played = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.t = self.end_s = 0.0
        self.speed = 1.0
        self._since_tick = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self._tick)

    @property
    def is_playing(self) -> bool:
        return self._timer.isActive()

    def play(self) -> None:
        """Run on; from the beginning if it is at the end."""
        if self.t >= self.end_s:
            self.go_to(0.0)
        self._since_tick.start()
        self._timer.start()
        self.played.emit(True)

    def pause(self) -> None:
        if self.is_playing:
            self._timer.stop()
            self.played.emit(False)

    def go_to(self, t: float) -> None:
        self.t = min(self.end_s, max(0.0, t))
        self.moved.emit(self.t)

    def _tick(self) -> None:
        self.go_to(self.t + self._since_tick.restart() / 1000 * self.speed)
        if self.t >= self.end_s:
            self.pause()
