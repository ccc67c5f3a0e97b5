"""Collects Python's garbage between events of the GUI thread, and at no other time.

Left to itself, Python collects wherever an object happens to be created: on another thread, or while Qt
deletes a window. Widgets in a reference cycle would then be deleted on the wrong thread or a second time,
which ends the program.
"""

import atexit
import gc
import time

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS = 500
FULL_INTERVAL_S = 60.0  # between collections of all objects, which may take a tenth of a second


class Collector(QObject):
    """Switches automatic collection off until `close`, and collects by a timer what is due.

    When the process ends, all garbage is collected while Qt is still there: what is left is deleted after it.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        atexit.register(gc.collect)  # runs before what PySide has registered
        self._last_full = time.monotonic()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.collect)
        self._timer.start(INTERVAL_MS)
        gc.disable()

    def collect(self) -> None:
        """Collect the oldest generation that has reached its threshold, and the younger ones."""
        limits = zip(gc.get_count(), gc.get_threshold(), strict=True)
        due = [generation for generation, (count, most) in enumerate(limits) if count > most]
        if not due:
            return
        now = time.monotonic()
        is_full = due[-1] == 2 and now - self._last_full >= FULL_INTERVAL_S
        if is_full:
            self._last_full = now
        gc.collect(2 if is_full else min(due[-1], 1))

    def close(self) -> None:
        """Let Python collect by itself again."""
        self._timer.stop()
        gc.enable()
