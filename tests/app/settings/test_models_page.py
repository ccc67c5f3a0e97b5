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
    monkeypatch.setattr(catalog.local, "_former_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(catalog.local, "_usual_folder", lambda: tmp_path / "data")
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


def test_a_single_model_is_counted_as_one(page: ModelsPage, folder: Path, qtbot: QtBot) -> None:
    (folder / "small.gguf").unlink()
    page.refresh()
    qtbot.waitUntil(lambda: page.models.count() == 1)
    assert "1 model, 4.0 kB" in labels(page)


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
    assert page.place.change.isEnabled()


@pytest.fixture
def left(folder: Path, tmp_path: Path) -> Path:
    """The same models in the cache, where an earlier version has put them."""
    catalog.local._kept_folder().unlink()
    return folder.rename(tmp_path / "cache")


def test_models_left_in_the_cache_are_moved_with_one_click(
    left: Path, page: ModelsPage, tmp_path: Path, qtbot: QtBot
) -> None:
    assert page.left.isVisible()
    assert str(left) in " ".join(labels(page.left))
    with qtbot.waitSignal(page.moved):
        page.left.move_here.click()
    assert catalog.models_folder() == tmp_path / "data"
    assert not left.exists()
    qtbot.waitUntil(lambda: str(tmp_path / "data") in labels(page) and page.models.count() == 2)
    assert not page.left.isVisible()


def test_the_offer_to_move_models_is_declined_once_and_for_all(
    left: Path, page: ModelsPage, qtbot: QtBot
) -> None:
    page.left.stay.click()
    qtbot.waitUntil(lambda: not page.left.isVisible())
    assert catalog.models_folder() == left
    page.refresh()
    assert not page.left.isVisible()


def test_the_offer_returns_after_a_move_that_failed(
    left: Path, page: ModelsPage, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "data").write_text("a file is in the way")
    page.left.move_here.click()
    qtbot.waitUntil(page.problem.isVisible)
    assert page.left.isVisible()
    assert catalog.models_folder() == left


def test_nothing_is_offered_while_all_models_are_in_the_models_folder(page: ModelsPage) -> None:
    assert not page.left.isVisible()


def test_a_failed_move_shows_the_reason(page: ModelsPage, folder: Path, qtbot: QtBot) -> None:
    page.move_to(folder / "inside")
    qtbot.waitUntil(page.problem.isVisible)
    assert "contains the other" in page.problem.message
    assert catalog.models_folder() == folder
    assert page.place.change.isEnabled()


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
    assert not page.place.change.isEnabled()
    assert catalog.MODELS_VARIABLE in page.place.change.toolTip()
