from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.sidebar import searching
from app.sidebar.search_palette import SearchPalette
from app.store import Store, StoreLocked
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
    with qtbot.waitSignal(palette._searching.found, check_params_cb=lambda found: found.query == query):
        qtbot.keyClicks(palette.field, query)
    return entries(palette)


def titles(palette: SearchPalette) -> list[str]:
    return [entry.rpartition(", ")[0] for entry in entries(palette)]


def test_before_anything_is_written_the_last_chats_are_offered(
    palette: SearchPalette, store: Store, qtbot: QtBot
) -> None:
    store.chats.add([chat(f"chat {i}", i) for i in range(20)])
    (pinned,) = store.chats.add([chat("pinned", 2.5, pinned=True)])
    with qtbot.waitSignal(palette._searching.found):
        palette.open()
    assert entries(palette)[0] == "Last used"
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
    qtbot.keyClick(palette.field, Key.Key_Down)  # over the heading
    answer = store.messages.all(other)[1].id
    with qtbot.waitSignal(palette.hit_chosen) as chosen:
        qtbot.keyClick(palette.field, Key.Key_Return)
    assert chosen.args == [other, answer, palette.field.text()]
    assert not palette.isVisible()


def test_the_focus_stays_in_the_field_and_goes_back_at_the_end(
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


def test_a_click_beside_it_closes_it_and_a_click_on_a_hit_opens_it(
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


def test_enter_before_the_answer_opens_what_was_asked_for(
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


def test_only_what_was_asked_last_is_answered(palette: SearchPalette, store: Store, qtbot: QtBot) -> None:
    store.chats.add([chat("one", 0, "apple banana cherry")])
    answered = []
    palette._searching.found.connect(lambda found: answered.append(found.query))
    for query in ("apple", "banana", "cherry"):
        palette._searching.ask(query)
    qtbot.waitUntil(lambda: answered == ["cherry"])


def test_korean_is_searched_while_it_is_composed_and_chinese_once_it_is_han(
    palette: SearchPalette, store: Store, qtbot: QtBot
) -> None:
    (korean,) = store.chats.add([chat("하나", 0, "부산으로 가는 기차")])
    (chinese,) = store.chats.add([chat("二", 0, "你好，世界")])
    palette.open()
    with qtbot.waitSignal(palette._searching.found, check_params_cb=lambda found: found.query == "부"):
        QApplication.sendEvent(palette.field, QInputMethodEvent("부", []))
    assert [hit.chat for hit in palette.results.model().results.hits] == [korean]
    qtbot.keyClick(palette.field, Key.Key_Return)  # the input method's own
    assert palette.isVisible()
    committed = QInputMethodEvent("", [])
    committed.setCommitString("부")
    QApplication.sendEvent(palette.field, committed)
    assert palette.field.query() == "부"
    palette.field.clear()
    QApplication.sendEvent(palette.field, QInputMethodEvent("ni'hao", []))
    assert palette.field.query() == ""
    committed.setCommitString("你好")
    with qtbot.waitSignal(palette._searching.found, check_params_cb=lambda found: found.query == "你好"):
        QApplication.sendEvent(palette.field, committed)
    assert [hit.chat for hit in palette.results.model().results.hits] == [chinese]


def test_further_messages_come_as_the_list_is_scrolled(
    palette: SearchPalette, store: Store, qtbot: QtBot
) -> None:
    store.chats.add([chat("one", 0, *["word"] * (2 * searching.PAGE + 20))])
    search(palette, qtbot, "word")
    for pages in (2, 3):
        palette.results.scrollToBottom()
        expected = min(pages * searching.PAGE, 2 * searching.PAGE + 20)
        qtbot.waitUntil(lambda expected=expected: len(palette.results.model().results.hits) == expected)
    ids = [hit.message for hit in palette.results.model().results.hits]
    assert len(set(ids)) == len(ids)
    assert palette.results.currentIndex().row() == 1


def test_nothing_found_says_why_and_enter_does_nothing(
    palette: SearchPalette, store: Store, qtbot: QtBot
) -> None:
    store.chats.add([chat("one", 0, "word")])
    assert search(palette, qtbot, "zzz") == []
    assert not palette.results.isVisible()
    assert "zzz" in palette._nothing.text()
    with qtbot.assertNotEmitted(palette.hit_chosen):
        qtbot.keyClick(palette.field, Key.Key_Return)
    assert palette.isVisible()


def test_a_store_that_cannot_be_read_is_told_and_search_goes_on(
    palette: SearchPalette, store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*arguments: object) -> None:
        raise StoreLocked("Another program is using it.", "Close it.")

    with monkeypatch.context() as patch:
        patch.setattr(store, "search", locked)
        palette.open()
        with qtbot.waitSignal(palette.trouble) as trouble:
            qtbot.keyClicks(palette.field, "word")
        assert isinstance(trouble.args[0], StoreLocked)
    store.chats.add([chat("one", 0, "word")])
    assert len(search(palette, qtbot, "word")) == 2


def test_what_was_found_is_coloured_also_after_characters_of_two_units(
    palette: SearchPalette, store: Store, qtbot: QtBot
) -> None:
    def coloured(said: str) -> int:
        """The leftmost pixel in the colour of what was found."""
        store.chats.add([chat("x", 0, said)])
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
    assert wide >= plain  # not moved to the left by four half characters


def test_the_list_fits_a_window_that_is_resized(palette: SearchPalette, store: Store, qtbot: QtBot) -> None:
    palette.open()
    palette.window().resize(400, 300)
    qtbot.waitUntil(lambda: palette.size() == palette.window().size())
    assert palette.field.mapTo(palette, QPoint(palette.field.width(), 0)).x() < 400


def test_a_screen_reader_hears_what_the_arrows_are_at(
    palette: SearchPalette, store: Store, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def hear(event: object) -> None:
        assert isinstance(event, QAccessibleAnnouncementEvent)
        said.append(event.message())

    store.chats.add([chat("one", 0, "word")])
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "updateAccessibility", hear)
    search(palette, qtbot, "word")
    assert said[-1].startswith("You: word (one, ")
