from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.widgets import save_dialog
from app.widgets.save_dialog import ask_where_to_save, file_name

KINDS = {"Markdown (*.md)": "md", "Plain text (*.txt)": "txt"}


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def save(
    parent: QWidget,
    folder: Path,
    name: str,
    *actions: Callable[[QWidget], None],
    kinds: Mapping[str, str] = KINDS,
) -> Path | None:
    """Return what the dialog returns. actions: each is done to the dialog or box that is open next."""
    left = list(actions)

    def act() -> None:
        if (box := QApplication.activeModalWidget()) is not None:
            left.pop(0)(box)
        if left:
            QTimer.singleShot(10, act)

    QTimer.singleShot(0, act)
    path = ask_where_to_save(parent, "Export", name, kinds, str(folder))
    assert not left
    return path


def accept(dialog: QWidget) -> None:
    assert isinstance(dialog, QFileDialog)
    dialog.accept()


def accept_as(name: str) -> Callable[[QWidget], None]:
    """Return an action that types a name and accepts the dialog."""

    def do(dialog: QWidget) -> None:
        field = dialog.findChild(QLineEdit, "fileNameEdit")
        assert isinstance(field, QLineEdit)
        field.setText(name)
        accept(dialog)

    return do


def choose_text(dialog: QWidget) -> None:
    assert isinstance(dialog, QFileDialog)
    kind = list(KINDS)[1]
    dialog.selectNameFilter(kind)
    dialog.filterSelected.emit(kind)


def press(standard: QMessageBox.StandardButton) -> Callable[[QWidget], None]:
    def do(box: QWidget) -> None:
        assert isinstance(box, QMessageBox)
        box.button(standard).click()

    return do


def cancel(dialog: QWidget) -> None:
    assert isinstance(dialog, QFileDialog)
    dialog.reject()


def test_a_suggested_name_with_dots_keeps_them_and_gets_the_suffix_of_the_format(
    parent: QWidget, tmp_path: Path
) -> None:
    assert save(parent, tmp_path, "What is Python 3.12", accept) == tmp_path / "What is Python 3.12.md"
    chosen = save(parent, tmp_path, "About config.md", choose_text, accept)
    assert chosen == tmp_path / "About config.md.txt"


@pytest.mark.parametrize(
    ("typed", "written"),
    [("plain", "plain.md"), ("Qwen 2.5", "Qwen 2.5.md"), ("a.txt", "a.txt"), ("a.MD", "a.MD")],
)
def test_a_typed_name_gets_the_suffix_unless_it_has_one(
    parent: QWidget, tmp_path: Path, typed: str, written: str
) -> None:
    assert save(parent, tmp_path, "x", accept_as(typed)) == tmp_path / written


def test_a_name_of_nothing_but_a_suffix_has_none(tmp_path: Path) -> None:
    assert save_dialog._with_suffix(tmp_path / ".md", "md", KINDS.values()) == tmp_path / ".md.md"


@pytest.mark.parametrize(
    ("chosen", "written"),
    [
        ("mine", "mine.race.json"),
        ("mine.json", "mine.race.json"),
        ("mine.JSON", "mine.race.json"),
        ("mine.race.json", "mine.race.json"),
        ("Qwen 2.5", "Qwen 2.5.race.json"),
        (".race.json", ".race.race.json"),
    ],
)
def test_a_suffix_of_two_parts_is_completed(tmp_path: Path, chosen: str, written: str) -> None:
    made = save_dialog._with_suffix(tmp_path / chosen, "race.json", ["race.json"])
    assert made == tmp_path / written


def test_the_dialog_itself_adds_the_end_of_a_suffix_of_two_parts(parent: QWidget, tmp_path: Path) -> None:
    recording = {"*.race.json": "race.json"}
    assert save(parent, tmp_path, "x", accept, kinds=recording) == tmp_path / "x.race.json"
    assert save(parent, tmp_path, "x", accept_as("mine"), kinds=recording) == tmp_path / "mine.race.json"
    (tmp_path / "mine.race.json").write_text("of the user")
    yes = press(QMessageBox.StandardButton.Yes)
    typed = accept_as("mine.json")
    assert save(parent, tmp_path, "x", typed, yes, kinds=recording) == tmp_path / "mine.race.json"


def test_nothing_is_to_be_replaced_where_no_file_can_be(tmp_path: Path) -> None:
    assert not save_dialog._is_there(tmp_path / ("n" * 300))
    assert not save_dialog._is_there(tmp_path)


def test_a_file_whose_suffix_was_not_typed_is_not_replaced_unasked(parent: QWidget, tmp_path: Path) -> None:
    (tmp_path / "Qwen 2.5.md").write_text("of the user")
    yes, no = press(QMessageBox.StandardButton.Yes), press(QMessageBox.StandardButton.Cancel)
    typed = accept_as("Qwen 2.5")
    assert save(parent, tmp_path, "x", typed, yes) == tmp_path / "Qwen 2.5.md"
    assert save(parent, tmp_path, "x", typed, no, accept_as("b")) == tmp_path / "b.md"
    assert save(parent, tmp_path, "x", typed, no, cancel) is None


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Why? A/B: “test”", "Why A B “test”"),
        ("con", "chat con"),
        ("...", "chat"),
        ("한" * 100, "한" * 40),
        ("a\x00b\nc", "a b c"),
    ],
)
def test_a_title_becomes_a_file_name_valid_on_every_system(title: str, name: str) -> None:
    assert file_name(title, "chat") == name
