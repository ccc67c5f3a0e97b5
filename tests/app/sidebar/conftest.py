import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.sidebar.sidebar import Sidebar
from app.store import Store, StoredMessage, WholeChat

DAY_S = 24 * 60 * 60


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "conversations.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store(path)
    yield store
    store.close()


@pytest.fixture
def make_sidebar(store: Store, path: Path, qtbot: QtBot) -> Iterator[Callable[[], Sidebar]]:
    """Factory of sidebars, each in its own window."""
    windows: list[QWidget] = []

    def make() -> Sidebar:
        window = QWidget()
        windows.append(window)
        window.resize(900, 600)
        sidebar = Sidebar(store, path, window)
        layout = QHBoxLayout(window)
        layout.addWidget(sidebar)
        layout.addWidget(QWidget(window), 1)
        qtbot.addWidget(window)
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()
        sidebar.refresh()
        sidebar.view.setFocus()
        return sidebar

    yield make
    windows.clear()


@pytest.fixture
def sidebar(make_sidebar: Callable[[], Sidebar]) -> Sidebar:
    return make_sidebar()


def chat(
    title: str,
    days: float = 0,
    *said: str,
    pinned: bool = False,
    folder: str | None = None,
) -> WholeChat:
    """Return a chat that was last used a number of days ago."""
    at = time.time() - days * DAY_S
    return WholeChat(
        title=title,
        named=True,
        created_at=at,
        updated_at=at,
        pinned=pinned,
        folder=folder,
        messages=[
            StoredMessage(
                id=i,
                parent=i - 1 if i else None,
                role="assistant" if i % 2 else "user",
                text=text,
                created_at=at,
            )
            for i, text in enumerate(said)
        ],
    )


def rows(sidebar: Sidebar) -> list[str]:
    """Return the visible rows from the top; chats are indented below their headings."""
    shown: list[str] = []
    view = sidebar.view
    index = view.chats.index(0)
    while index.isValid():
        shown.append(("" if view.chats.group(index) else "  ") + str(index.data()))
        index = view.indexBelow(index)
    return shown


def current(sidebar: Sidebar) -> str:
    return str(sidebar.view.currentIndex().data())


def go_to(sidebar: Sidebar, chat: int) -> None:
    index = sidebar.view.chats.index_of(chat)
    assert index.isValid()
    sidebar.view.setCurrentIndex(index)
