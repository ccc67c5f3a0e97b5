from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.sidebar import search as search_module
from app.sidebar.search import Searching
from app.sidebar.search_palette import SearchPalette
from app.store import Store, StoreLocked
from app.widgets import theme
from tests.app.seen import says
from tests.app.sidebar.conftest import chat

Key = Qt.Key


@pytest.fixture
def palette(store: Store, qtbot: QtBot) -> Iterator[SearchPalette]:
    window = QWidget()
    window.resize(800, 600)
    behind = QLineEdit(window)
    QVBoxLayout(window).addWidget(behind)
    qtbot.addWidget(window)
    palette = SearchPalette(store, window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    behind.setFocus()
    yield palette
    assert window  # until here: the palette is its child


def entries(palette: SearchPalette) -> list[str]:
    model = palette.results.model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def search(palette: SearchPalette, qtbot: QtBot, query: str) -> list[str]:
    palette.open()
    palette.field.clear()
    with qtbot.waitSignal(
        palette.findChild(Searching).found, check_params_cb=lambda found: found.query == query
    ):
        qtbot.keyClicks(palette.field, query)
    return entries(palette)


def titles(palette: SearchPalette) -> list[str]:
    return [entry.rpartition(", ")[0] for entry in entries(palette)]


def test_an_empty_query_lists_the_recent_chats(palette: SearchPalette, store: Store, qtbot: QtBot) -> None:
    store.chats.add([chat(f"chat {i}", i) for i in range(20)])
    (pinned,) = store.chats.add([chat("pinned", 2.5, pinned=True)])
    with qtbot.waitSignal(palette.findChild(Searching).found):
        palette.open()
    assert entries(palette)[0] == "Recent"
    assert titles(palette)[1:] == [
        "chat 0",
        "chat 1",
        "chat 2",
        "pinned",
        "chat 3",
        "chat 4",
        "chat 5",
        "chat 6",
    ]
    qtbot.keyClick(palette.field, Key.Key_Up)
    for _ in range(3):
        qtbot.keyClick(palette.field, Key.Key_Down)
    with qtbot.waitSignal(palette.chat_chosen) as chosen:
        qtbot.keyClick(palette.field, Key.Key_Return)
    assert chosen.args == [pinned]


def test_titles_and_messages_are_found_and_a_hit_is_jumped_to(
    palette: SearchPalette, store: Store, qtbot: QtBot
) -> None:
    store.chats.add([chat("Trees of Korea", 1, "which ones?", "pines")])
    (other,) = store.chats.add([chat("Other", 2, "hello", "A token tree grows.")])
    found = search(palette, qtbot, "tree")
    assert [entry.split(" (")[0] for entry in found[2:]] == ["Messages", "Model: A token tree grows."]
    assert found[0] == "Chats"
    assert found[1].startswith("Trees of Korea, ")
    qtbot.keyClick(palette.field, Key.Key_Down)  # skips the heading
    answer = store.messages.all(other)[1].id
    with qtbot.waitSignal(palette.hit_chosen) as chosen:
        qtbot.keyClick(palette.field, Key.Key_Return)
    assert chosen.args == [other, answer, palette.field.text()]
    assert not palette.isVisible()


def test_the_focus_stays_in_the_field_and_is_restored_on_closing(
    palette: SearchPalette, store: Store, qtbot: QtBot
) -> None:
    store.chats.add([chat("one", 0, "word"), chat("two", 0, "word")])
    behind = QApplication.focusWidget()
    search(palette, qtbot, "word")
    rows = [palette.results.currentIndex().row()]
    for key in (Key.Key_Tab, Key.Key_Backtab):
        qtbot.keyClick(palette.field, key)
        assert QApplication.focusWidget() is palette.field
        rows.append(palette.results.currentIndex().row())
    assert rows == [1, 2, 1]
    qtbot.keyClick(palette.field, Key.Key_Escape)
    assert not palette.isVisible()
    assert QApplication.focusWidget() is behind


def test_a_click_beside_the_palette_closes_it_and_a_click_on_a_hit_opens_it(
    palette: SearchPalette, store: Store, qtbot: QtBot
) -> None:
    (one,) = store.chats.add([chat("one", 0, "word")])
    search(palette, qtbot, "word")
    qtbot.mouseClick(palette, Qt.MouseButton.LeftButton, pos=QPoint(4, 4))
    assert not palette.isVisible()
    search(palette, qtbot, "word")
    place = palette.results.visualRect(palette.results.model().index(1, 0)).center()
    with qtbot.waitSignal(palette.hit_chosen) as chosen:
        qtbot.mouseClick(palette.results.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen.args[0] == one


def test_enter_before_the_results_opens_the_first_one(
    palette: SearchPalette, store: Store, qtbot: QtBot
) -> None:
    store.chats.add([chat("first", 0, "apple")])
    (second,) = store.chats.add([chat("second", 1, "banana")])
    search(palette, qtbot, "apple")
    palette.field.clear()
    with qtbot.waitSignal(palette.hit_chosen) as chosen:
        qtbot.keyClicks(palette.field, "banana")
        qtbot.keyClick(palette.field, Key.Key_Return)
    assert chosen.args[0] == second


def test_only_the_newest_query_is_answered(palette: SearchPalette, store: Store, qtbot: QtBot) -> None:
    store.chats.add([chat("one", 0, "apple banana cherry")])
    answered = []
    palette.findChild(Searching).found.connect(lambda found: answered.append(found.query))
    for query in ("apple", "banana", "cherry"):
        palette.findChild(Searching).ask(query)
    qtbot.waitUntil(lambda: answered == ["cherry"])


def test_korean_is_searched_while_composed_and_chinese_once_converted(
    palette: SearchPalette, store: Store, qtbot: QtBot
) -> None:
    (korean,) = store.chats.add([chat("하나", 0, "부산으로 가는 기차")])
    (chinese,) = store.chats.add([chat("二", 0, "你好，世界")])
    palette.open()
    with qtbot.waitSignal(
        palette.findChild(Searching).found, check_params_cb=lambda found: found.query == "부"
    ):
        QApplication.sendEvent(palette.field, QInputMethodEvent("부", []))
    assert [hit.chat for hit in palette.results.model().results.hits] == [korean]
    qtbot.keyClick(palette.field, Key.Key_Return)  # this key belongs to the input method
    assert palette.isVisible()
    committed = QInputMethodEvent("", [])
    committed.setCommitString("부")
    QApplication.sendEvent(palette.field, committed)
    assert palette.field.query() == "부"
    palette.field.clear()
    QApplication.sendEvent(palette.field, QInputMethodEvent("ni'hao", []))
    assert palette.field.query() == ""
    committed.setCommitString("你好")
    with qtbot.waitSignal(
        palette.findChild(Searching).found, check_params_cb=lambda found: found.query == "你好"
    ):
        QApplication.sendEvent(palette.field, committed)
    assert [hit.chat for hit in palette.results.model().results.hits] == [chinese]


def test_scrolling_fetches_further_messages(palette: SearchPalette, store: Store, qtbot: QtBot) -> None:
    store.chats.add([chat("one", 0, *["word"] * (2 * search_module.PAGE + 20))])
    search(palette, qtbot, "word")
    for pages in (2, 3):
        palette.results.scrollToBottom()
        expected = min(pages * search_module.PAGE, 2 * search_module.PAGE + 20)
        qtbot.waitUntil(lambda expected=expected: len(palette.results.model().results.hits) == expected)
    ids = [hit.message for hit in palette.results.model().results.hits]
    assert len(set(ids)) == len(ids)
    assert palette.results.currentIndex().row() == 1


def test_an_empty_result_is_explained_and_enter_does_nothing(
    palette: SearchPalette, store: Store, qtbot: QtBot
) -> None:
    store.chats.add([chat("one", 0, "word")])
    assert search(palette, qtbot, "zzz") == []
    assert not palette.results.isVisible()
    assert says(palette, "zzz")
    with qtbot.assertNotEmitted(palette.hit_chosen):
        qtbot.keyClick(palette.field, Key.Key_Return)
    assert palette.isVisible()


def test_an_unreadable_store_is_an_error_and_search_continues(
    palette: SearchPalette, store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*arguments: object) -> None:
        raise StoreLocked("Another program is using it.", "Close it.")

    with monkeypatch.context() as patch:
        patch.setattr(store, "search", locked)
        palette.open()
        with qtbot.waitSignal(palette.failed) as failure:
            qtbot.keyClicks(palette.field, "word")
        assert isinstance(failure.args[0], StoreLocked)
    store.chats.add([chat("one", 0, "word")])
    assert len(search(palette, qtbot, "word")) == 2


def test_matches_are_highlighted_also_after_characters_of_two_units(
    palette: SearchPalette, store: Store, qtbot: QtBot
) -> None:
    def coloured(text: str) -> int:
        """Return the x coordinate of the leftmost highlighted pixel."""
        store.chats.add([chat("x", 0, text)])
        search(palette, qtbot, "needle")
        image = palette.results.grab(
            palette.results.visualRect(palette.results.model().index(1, 0))
        ).toImage()
        found = theme.current().found
        return min(
            (
                x
                for x in range(image.width())
                for y in range(image.height())
                if image.pixelColor(x, y).name() == found
            ),
            default=-1,
        )

    plain, wide = coloured("a a a a needle"), coloured("🙂 🙂 🙂 🙂 needle")
    assert plain > 0
    assert wide >= plain  # not shifted left by four half characters


def test_the_ellipsis_that_shortens_an_excerpt_is_not_highlighted(
    palette: SearchPalette, store: Store, qtbot: QtBot
) -> None:
    store.chats.add([chat("x", 0, "needle" * 40)])
    search(palette, qtbot, "needle" * 40)
    row = palette.results.visualRect(palette.results.model().index(1, 0))
    image = palette.results.grab(row).toImage()
    ground, found = theme.current().raised, theme.current().found
    below = [
        (x, image.pixelColor(x, y).name())
        for x in range(image.width() - 12)  # without the frame of the selection
        for y in range(image.height() * 2 // 3, image.height() - 8)
    ]
    marked = max(x for x, colour in below if colour == found)
    written = max(x for x, colour in below if colour not in (ground, found))
    assert written > marked + 2, "the … stands after the mark"


def test_the_list_fits_a_window_that_is_resized(palette: SearchPalette, store: Store, qtbot: QtBot) -> None:
    palette.open()
    palette.window().resize(400, 300)
    qtbot.waitUntil(lambda: palette.size() == palette.window().size())
    assert palette.field.mapTo(palette, QPoint(palette.field.width(), 0)).x() < 400


def test_the_current_result_is_announced_to_a_screen_reader(
    palette: SearchPalette, store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []

    def hear(event: object) -> None:
        assert isinstance(event, QAccessibleAnnouncementEvent)
        texts.append(event.message())

    store.chats.add([chat("one", 0, "word")])
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "updateAccessibility", hear)
    search(palette, qtbot, "word")
    assert texts[-1].startswith("You: word (one, ")
