"""Garbage is collected between events, and only then."""

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.startup.collector import Collector


class Knot:
    """An object in a reference cycle."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def collector(qapp: QObject) -> Iterator[Collector]:
    was_enabled = gc.isenabled()
    gc.collect()
    collector = Collector()
    yield collector
    collector.close()
    if not was_enabled:
        gc.disable()


def many() -> "weakref.ref[Knot]":
    """Create more garbage than the first generation holds; return a reference to a part of it."""
    first = weakref.ref(Knot())
    for _ in range(5_000):
        Knot()
    return first


def test_garbage_is_collected_between_events_on_the_gui_thread(collector: Collector, qtbot: QtBot) -> None:
    where: list[threading.Thread] = []

    def note(phase: str, info: dict[str, int]) -> None:
        where.append(threading.current_thread())

    gc.callbacks.append(note)
    try:
        threads = [threading.Thread(target=many) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        first = many()
        assert first() is not None
        assert where == [], "garbage was collected in the middle of something"
        qtbot.waitUntil(lambda: first() is None)
    finally:
        gc.callbacks.remove(note)
    assert set(where) == {threading.main_thread()}
