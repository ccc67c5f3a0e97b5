"""A cap on bandwidth that several transfers share."""

import threading
import time
from collections.abc import Callable


class Limit:
    """`bytes_per_s`: 0 for none; may be changed at any time. Thread-safe."""

    def __init__(self, bytes_per_s: float = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.bytes_per_s = bytes_per_s
        self._clock = clock
        self._lock = threading.Lock()
        self._free_at = clock()

    def delay(self, nbytes: int) -> float:
        """Seconds to wait after `nbytes` were received, so that all together keep to the cap."""
        rate = self.bytes_per_s
        if rate <= 0:
            return 0.0
        with self._lock:
            now = self._clock()
            self._free_at = max(self._free_at, now) + nbytes / rate
            return self._free_at - now
