"""Speed with ten thousand chats."""

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.sidebar.search import Searching
from app.sidebar.search_palette import SearchPalette
from app.sidebar.sidebar import Sidebar
from app.store import Store
from tests.app.store.many import QUERIES, chats

CHATS = 10_000


def stored(path: Path, count: int) -> Store:
    store = Store(path)
    store.chats.add(chats(count, 2))
    store.close()
    return Store(path)


def test_ten_thousand_chats_open_scroll_and_refresh_quickly(
    make_sidebar: Callable[[], Sidebar], path: Path, qtbot: QtBot
) -> None:
    store = stored(path, CHATS)
    start = time.thread_time()  # not what other programs take
    sidebar = make_sidebar()
    sidebar.view.grab()
    assert time.thread_time() - start < 1
    model = sidebar.view.chats
    loaded = lambda: sum(model.rowCount(model.index(row)) for row in range(model.rowCount()))  # noqa: E731
    assert 0 < loaded() < CHATS / 10
    slowest = 0.0
    while model.canFetchMore(model.index(-1)):
        start = time.thread_time()
        sidebar.view.scrollToBottom()
        model.fetchMore(model.index(-1))
        slowest = max(slowest, time.thread_time() - start)
    assert loaded() == CHATS
    assert slowest < 1
    start = time.thread_time()
    sidebar.refresh()
    assert time.thread_time() - start < 1
    store.close()


def test_a_search_in_many_chats_takes_a_fraction_of_a_second(path: Path, qtbot: QtBot) -> None:
    store = stored(path, CHATS)
    window = QWidget()
    window.resize(900, 700)
    qtbot.addWidget(window)
    palette = SearchPalette(store, window)
    window.show()
    palette.open()
    for query in QUERIES:
        start = time.process_time()  # of the search, too, which another thread makes; not of other programs
        with qtbot.waitSignal(
            palette.findChild(Searching).found,
            check_params_cb=lambda found, query=query: found.query == query,
        ):
            palette.field.setText(query)
        palette.grab()
        assert time.process_time() - start < 0.5, query
    store.close()
