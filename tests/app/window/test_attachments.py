"""Files come along by drop, paste or button: read, shown as chips, sent whole or searched, and previewed."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QImage
from PySide6.QtWidgets import QFileDialog, QToolButton
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.conversation.answer_view import AnswerView
from app.conversation.composer import Composer
from app.conversation.file_preview import FilePreview
from app.conversation.question_view import QuestionView
from app.documents import child
from app.documents.records import Document
from app.rendering.quiet_button import QuietButton
from app.store import Store
from app.store.exchange import export_file
from app.widgets.elided_label import ElidedLabel
from app.window.window import Window
from engine.hub import Stop
from engine.protocol import messages
from tests.app.documents import specimens
from tests.app.fake_engine import FakeEngines, answer
from tests.app.sidebar.conftest import chat
from tests.app.window.test_window import reach


def files(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path) for path in paths])
    return data


def bring(window: Window, qtbot: QtBot, *paths: Path) -> None:
    """Paste files, and wait until they are read."""
    assert window.composer.editor.canInsertFromMimeData(files(*paths))
    window.composer.editor.insertFromMimeData(files(*paths))
    qtbot.waitUntil(lambda: not window.composer._reading, timeout=30_000)


def chips(window: Window) -> list[str]:
    return [label.text() for label in window.composer.chips.findChildren(ElidedLabel)]


def send(window: Window, engines: FakeEngines, qtbot: QtBot, text: str) -> Sequence[messages.Message]:
    """Ask, answer, and return what was sent."""
    window.composer.write(text)
    window.composer.button.click()
    reach(window, qtbot, State.ANSWERING)
    request = engines.last.asked(messages.Chat)[-1]
    assert isinstance(request, messages.Chat)
    engines.last.say(answer(request.id, "Yes."))
    reach(window, qtbot, State.READY)
    return request.messages


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files without starting a process, which takes a third of a second."""
    from app.documents import reader

    def read(path: Path, stop: Stop) -> Document:
        with path.open("rb") as file:
            return reader.read(file, path.suffix)

    monkeypatch.setattr(child, "read_file", read)


def test_a_file_that_fits_goes_in_whole_with_its_name_in_front(
    window: Window, engines: FakeEngines, qtbot: QtBot, tmp_path: Path
) -> None:
    code = tmp_path / "merge.py"
    code.write_text("def merge():\n    return '```'\n")
    bring(window, qtbot, code, specimens.pdf(tmp_path / "a.pdf", ["First page", "Second page"]))
    assert window.composer.editor.toPlainText() == "", "no file:///"
    assert chips(window) == ["about 14 tokens", "2 pages · about 6 tokens"]
    (sent,) = send(window, engines, qtbot, "What is it?")
    assert sent.content == (
        "merge.py\n````\ndef merge():\n    return '```'\n````\n\n"
        "a.pdf\n```\n[page 1]\nFirst page\n\n[page 2]\nSecond page\n```\n\nWhat is it?"
    )
    assert chips(window) == []
    question = window.transcript.findChildren(QuestionView)[0]
    assert question.chips is not None
    assert [file.name for file in question.chips.files] == ["merge.py", "a.pdf"]
    again = send(window, engines, qtbot, "And why?")
    assert again[0] == sent, "rows of the file serve the second question, too"
    assert again[2].content == "And why?"


@pytest.mark.usefixtures("in_this_process")
def test_a_larger_file_is_searched_for_each_question(
    window: Window, engines: FakeEngines, qtbot: QtBot, tmp_path: Path
) -> None:
    pages = [f"Page {number} is about stone {number}. " * 4 for number in range(1, 301)]
    pages[219] = "The lighthouse keepers of Skerryvore painted their doors green."
    pages[180] = "The harbour of Stornoway freezes in January."
    bring(window, qtbot, specimens.pdf(tmp_path / "book.pdf", pages))
    assert "searched for each question" in chips(window)[0]
    (sent,) = send(window, engines, qtbot, "Which colour has a door of the Skerryvore lighthouse?")
    assert "book.pdf, page 220:\n```\nThe lighthouse keepers" in sent.content
    assert len(sent.content) < 4 * 2048, "it fits the context"
    again = send(window, engines, qtbot, "When does Stornoway harbour freeze?")
    assert "book.pdf, page 181:" in again[2].content
    views = window.transcript.findChildren(AnswerView)
    shown = [[button.text() for button in view.passages.findChildren(QuietButton)] for view in views]
    assert "book.pdf, page 220" in shown[0]
    assert "book.pdf, page 181" in shown[1]
    button = next(
        button for button in views[0].passages.findChildren(QuietButton) if button.text().endswith("220")
    )
    button.click()
    preview = window.findChild(FilePreview)
    assert isinstance(preview, FilePreview)
    assert preview.text is not None
    assert "painted their doors green" in preview.text.toPlainText()
    preview.accept()
    window.chat.open(None)
    window.chat.open(1)
    reopened = window.transcript.findChildren(AnswerView)[-1]
    assert "book.pdf, page 181" in [b.text() for b in reopened.passages.findChildren(QuietButton)]


@pytest.mark.usefixtures("in_this_process")
def test_other_answers_read_the_same_passages_and_an_edited_question_its_own(
    window: Window, engines: FakeEngines, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Rivers run. " * 400 + "\n\nThe Nile is long. " * 90 + "\n\n" + "Lakes lie. " * 400)
    bring(window, qtbot, path)
    (sent,) = send(window, engines, qtbot, "The Nile?")
    assert "Nile is long" in sent.content
    assert "Lakes lie" not in sent.content
    question, answered = (shown.message.id for shown in window.chat.shown)
    window.chat.regenerate(answered)
    reach(window, qtbot, State.ANSWERING)
    request = engines.last.asked(messages.Chat)[-1]
    assert request.messages == [sent]
    engines.last.say(answer(request.id, "Yes."))
    reach(window, qtbot, State.READY)
    window.chat.edit(question, "Lakes?")
    reach(window, qtbot, State.ANSWERING)
    request = engines.last.asked(messages.Chat)[-1]
    assert "Lakes lie" in request.messages[0].content
    engines.last.say(answer(request.id, "Yes."))
    reach(window, qtbot, State.READY)


def test_what_cannot_be_read_is_named(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    locked, good = specimens.locked_pdf(tmp_path / "locked.pdf"), tmp_path / "good.txt"
    good.write_text("good")
    bring(window, qtbot, locked, tmp_path / "gone.txt", good)
    assert window.composer.remark.text().splitlines() == [
        "locked.pdf is protected by a password; save it without one.",
        "gone.txt is not a file that can be read.",
    ]
    assert [file.name for file in window.composer.attached] == ["good.txt"], "the others come all the same"
    qtbot.keyClicks(window.composer.editor, "x")
    assert window.composer.remark.isHidden()


def test_a_pasted_picture_is_kept_though_the_model_does_not_see_it(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    image = QImage(40, 30, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    data = QMimeData()
    data.setImageData(image)
    assert window.composer.editor.canInsertFromMimeData(data)
    window.composer.editor.insertFromMimeData(data)
    qtbot.waitUntil(lambda: bool(window.composer.attached))
    assert "does not see pictures" in window.composer.remark.text()
    assert chips(window) == ["picture, not seen by the model"]
    (sent,) = send(window, engines, qtbot, "What is it?")
    assert "cannot see" in sent.content
    question = window.transcript.findChildren(QuestionView)[0]
    assert question.chips is not None
    question.chips.findChildren(QuietButton)[0].click()
    preview = window.findChild(FilePreview)
    assert isinstance(preview, FilePreview)
    assert preview.picture is not None
    assert (preview.picture.pixmap().width(), preview.picture.pixmap().height()) == (40, 30)
    preview.accept()


@pytest.mark.usefixtures("in_this_process")
def test_files_can_be_chosen_previewed_and_removed(
    window: Window, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md"
    path.write_text("# Title")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(path)], ""))
    window.composer.attach.click()
    qtbot.waitUntil(lambda: bool(window.composer.attached))
    assert window.composer.button.isEnabled()
    window.composer.chips.findChildren(QuietButton)[0].click()
    preview = window.findChild(FilePreview)
    assert isinstance(preview, FilePreview)
    assert preview.text is not None
    assert preview.text.toPlainText() == "# Title"
    preview.accept()
    window.composer.chips.findChildren(QToolButton)[0].click()
    assert window.composer.attached == []
    assert window.composer.chips.isHidden()
    assert not window.composer.button.isEnabled()


def test_reading_can_be_left_and_nothing_is_sent_meanwhile(
    window: Window, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "READER", "tests.app.documents.bad_reader")
    hanging = tmp_path / "a.hang"
    hanging.touch()
    window.composer.write("What is it?")
    window.composer.bring(files(hanging))
    assert set(chips(window)) == {"a.hang", "reading…"}
    assert not window.composer.button.isEnabled()
    with qtbot.assertNotEmitted(window.composer.sent):
        window.composer.editor.submitted.emit()
    window.composer.chips.findChildren(QToolButton)[0].click()
    assert window.composer.chips.isHidden()
    assert window.composer.button.isEnabled()


@pytest.mark.usefixtures("in_this_process")
def test_a_file_belongs_to_the_chat_in_which_it_was_dropped(
    window: Window, engines: FakeEngines, store: Store, qtbot: QtBot, tmp_path: Path
) -> None:
    send(window, engines, qtbot, "Hello")
    path = tmp_path / "a.txt"
    path.write_text("text")
    window.composer.bring(files(path))
    chat = window.chat.id
    window.chat.open(None)
    assert window.composer.chips.isHidden()
    qtbot.waitUntil(lambda: bool(store.unsent.of(chat).files))
    assert window.composer.attached == []
    window.chat.open(chat)
    assert [file.name for file in window.composer.attached] == ["a.txt"]


@pytest.mark.usefixtures("in_this_process")
def test_a_message_of_files_alone_is_called_by_their_names(
    window: Window, engines: FakeEngines, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("text")
    bring(window, qtbot, path)
    (sent,) = send(window, engines, qtbot, "")
    assert sent.content == "a.txt\n```\ntext\n```\n\na.txt"
    assert window.chat.title == "A.txt"


@pytest.mark.usefixtures("in_this_process")
def test_a_queued_question_keeps_its_files(
    window: Window, engines: FakeEngines, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("text")
    window.composer.write("One")
    window.composer.button.click()
    reach(window, qtbot, State.ANSWERING)
    bring(window, qtbot, path)
    window.composer.write("Two")
    window.composer.editor.submitted.emit()
    assert window.composer.attached == []
    window.chat.stop()
    reach(window, qtbot, State.READY)
    assert [file.name for file in window.composer.attached] == ["a.txt"], "given back"
    assert window.composer.editor.toPlainText() == "Two"


def test_plain_text_is_pasted_into_the_field(qtbot: QtBot) -> None:
    composer = Composer()
    qtbot.addWidget(composer)
    data = QMimeData()
    data.setText("https://example.org/a")
    data.setUrls([QUrl("https://example.org/a")])
    composer.editor.insertFromMimeData(data)
    assert composer.editor.toPlainText() == "https://example.org/a"


@pytest.mark.usefixtures("in_this_process")
def test_files_may_be_dropped_anywhere(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("dropped")
    data = files(path)
    held = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    entering = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, *held)
    entering.ignore()
    window.dragEnterEvent(entering)
    assert entering.isAccepted()
    window.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, *held))
    qtbot.waitUntil(lambda: [file.name for file in window.composer.attached] == ["a.txt"])


@pytest.mark.usefixtures("in_this_process")
def test_a_question_with_files_is_as_high_as_its_content(
    window: Window, engines: FakeEngines, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("text")
    bring(window, qtbot, path)
    send(window, engines, qtbot, "What is it?")
    window.transcript.widget().layout().activate()
    question = window.transcript.rows[0]
    assert question.height() == question.sizeHint().height() < window.transcript.height() // 4
    assert isinstance(question.view, QuestionView)
    assert question.view.chips is not None
    assert question.view.body.geometry().top() - question.view.chips.geometry().bottom() < 20


def test_exported_chats_are_imported(window: Window, store: Store, qtbot: QtBot, tmp_path: Path) -> None:
    paths = [tmp_path / f"{title}.specexec-chat" for title in ("bread", "soup")]
    for path in paths:
        (made,) = store.chats.add([chat(path.stem, 0, "How?", "So.")])
        export_file(path, [store.chats.read(made)])
        store.chats.delete(made)
    window.header.sidebar_switch.setChecked(False)
    window.composer.bring(files(*paths))
    assert window.sidebar.importing.isVisible()
    qtbot.waitUntil(lambda: len(store.chats.recent(9)) == 2, timeout=30_000)
    qtbot.waitUntil(lambda: window.sidebar._transfer.importing is None, timeout=30_000)
    assert {line.title for line in store.chats.recent(9)} == {"bread", "soup"}
    assert not window.composer.attached
    assert window.sidebar.note.text == "Imported 2 chats"
    window.sidebar.note.undo()
    assert not store.chats.recent(9)


def test_a_model_is_not_read_as_a_document(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    model = tmp_path / "large.gguf"
    model.touch()
    bring(window, qtbot, model)
    assert "large.gguf is a model." in window.composer.remark.text()


def test_weights_lead_to_the_file_that_can_be_opened(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    weights.touch()
    bring(window, qtbot, weights)
    assert "choose config.json" in window.composer.remark.text()
