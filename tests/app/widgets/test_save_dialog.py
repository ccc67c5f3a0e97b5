from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.widgets import save_dialog
from app.widgets.save_dialog import ask_where_to_save

KINDS = {"Markdown (*.md)": "md", "Plain text (*.txt)": "txt"}


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def save(parent: QWidget, folder: Path, name: str, *actions: Callable[[QWidget], None]) -> Path | None:
    """Return what the dialog returns. actions: each is done to the dialog or box that is open next."""
    left = list(actions)

    def act() -> None:
        if (box := QApplication.activeModalWidget()) is not None:
            left.pop(0)(box)
        if left:
            QTimer.singleShot(10, act)

    QTimer.singleShot(0, act)
    path = ask_where_to_save(parent, "Export", name, KINDS, str(folder))
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
    assert save_dialog._with_suffix(tmp_path / ".md", "md", KINDS) == tmp_path / ".md.md"


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
