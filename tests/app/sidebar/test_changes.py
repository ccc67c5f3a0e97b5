import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from app.sidebar import note_bar
from app.sidebar.sidebar import Sidebar
from app.store import NotInStore, Store, StoreError
from tests.app.sidebar.conftest import chat, current, go_to, rows

Key = Qt.Key
CTRL = Qt.KeyboardModifier.ControlModifier


def test_f2_renames_in_place(sidebar: Sidebar, store: Store, qtbot: QtBot) -> None:
    (one,) = store.chats.add([chat("one")])
    sidebar.refresh()
    go_to(sidebar, one)
    qtbot.keyClick(sidebar.view, Key.Key_F2)
    editor = sidebar.view.findChild(QLineEdit)
    assert editor.text() == "one"
    assert editor.accessibleName() == "Chat title"
    qtbot.keyClicks(editor, "another")
    sidebar.refresh()  # as after the end of an answer
    assert sidebar.view.findChild(QLineEdit) is editor
    qtbot.keyClick(editor, Key.Key_Return)
    qtbot.waitUntil(lambda: store.chats.line(one).title == "another")
    assert rows(sidebar) == ["Today", "  another"]


def test_escape_keeps_the_title(sidebar: Sidebar, store: Store, qtbot: QtBot) -> None:
    (one,) = store.chats.add([chat("one")])
    sidebar.refresh()
    go_to(sidebar, one)
    qtbot.keyClick(sidebar.view, Key.Key_F2)
    editor = sidebar.view.findChild(QLineEdit)
    qtbot.keyClicks(editor, "another")
    qtbot.keyClick(editor, Key.Key_Escape)
    assert store.chats.line(one).title == "one"


def test_a_deleted_chat_is_restored_and_shown_again(sidebar: Sidebar, store: Store, qtbot: QtBot) -> None:
    _, two, _ = store.chats.add([chat("one"), chat("two", 0.01), chat("three", 0.02)])
    sidebar.refresh()
    sidebar.show_chat(two)
    with qtbot.waitSignal(sidebar.chat_deleted) as deleted:
        qtbot.keyClick(sidebar.view, Key.Key_Delete)
    assert deleted.args == [two]
    assert rows(sidebar) == ["Today", "  one", "  three"]
    assert current(sidebar) == "three"
    assert sidebar.note.isVisible()
    assert sidebar.note.text == "Deleted “two”"
    sidebar.show_chat(None)  # as the window does
    with qtbot.waitSignal(sidebar.chat_chosen) as chosen:
        qtbot.keyClick(sidebar.view, Key.Key_Z, CTRL)
    assert chosen.args == [two]
    assert rows(sidebar) == ["Today", "  one", "  two", "  three"]
    assert not sidebar.note.isVisible()


def test_the_last_chat_is_restored_by_key_too(sidebar: Sidebar, store: Store, qtbot: QtBot) -> None:
    (one,) = store.chats.add([chat("one")])
    sidebar.refresh()
    go_to(sidebar, one)
    qtbot.keyClick(sidebar.view, Key.Key_Delete)
    assert not sidebar.view.isVisible()
    qtbot.keyClick(QApplication.focusWidget(), Key.Key_Z, CTRL)
    assert rows(sidebar) == ["Today", "  one"]
    assert QApplication.focusWidget() is sidebar.view


def test_the_undo_button_can_be_reached_by_keyboard(sidebar: Sidebar, store: Store, qtbot: QtBot) -> None:
    (one,) = store.chats.add([chat("one")])
    store.chats.add([chat("two", 0.01)])
    sidebar.refresh()
    go_to(sidebar, one)
    qtbot.keyClick(sidebar.view, Key.Key_Delete)
    qtbot.keyClick(sidebar.view, Key.Key_Tab)
    assert QApplication.focusWidget() is sidebar.note.button
    assert sidebar.note.button.accessibleName() == "Undo: Deleted “one”"
    qtbot.keyClick(sidebar.note.button, Key.Key_Space)
    assert rows(sidebar) == ["Today", "  one", "  two"]


def test_the_undo_bar_disappears_after_some_seconds_unless_focused(
    sidebar: Sidebar, store: Store, qtbot: QtBot
) -> None:
    assert note_bar.SHOWN_MS >= 5_000
    store.chats.add([chat("one")])
    sidebar.refresh()
    sidebar.note.findChild(QTimer).setInterval(50)
    sidebar.note.say("done", "Undo", lambda: None)
    sidebar.note.button.setFocus()
    qtbot.wait(120)
    assert sidebar.note.isVisible()
    sidebar.view.setFocus()
    qtbot.waitUntil(lambda: not sidebar.note.isVisible())


def test_ctrl_d_duplicates_and_shows_the_copy(sidebar: Sidebar, store: Store, qtbot: QtBot) -> None:
    (one,) = store.chats.add([chat("one", 3, "question", "answer")])
    sidebar.refresh()
    go_to(sidebar, one)
    with qtbot.waitSignal(sidebar.chat_chosen) as chosen:
        qtbot.keyClick(sidebar.view, Key.Key_D, CTRL)
    (copy,) = chosen.args
    assert [message.text for message in store.messages.all(copy)] == ["question", "answer"]
    assert rows(sidebar) == ["Today", "  one", "Previous 7 days", "  one"]


def test_pinning_by_key_keeps_the_chat_current(sidebar: Sidebar, store: Store, qtbot: QtBot) -> None:
    one, _ = store.chats.add([chat("one"), chat("two", 0.01)])
    sidebar.refresh()
    go_to(sidebar, one)
    keys = CTRL | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(sidebar.view, Key.Key_P, keys)
    assert rows(sidebar) == ["Pinned", "  one", "Today", "  two"]
    assert current(sidebar) == "one"
    qtbot.keyClick(sidebar.view, Key.Key_P, keys)
    assert rows(sidebar) == ["Today", "  one", "  two"]


def choose(menu: QMenu, name: str) -> None:
    menu.aboutToShow.emit()
    next(action for action in menu.actions() if action.text() == name).trigger()


def test_a_chat_moves_to_a_new_folder_that_is_named_in_place(
    sidebar: Sidebar, store: Store, qtbot: QtBot
) -> None:
    (one,) = store.chats.add([chat("one", pinned=True)])
    sidebar.refresh()
    go_to(sidebar, one)
    choose(sidebar.menu.folders, "New folder…")
    editor = sidebar.view.findChild(QLineEdit)
    assert editor.accessibleName() == "Folder name"
    qtbot.keyClicks(editor, "Recipes")
    qtbot.keyClick(editor, Key.Key_Return)
    qtbot.waitUntil(lambda: rows(sidebar) == ["Recipes", "  one"])
    go_to(sidebar, one)
    choose(sidebar.menu.folders, "No folder")
    assert rows(sidebar) == ["Recipes", "Today", "  one"]
    choose(sidebar.menu.folders, "Recipes")
    assert rows(sidebar) == ["Recipes", "  one"]


def test_a_deleted_folder_leaves_its_chats_and_is_restored_with_them(
    sidebar: Sidebar, store: Store, qtbot: QtBot
) -> None:
    store.chats.add([chat("one", folder="Work"), chat("two", 1, folder="Work")])
    sidebar.refresh()
    sidebar.view.setCurrentIndex(sidebar.view.chats.index(0))
    qtbot.keyClick(sidebar.view, Key.Key_Delete)
    assert rows(sidebar) == ["Today", "  one", "Yesterday", "  two"]
    sidebar.note.press()
    assert rows(sidebar) == ["Work", "  one", "  two"]


def test_two_folders_with_the_same_name_are_refused_with_an_error(
    sidebar: Sidebar, store: Store, qtbot: QtBot
) -> None:
    store.folders.create("Home")
    store.folders.create("Work")
    sidebar.refresh()
    model = sidebar.view.chats
    with qtbot.waitSignal(sidebar.failed) as failure:
        model.setData(model.index_of_group("folder:2"), "Home")
    assert isinstance(failure.args[0], StoreError)
    assert rows(sidebar) == ["Home", "Work"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("Work", ["Pinned", "  kept", "Work", "  filed", "  one"]),
        ("filed", ["Pinned", "  kept", "Work", "  filed", "  one"]),
        ("Pinned", ["Pinned", "  kept", "  one", "Work", "  filed"]),
    ],
)
def test_a_chat_is_moved_by_dragging(
    sidebar: Sidebar, store: Store, target: str, expected: list[str]
) -> None:
    one, _, filed = store.chats.add(
        [chat("one", 0.1), chat("kept", pinned=True), chat("filed", folder="Work")]
    )
    sidebar.refresh()
    model = sidebar.view.chats
    places = {
        "Work": model.index_of_group("folder:1"),
        "Pinned": model.index_of_group("pinned"),
        "filed": model.index_of(filed),
    }
    data = model.mimeData([model.index_of(one)])
    assert model.flags(places[target]) & Qt.ItemFlag.ItemIsDropEnabled
    assert model.dropMimeData(data, Qt.DropAction.MoveAction, -1, -1, places[target])
    assert rows(sidebar) == expected


def test_a_chat_purged_by_another_window_is_an_error(sidebar: Sidebar, store: Store, qtbot: QtBot) -> None:
    (one,) = store.chats.add([chat("one")])
    sidebar.refresh()
    go_to(sidebar, one)
    store.chats.delete(one)
    store.chats.purge(now=4e9)
    with qtbot.waitSignal(sidebar.failed) as failure:
        qtbot.keyClick(sidebar.view, Key.Key_Delete)
    assert isinstance(failure.args[0], NotInStore)
    assert rows(sidebar) == []
    assert not sidebar.note.isVisible()
