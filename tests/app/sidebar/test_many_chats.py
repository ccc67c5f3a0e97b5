"""Speed with ten thousand chats."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.sidebar.search import Searching
from app.sidebar.search_palette import SearchPalette
from app.sidebar.sidebar import Sidebar
from app.store import Store
from tests.app.store.many import QUERIES, build

CHATS = 10_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of many chats, which takes seconds to make."""
    folder = tmp_path_factory.mktemp("many")
    build(folder / "conversations.sqlite", CHATS, 2)
    return folder


@pytest.fixture
def path(folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return tmp_path / "conversations.sqlite"


def test_ten_thousand_chats_open_scroll_and_refresh_quickly(
    make_sidebar: Callable[[], Sidebar], qtbot: QtBot
) -> None:
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


def test_a_search_in_many_chats_takes_a_fraction_of_a_second(store: Store, qtbot: QtBot) -> None:
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
