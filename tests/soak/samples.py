"""Measures a window, its engine process, its store, and a server that shares the engine."""

import gc
import time
from pathlib import Path

import psutil
from PySide6.QtCore import QEvent, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from engine.protocol.messages import Answer, Loaded
from tests.processes import engine_of, handles, own_nbytes
from tests.soak.judge import Sample


class Meter:
    """Takes samples.

    Attributes: `kv_tokens`, the most tokens that the engine's caches have held since the last load; `server`,
    the process of the server, set before the first sample.
    """

    def __init__(self, store: Path) -> None:
        self.kv_tokens = 0
        self.server: psutil.Process | None = None
        self._store = store
        self._began = time.monotonic()
        self._window = psutil.Process()
        self._loaded: Loaded | None = None

    @property
    def minutes(self) -> float:
        return (time.monotonic() - self._began) / 60

    def note_load(self, loaded: Loaded) -> None:
        self._loaded, self.kv_tokens = loaded, 0

    def note_answer(self, answer: Answer) -> None:
        self.kv_tokens = max(self.kv_tokens, answer.prompt_tokens + answer.tokens)

    def sample(self, question: int) -> Sample:
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        engine, server = engine_of(self._window), self.server
        assert server is not None
        qobjects = qobject_classes()
        return Sample(
            minute=self.minutes,
            question=question,
            window_nbytes=own_nbytes(self._window),
            engine_nbytes=own_nbytes(engine) - self._cache_nbytes(),
            server_nbytes=own_nbytes(server),
            store_nbytes=sum(path.stat().st_size for path in self._store.parent.glob(f"{self._store.name}*")),
            objects=len(gc.get_objects()),
            qobjects=len(qobjects),
            timers=qobjects.count("QTimer"),
            window_handles=handles(self._window),
            engine_handles=handles(engine),
            server_handles=handles(server),
            window_threads=self._window.num_threads(),
            engine_threads=engine.num_threads(),
            server_threads=server.num_threads(),
        )

    def _cache_nbytes(self) -> float:
        """Return the bytes of the rows that the engine's caches have held."""
        memory = self._loaded.memory if self._loaded else None
        if self._loaded is None or memory is None:
            return 0.0
        whole = sum(part.nbytes for part in memory.parts if part.what in ("target_cache", "draft_cache"))
        return whole * min(1.0, self.kv_tokens / self._loaded.context)


def qobject_classes() -> list[str]:
    """Return the class of each object of the application and its top-level widgets, with all inside them.

    Read from Qt's own listing: `findChildren` makes Python objects for Qt's inner ones, which would stay for
    ever once Qt has deleted those.
    """
    lines: list[str] = []
    before = qInstallMessageHandler(lambda kind, context, text: lines.append(text))
    app = QApplication.instance()
    for root in (app, *(each for each in QApplication.topLevelWidgets() if each.parent() is None)):
        root.dumpObjectTree()
    qInstallMessageHandler(before)
    return [line.strip().partition("::")[0] for line in lines]
