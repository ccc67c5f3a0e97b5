"""The models page: listing, moving and deleting models."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from app.settings.models_page import ModelsPage
from engine import catalog
from tests.app.seen import labels


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A models folder with two models."""
    monkeypatch.delenv(catalog.MODELS_VARIABLE, raising=False)
    kept = tmp_path / "models-folder.txt"
    monkeypatch.setattr(catalog.local, "_kept_folder", lambda: kept)
    models = tmp_path / "models"
    models.mkdir()
    (models / "small.gguf").write_bytes(bytes(1024))
    (models / "large.gguf").write_bytes(bytes(4096))
    kept.write_text(str(models))
    return models


@pytest.fixture
def page(folder: Path, qtbot: QtBot) -> ModelsPage:
    made = ModelsPage()
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: made.models.count() == 2)
    return made


def names(page: ModelsPage) -> list[str]:
    return [page.models.item(row).text().split("\n")[0] for row in range(page.models.count())]


def test_models_in_the_folder_are_listed_largest_first(page: ModelsPage, folder: Path) -> None:
    assert names(page) == ["large.gguf", "small.gguf"]
    assert str(folder) in labels(page)
    assert "2 models, 5.0 kB" in labels(page)
    assert not page.delete.isEnabled()


def test_the_models_move_to_another_folder(
    page: ModelsPage, folder: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    target = tmp_path / "elsewhere"
    with qtbot.waitSignal(page.moved):
        page.move_to(target)
    assert catalog.models_folder() == target
    assert sorted(path.name for path in target.iterdir()) == ["large.gguf", "small.gguf"]
    assert not folder.exists()
    qtbot.waitUntil(lambda: str(target) in labels(page) and page.models.count() == 2)
    assert page.change.isEnabled()


def test_a_failed_move_shows_the_reason(page: ModelsPage, folder: Path, qtbot: QtBot) -> None:
    page.move_to(folder / "inside")
    qtbot.waitUntil(page.problem.isVisible)
    assert "contains the other" in page.problem.message
    assert catalog.models_folder() == folder
    assert page.change.isEnabled()


def test_a_model_is_deleted_after_confirmation(page: ModelsPage, folder: Path, qtbot: QtBot) -> None:
    page.models.setCurrentRow(0)
    for button, left in (("Keep", 2), ("Delete", 1)):
        page.delete.click()
        (box,) = page.findChildren(QMessageBox)
        assert "large.gguf" in box.text()
        next(found for found in box.findChildren(QPushButton) if found.text() == button).click()
        qtbot.waitUntil(lambda left=left: page.models.count() == left)
        qtbot.waitUntil(lambda: not page.findChildren(QMessageBox))
    assert [path.name for path in folder.iterdir() if path.suffix == ".gguf"] == ["small.gguf"]


def test_models_cannot_be_moved_while_the_variable_sets_their_folder(
    folder: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(catalog.MODELS_VARIABLE, str(folder))
    page = ModelsPage()
    qtbot.addWidget(page)
    assert not page.change.isEnabled()
    assert catalog.MODELS_VARIABLE in page.change.toolTip()
