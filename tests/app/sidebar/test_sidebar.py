from collections.abc import Callable

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt, QUrl
from PySide6.QtGui import QContextMenuEvent, QDesktopServices
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.sidebar.sidebar import Sidebar
from app.store import Store
from app.widgets import theme
from engine.protocol.engine_process import log_path
from tests.app.sidebar.conftest import chat, go_to, rows
from tests.app.widgets.test_theme import contrast

MakeSidebar = Callable[[], Sidebar]
Key = Qt.Key


def test_chats_are_listed_pinned_in_folders_and_by_date(sidebar: Sidebar, store: Store) -> None:
    store.chats.add(
        [
            chat("new"),
            chat("a day old", 1),
            chat("five days old", 5),
            chat("kept", 400, pinned=True),
            chat("filed", 3, folder="Work"),
            chat("", 0.001),
        ]
    )
    sidebar.refresh()
    assert rows(sidebar) == [
        "Pinned",
        "  kept",
        "Work",
        "  filed",
        "Today",
        "  new",
        "  New chat",
        "Yesterday",
        "  a day old",
        "Previous 7 days",
        "  five days old",
    ]


def test_enter_and_a_click_show_a_chat(sidebar: Sidebar, store: Store, qtbot: QtBot) -> None:
    one, other = store.chats.add([chat("one"), chat("other", 0.01)])
    sidebar.refresh()
    sidebar.view.setCurrentIndex(sidebar.view.chats.index(0))
    qtbot.keyClick(sidebar.view, Key.Key_Down)
    with qtbot.waitSignal(sidebar.chat_chosen) as chosen:
        qtbot.keyClick(sidebar.view, Key.Key_Return)
    assert chosen.args == [one]
    box = sidebar.view.visualRect(sidebar.view.chats.index_of(other))
    with qtbot.waitSignal(sidebar.chat_chosen) as chosen:
        qtbot.mouseClick(
            sidebar.view.viewport(), Qt.MouseButton.LeftButton, pos=box.topLeft() + QPoint(30, 10)
        )
    assert chosen.args == [other]


def test_groups_fold_by_key_and_by_click_and_stay_folded(
    sidebar: Sidebar, store: Store, make_sidebar: MakeSidebar, qtbot: QtBot
) -> None:
    store.chats.add([chat("one"), chat("filed", folder="Work")])
    sidebar.refresh()
    view = sidebar.view
    view.setCurrentIndex(view.chats.index(0))
    qtbot.keyClick(view, Key.Key_Return)
    qtbot.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.chats.index(1)).center()
    )
    assert rows(sidebar) == ["Work", "Today"]
    sidebar.refresh()
    assert rows(sidebar) == ["Work", "Today"]
    other = make_sidebar()
    other.fold(sidebar.folded)
    assert rows(other) == ["Work", "Today"]
    qtbot.keyClick(view, Key.Key_Up)
    qtbot.keyClick(view, Key.Key_Right)
    assert rows(sidebar) == ["Work", "Today", "  one"] or rows(sidebar) == ["Work", "  filed", "Today"]


def test_the_menu_opens_by_key_at_the_row_with_its_actions(
    sidebar: Sidebar, store: Store, qtbot: QtBot
) -> None:
    (one,) = store.chats.add([chat("one", pinned=True, folder="Work")])
    sidebar.refresh()
    go_to(sidebar, one)
    reason = QContextMenuEvent.Reason.Keyboard
    event = QContextMenuEvent(reason, QPoint(0, 0), QPoint(0, 0), Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(sidebar.view.viewport(), event)
    assert sidebar.menu.isVisible()
    names = [action.text() for action in sidebar.menu.actions() if action.isVisible() and action.text()]
    expected = [
        "Open in a new window",
        "Rename",
        "Unpin",
        "Move to folder",
        "Duplicate",
        "Export…",
        "Save as PDF…",
        "Print…",
        "Delete",
    ]
    assert names == expected
    sidebar.menu.close()
    sidebar.view.setCurrentIndex(sidebar.view.chats.index(1))
    sidebar.view.ask_for_menu()
    names = [action.text() for action in sidebar.menu.actions() if action.isVisible() and action.text()]
    assert names == ["Rename", "Export…", "Delete folder, keep chats"]
    sidebar.menu.close()


def test_a_key_opens_a_chat_in_a_new_window(sidebar: Sidebar, store: Store, qtbot: QtBot) -> None:
    (one,) = store.chats.add([chat("one")])
    sidebar.refresh()
    sidebar.view.setCurrentIndex(sidebar.view.chats.index_of(one))
    sidebar.view.setFocus()
    with qtbot.waitSignal(sidebar.window_asked) as asked, qtbot.assertNotEmitted(sidebar.chat_chosen):
        held = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        qtbot.keyClick(sidebar.view, Qt.Key.Key_Return, held)
    assert asked.args == [one]


def test_the_dots_in_a_row_open_its_menu_and_not_the_chat(
    sidebar: Sidebar, store: Store, qtbot: QtBot
) -> None:
    (one,) = store.chats.add([chat("one")])
    sidebar.refresh()
    row = sidebar.view.visualRect(sidebar.view.chats.index_of(one))
    dots = QPoint(row.right() - 18, row.center().y())
    with qtbot.assertNotEmitted(sidebar.chat_chosen):
        qtbot.mouseClick(sidebar.view.viewport(), Qt.MouseButton.LeftButton, pos=dots)
    assert sidebar.menu.isVisible()
    assert sidebar.menu.chat is not None
    assert sidebar.menu.chat.id == one
    sidebar.menu.close()


def test_a_refresh_keeps_selection_and_scroll(sidebar: Sidebar, store: Store, qtbot: QtBot) -> None:
    ids = store.chats.add([chat(f"chat {i}", i * 0.001) for i in range(90)])
    sidebar.refresh()
    go_to(sidebar, ids[40])
    view = sidebar.view
    view.scrollTo(view.currentIndex(), view.ScrollHint.PositionAtCenter)
    before = view.visualRect(view.currentIndex()).top()
    store.messages.ask(ids[80], "something new")  # from far below to the top
    store.chats.add([chat("another")])
    sidebar.refresh()
    assert view.chats.chat(view.currentIndex()).id == ids[40]
    assert view.visualRect(view.currentIndex()).top() == before
    assert view.chats.index_of(ids[80]).row() == 0 or view.chats.index_of(ids[80]).row() == 1


def test_a_refresh_at_the_top_shows_new_chats(sidebar: Sidebar, store: Store) -> None:
    store.chats.add([chat(f"chat {i}", 0.1 + i * 0.001) for i in range(90)])
    sidebar.refresh()
    store.chats.add([chat("new")])
    sidebar.refresh()
    assert sidebar.view.verticalScrollBar().value() == 0
    assert rows(sidebar)[:2] == ["Today", "  new"]


def test_two_windows_on_one_store_agree_once_activated(
    store: Store, make_sidebar: MakeSidebar, qtbot: QtBot
) -> None:
    one, _ = store.chats.add([chat("one"), chat("two", 0.01)])
    first, second = make_sidebar(), make_sidebar()
    go_to(second, one)
    qtbot.keyClick(second.view, Key.Key_Delete)
    assert rows(second) == ["Today", "  two"]
    with qtbot.waitActive(first.window()):
        first.window().activateWindow()
    assert rows(first) == ["Today", "  two"]
    second.note.press()
    assert rows(second) == ["Today", "  one", "  two"]


def test_the_chat_with_an_answer_in_progress_is_marked_also_for_screen_readers(
    sidebar: Sidebar, store: Store
) -> None:
    one, two = store.chats.add([chat("one"), chat("two", 0.01)])
    sidebar.refresh()
    role = Qt.ItemDataRole.AccessibleTextRole
    plain = sidebar.view.grab().toImage()
    sidebar.mark_answering(two)
    assert sidebar.view.chats.index_of(two).data(role) == "two, answering"
    assert sidebar.view.grab().toImage() != plain
    sidebar.mark_answering(None)
    assert sidebar.view.chats.index_of(two).data(role) is None
    assert sidebar.view.grab().toImage() == plain
    assert sidebar.view.chats.index_of(one).data(role) is None


def test_an_empty_list_explains_itself(sidebar: Sidebar, store: Store) -> None:
    assert not sidebar.view.isVisible()
    assert not sidebar.header.export_all.isEnabled()
    store.chats.add([chat("one")])
    sidebar.refresh()
    assert sidebar.view.isVisible()
    assert sidebar.header.export_all.isEnabled()


def test_a_title_is_never_markup(sidebar: Sidebar, store: Store) -> None:
    (one,) = store.chats.add([chat("<img src='file:///x'> & more")])
    sidebar.refresh()
    tip = sidebar.view.chats.index_of(one).data(Qt.ItemDataRole.ToolTipRole)
    assert "<img" not in tip
    assert "&lt;img" in tip


def test_every_control_has_a_name_and_tab_reaches_it(sidebar: Sidebar, store: Store, qtbot: QtBot) -> None:
    store.chats.add([chat("one")])
    sidebar.refresh()
    header = sidebar.header
    header.new_chat.setFocus()
    reached = [QApplication.focusWidget()]
    for _ in range(3):
        qtbot.keyClick(QApplication.focusWidget(), Key.Key_Tab)
        reached.append(QApplication.focusWidget())
    assert reached == [header.new_chat, header.search, header.more, sidebar.view]
    assert [widget.accessibleName() for widget in reached] == ["New chat", "Search", "More", "Chats"]


def test_an_index_that_has_outlived_its_row_is_harmless(sidebar: Sidebar, store: Store) -> None:
    ids = store.chats.add([chat("one"), chat("two", 0.01)])
    sidebar.refresh()
    model = sidebar.view.chats
    stale = QModelIndex(model.index_of(ids[1]))
    for id in ids:
        store.chats.delete(id)
    sidebar.refresh()
    assert model.chat(stale) is None
    assert stale.data() is None


def test_the_menu_opens_the_keyboard_shortcuts_and_the_logs(
    sidebar: Sidebar, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    with qtbot.waitSignal(sidebar.keys_asked):
        sidebar.header.keys.trigger()
    sidebar.header.logs.trigger()
    assert opened == [QUrl.fromLocalFile(log_path().parent)]


@pytest.mark.parametrize("c", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_text_contrasts_with_the_highlight(c: theme.Palette) -> None:
    assert contrast(c.text, c.found) >= 4.5
    assert contrast(c.accent, c.raised) >= 3  # the bar and the dot
