import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QProcess, Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtPrintSupport import QPrinter
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.sidebar import chat_import, printer, transfer
from app.sidebar.chat_import import Importing, Outcome
from app.sidebar.sidebar import Sidebar
from app.sidebar.transfer import ChatTransfer
from app.store import BadImport, Store, backups
from app.store.exchange import export_file, import_file
from engine.errors import DiskProblem
from tests.app.sidebar.conftest import chat, go_to, rows

CTRL = Qt.KeyboardModifier.ControlModifier


def answer_with(monkeypatch: pytest.MonkeyPatch, question: str, path: Path | None) -> None:
    monkeypatch.setattr(transfer, question, lambda *_: path)


def conversation(title: str, *texts: str) -> dict[str, object]:
    """Return a conversation in the format of a ChatGPT export."""
    nodes: dict[str, object] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    parent = "root"
    for i, text in enumerate(texts):
        message = {
            "author": {"role": "assistant" if i % 2 else "user"},
            "content": {"content_type": "text", "parts": [text]},
            "create_time": 1.7e9 + i,
        }
        nodes[str(i)] = {"id": str(i), "message": message, "parent": parent, "children": []}
        parent = str(i)
    return {
        "title": title,
        "create_time": 1.7e9,
        "update_time": 1.7e9,
        "mapping": nodes,
        "current_node": parent,
    }


def test_a_chat_is_exported_by_key_and_the_file_is_named(
    sidebar: Sidebar, store: Store, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = store.chats.add([chat("one", 0, "question", "answer")])
    sidebar.refresh()
    go_to(sidebar, one)
    path = tmp_path / "out.md"
    answer_with(monkeypatch, "ask_where_to_export", path)
    qtbot.keyClick(sidebar.view, Qt.Key.Key_E, CTRL)
    qtbot.waitUntil(sidebar.note.isVisible)
    assert sidebar.note.text == "Saved as out.md"
    assert "## Assistant\n\nanswer" in path.read_text()
    monkeypatch.setattr(QDesktopServices, "openUrl", pytest.fail)
    qtbot.keyClick(sidebar.view, Qt.Key.Key_Z, CTRL)  # there is nothing to undo
    assert sidebar.note.isVisible()


def test_all_chats_and_a_folder_are_exported_whole(
    sidebar: Sidebar, store: Store, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.chats.add([chat("one", 1, "a"), chat("two", pinned=True), chat("three", folder="Work")])
    sidebar.refresh()
    everything, folder = tmp_path / "all.json", tmp_path / "folder.json"
    answer_with(monkeypatch, "ask_where_to_export", everything)
    sidebar.header.export_all.trigger()
    qtbot.waitUntil(sidebar.note.isVisible)
    assert {each.title for each in import_file(everything).chats} == {"one", "two", "three"}
    sidebar.note.hide()
    answer_with(monkeypatch, "ask_where_to_export", folder)
    sidebar.view.setCurrentIndex(sidebar.view.chats.index_of_group("folder:1"))
    sidebar.menu.export.trigger()
    qtbot.waitUntil(sidebar.note.isVisible)
    assert [each.title for each in import_file(folder).chats] == ["three"]


def test_a_failed_export_is_an_error(
    sidebar: Sidebar, store: Store, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = store.chats.add([chat("one")])
    sidebar.refresh()
    go_to(sidebar, one)
    for question, action in (
        ("ask_where_to_export", sidebar.menu.export),
        ("ask_where_to_print", sidebar.menu.save_pdf),
    ):
        answer_with(monkeypatch, question, tmp_path / "nowhere" / "out.md")
        with qtbot.waitSignal(sidebar.failed) as failure:
            action.trigger()
        assert isinstance(failure.args[0], DiskProblem)


def test_a_pdf_has_every_page_and_no_temporary_file_is_left(
    sidebar: Sidebar, store: Store, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "A paragraph with $x^2$.\n\n```python\ndef f(): return 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    (one,) = store.chats.add([chat("one", 0, "question", text * 40)])
    sidebar.refresh()
    go_to(sidebar, one)
    path = tmp_path / "out.pdf"
    answer_with(monkeypatch, "ask_where_to_print", path)
    sidebar.menu.save_pdf.trigger()
    qtbot.waitUntil(sidebar.note.isVisible, timeout=60_000)
    content = path.read_bytes()
    assert content.startswith(b"%PDF")
    assert content.count(b"/Type /Page\n") > 3
    assert not list(tmp_path.glob(".*"))


def test_printing_numbers_the_pages(store: Store, tmp_path: Path, qtbot: QtBot) -> None:
    (one,) = store.chats.add([chat("one", 0, *["a line of text\n\n" * 60] * 2)])
    to_file = printer.printer("one")
    to_file.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    to_file.setOutputFileName(str(tmp_path / "out.pdf"))
    printer.print_chat(store.chats.read(one), to_file)
    assert to_file.docName() == "one"
    assert (tmp_path / "out.pdf").read_bytes().count(b"/Type /Page\n") >= 3


def begin_import(sidebar: Sidebar, monkeypatch: pytest.MonkeyPatch, path: Path) -> Importing:
    answer_with(monkeypatch, "ask_what_to_import", path)
    sidebar.header.import_chats.trigger()
    importing = sidebar.findChild(ChatTransfer).importing
    assert importing is not None
    return importing


def test_a_chatgpt_export_is_imported_and_skipped_chats_are_listed(
    sidebar: Sidebar, store: Store, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "conversations.json"
    good = [conversation(f"chat {i}", "hello", "hi") for i in range(20)]
    path.write_text(json.dumps([*good, {"title": "broken"}]))
    with qtbot.waitSignal(sidebar.findChild(ChatTransfer).import_ended, timeout=60_000):
        begin_import(sidebar, monkeypatch, path)
        assert sidebar.importing.isVisible()
    assert not sidebar.importing.isVisible()
    assert sidebar.note.text == "Imported 20 chats; 1 could not be read"
    assert rows(sidebar) == ["November 2023", *[f"  chat {i}" for i in reversed(range(20))]]
    box = sidebar.findChild(QMessageBox)
    assert box.detailedText() == "“broken”: it has no messages."
    box.close()
    sidebar.note.press()
    assert rows(sidebar) == []


def test_what_was_lost_comes_back_from_a_backup(
    sidebar: Sidebar, store: Store, path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, lost = store.chats.add([chat("kept", 0.001, "hello", "hi"), chat("lost", 0.002, "hello", "hi")])
    backup = backups.make(path)
    store.chats.delete(lost)
    store.messages.ask(kept, "a later question", store.chats.read(kept).messages[-1].id)
    asked: list[str] = []

    def ask(parent: QWidget, caption: str, folder: str, kinds: str) -> tuple[str, str]:
        asked.append(folder)
        return str(backup), kinds

    monkeypatch.setattr(QFileDialog, "getOpenFileName", ask)
    with qtbot.waitSignal(sidebar.findChild(ChatTransfer).import_ended, timeout=60_000):
        sidebar.header.import_backup.trigger()
    assert [Path(folder) for folder in asked] == [backup.parent]
    assert sidebar.note.text == "Imported 1 chat; 1 already here"
    assert {line.title for line in store.chats.recent()} == {"kept", "lost"}
    assert len(store.chats.read(kept).messages) == 3, "the chat that was here is as it was"


def test_a_stopped_import_shows_its_progress_and_can_be_undone(
    sidebar: Sidebar, store: Store, path: Path, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "many.json"
    export_file(source, [chat(f"chat {i}", i * 0.001, *["word " * 50] * 20) for i in range(600)])
    importing = begin_import(sidebar, monkeypatch, source)
    importing.progressed.connect(lambda done, total: sidebar.importing.stop.click() if done else None)
    with qtbot.waitSignal(importing.ended, timeout=60_000) as ended:
        pass
    (outcome,) = ended.args
    assert isinstance(outcome, Outcome)
    assert outcome.is_stopped
    assert outcome.error is None
    assert 0 < len(outcome.chats) < 600
    assert len(store.chats.recent(1000)) == len(outcome.chats)
    assert sidebar.note.text.startswith("Stopped. Imported ")
    sidebar.note.press()
    assert store.chats.recent(1000) == []


def test_a_window_that_closes_ends_its_import(
    sidebar: Sidebar, store: Store, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "many.json"
    export_file(source, [chat(f"chat {i}", i * 0.001, *["word " * 50] * 20) for i in range(600)])
    importing = begin_import(sidebar, monkeypatch, source)
    with qtbot.waitSignal(importing.progressed, timeout=60_000):
        pass
    sidebar.close_down()
    kept = len(store.chats.recent(1000))
    assert kept < 600
    assert sidebar.findChild(ChatTransfer).importing is None


def test_a_file_without_chats_is_an_error_with_a_hint(
    sidebar: Sidebar, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.json"
    path.write_text("{}")
    with qtbot.waitSignal(sidebar.failed, timeout=60_000) as failure:
        begin_import(sidebar, monkeypatch, path)
    assert isinstance(failure.args[0], BadImport)
    assert "ChatGPT" in failure.args[0].hint
    assert not sidebar.note.isVisible()


def test_a_killed_import_process_is_an_error(
    sidebar: Sidebar, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.json"
    path.write_text("[]")
    importing = begin_import(sidebar, monkeypatch, path)
    with qtbot.waitSignal(sidebar.failed, timeout=60_000) as failure:
        importing.findChild(QProcess).kill()
    assert failure.args[0].message == "Reading x.json ended unexpectedly."


def test_the_dialog_asks_about_the_file_it_will_write(
    sidebar: Sidebar, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def choose(name_filter: str) -> Callable[[QFileDialog], int]:
        def run(dialog: QFileDialog) -> int:
            dialog.setDirectory(str(tmp_path))
            dialog.selectNameFilter(name_filter)
            dialog.filterSelected.emit(name_filter)
            return 1

        return run

    kinds = {
        "Plain text (*.txt)": ".txt",
        "SpecExec Desktop chat, with every version (*.specexec-chat)": ".specexec-chat",
        "JSON, with every version (*.json)": ".json",
        "Markdown (*.md)": ".md",
    }
    for kind, ending in kinds.items():
        monkeypatch.setattr(QFileDialog, "exec", choose(kind))
        path = transfer.ask_where_to_export(sidebar, "A title")
        assert path is not None
        assert path.name == f"A title{ending}"


@pytest.mark.parametrize("message", [b'{"id": 0}', b"[]", b"{}"])
def test_a_small_zip_that_unpacks_to_more_than_memory_is_refused(
    store: Store, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, message: bytes
) -> None:
    """Ten million empty messages in a few hundred KB took over 5 GB."""
    monkeypatch.setattr(chat_import, "MEMORY_LIMIT", 200 << 20)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + (message + b",") * 10_000_000 + message + b"]")
    assert (tmp_path / "a.zip").stat().st_size < 1 << 20
    importing = Importing(tmp_path / "a.zip", store.path)
    with qtbot.waitSignal(importing.ended, timeout=60_000) as ended:
        pass
    error = ended.args[0].error
    assert isinstance(error, BadImport)
    assert "takes too much memory or time" in error.message
    assert error.hint


def test_a_file_that_takes_too_long_to_read_is_refused(
    store: Store, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_import, "READING_LIMIT_MS", 1)
    (tmp_path / "a.json").write_text(json.dumps([conversation("a", "b")]))
    importing = Importing(tmp_path / "a.json", store.path)
    with qtbot.waitSignal(importing.ended, timeout=60_000) as ended:
        pass
    assert "takes too much memory or time" in ended.args[0].error.message
