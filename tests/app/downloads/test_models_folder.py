"""The models folder on a page, and moving the models elsewhere."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.background import Work
from app.downloads.models_folder import ModelsFolder
from app.widgets.progress_view import ProgressView
from engine import catalog, hub
from engine.hub import Stop

LARGE = 80 << 30  # bytes


@pytest.fixture
def place(qtbot: QtBot, own_models: Path) -> Iterator[ModelsFolder]:
    own_models.mkdir(parents=True, exist_ok=True)
    work = Work()
    made = ModelsFolder(work, QPushButton("Change…"))
    qtbot.addWidget(made)
    made.show()
    yield made
    work.close()


@pytest.fixture
def moves(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The targets of moves that tell their progress, and end when they are stopped."""
    targets: list[Path] = []

    def move(
        folder: Path,
        target: Path,
        stop: Stop,
        progress: Callable[[int, int], None],
        moved: Callable[[Path], None],
    ) -> None:
        targets.append(target)
        progress(LARGE // 2, LARGE)
        stop.wait(60)

    monkeypatch.setattr(hub, "move", move)
    return targets


def test_the_folder_cannot_be_changed_while_the_models_move(
    place: ModelsFolder, moves: list[Path], own_models: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    assert place.change.isEnabled()
    place.move_models(own_models, tmp_path / "elsewhere")
    assert place.is_moving
    assert not place.change.isEnabled()
    (shown,) = place.findChildren(ProgressView)
    qtbot.waitUntil(shown.isVisible)
    assert shown.progress is not None
    assert (shown.progress.done, shown.progress.total) == (LARGE // 2, LARGE)
    with qtbot.waitSignal(place.moving_changed):
        shown.cancel.click()
    assert place.change.isEnabled()
    assert not shown.isVisible()
    assert moves == [tmp_path / "elsewhere"]
    assert catalog.models_folder() == own_models


def test_without_a_folder_another_one_is_only_chosen(
    place: ModelsFolder, own_models: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    own_models.rmdir()
    with qtbot.waitSignal(place.moved):
        place.move_models(own_models, tmp_path / "elsewhere")
    assert place.folder == catalog.models_folder() == tmp_path / "elsewhere"
    assert place.change.isEnabled()
