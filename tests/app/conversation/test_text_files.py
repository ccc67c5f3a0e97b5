"""Files that are dropped or pasted are sent as text, or it is said why not."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QImage
from pytestqt.qtbot import QtBot

from app.conversation.composer import Composer
from app.conversation.text_files import MAX_NBYTES
from app.window.window import Window


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    composer = Composer()
    qtbot.addWidget(composer)
    composer.allow(send=True, stop=False)
    return composer


def files(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path) for path in paths])
    return data


def test_a_text_file_is_held_with_its_name(composer: Composer, tmp_path: Path) -> None:
    code, note = tmp_path / "merge.py", tmp_path / "나무.md"
    code.write_text("def merge():\n    pass\n", "utf-8")
    note.write_bytes("```\n숲\n```".encode("utf-16"))
    assert composer.editor.canInsertFromMimeData(files(code, note))
    composer.editor.insertFromMimeData(files(code, note))
    assert composer.pasted.texts == [
        "merge.py\n```\ndef merge():\n    pass\n```",
        "나무.md\n````\n```\n숲\n```\n````",
    ]
    assert composer.editor.toPlainText() == "", "no file:///"
    assert composer.remark.isHidden()
    assert composer.button.isEnabled()


@pytest.mark.parametrize("kind", ["binary", "zeros", "folder", "large", "gone", "closed"])
def test_what_cannot_be_sent_is_named(composer: Composer, tmp_path: Path, qtbot: QtBot, kind: str) -> None:
    path = tmp_path / "thing"
    match kind:
        case "binary":
            path.write_bytes(b"\x89PNG\r\n\x1a\n\xff")
        case "zeros":
            path.write_bytes(bytes(100))
        case "folder":
            path.mkdir()
        case "large":
            path.write_bytes(b"a" * (MAX_NBYTES + 1))
        case "closed":
            path.symlink_to("/dev/zero")
    good = tmp_path / "good.txt"
    good.write_text("good")
    composer.bring(files(path, good))
    assert not composer.remark.isHidden()
    assert composer.remark.text().startswith("thing ")
    assert len(composer.pasted.texts) == 1, "the others are held all the same"
    qtbot.keyClicks(composer.editor, "x")
    assert composer.remark.isHidden()


def test_a_pasted_picture_is_not_ignored_in_silence(composer: Composer) -> None:
    data = QMimeData()
    data.setImageData(QImage(4, 4, QImage.Format.Format_RGB32))
    assert composer.editor.canInsertFromMimeData(data)
    composer.editor.insertFromMimeData(data)
    assert "pictures" in composer.remark.text()
    assert composer.pasted.texts == []


def test_plain_text_is_pasted_into_the_field(composer: Composer) -> None:
    data = QMimeData()
    data.setText("https://example.org/a")
    data.setUrls([QUrl("https://example.org/a")])
    composer.editor.insertFromMimeData(data)
    assert composer.editor.toPlainText() == "https://example.org/a"


def test_files_may_be_dropped_anywhere(window: Window, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("dropped")
    data = files(path)
    held = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    entering = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, *held)
    entering.ignore()
    window.dragEnterEvent(entering)
    assert entering.isAccepted()
    window.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, *held))
    assert window.composer.pasted.texts == ["a.txt\n```\ndropped\n```"]
