"""Models that are kept on this machine: deleted after a question, and updated on request."""

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QMessageBox, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.downloads.downloads import Downloads
from app.header import Header, local_models
from app.header.local_models import models_here, text_of
from app.header.model_removal import Removal
from app.header.update_box import UpdateBox
from engine import catalog, hub
from engine.hub import StoredModel
from engine.protocol.messages import Loaded, ModelInfo
from tests.app.fake_engine import MODEL, loaded
from tests.app.shared_fixtures import downloads, own_models, put, server
from tests.engine.hub.conftest import content, own_keyring
from tests.engine.hub.lying_hub import COMMIT, LyingHub

__all__ = ["downloads", "own_keyring", "own_models", "server"]

SMALL, DRAFT = "coder", "coder-draft"
SHARING = "qwen3-32b-q4_k_m", "qwen3-14b-q4_k_m", "qwen3-0.6b-q8_0"  # two targets with one draft


@pytest.fixture(autouse=True)
def none_shipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local_models, "RESOURCES", tmp_path / "none")
    monkeypatch.setattr(local_models, "plan", lambda *_: None)
    monkeypatch.setattr(catalog, "heads_for", lambda target: None)


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def removal(window: QWidget) -> Removal:
    return Removal(window)


def keep(*ids: str) -> None:
    """Put models into the models folder, the largest first."""
    for size, id in enumerate(reversed(ids), 1):
        variant = catalog.entries()[id]
        folder = catalog.models_folder() / variant.repository
        folder.mkdir(parents=True, exist_ok=True)
        (folder / variant.file).write_bytes(bytes(1024 * size))


def stored(id: str) -> StoredModel:
    return hub.find_stored(catalog.models_folder(), id)


def left() -> set[str]:
    return {model.name for model in models_here()}


def in_memory(target: str, draft: str | None = None) -> Loaded:
    def info(id: str) -> ModelInfo:
        return structs.replace(MODEL, path=str(stored(id).path))

    return structs.replace(loaded(1), target=info(target), draft=info(draft) if draft else None)


def box_of(window: QWidget) -> QMessageBox:
    [box] = [box for box in window.findChildren(QMessageBox) if box.isVisible()]
    return box


def press(box: QMessageBox, text: str) -> None:
    [found] = [each for each in box.findChildren(QPushButton) if each.text() == text and each.isVisible()]
    found.click()


def test_a_loaded_model_is_not_deleted_and_the_box_says_what_to_do(window: QWidget, removal: Removal) -> None:
    keep(SMALL, DRAFT)
    for id in (SMALL, DRAFT):
        removal.ask(stored(id), in_memory(SMALL, DRAFT))
        box = box_of(window)
        assert box.text() == f"{text_of(id)} is loaded."
        assert "Unload it first" in box.informativeText()
        press(box, "Close")
    assert left() == {SMALL, DRAFT}


def test_a_draft_goes_with_its_target_only_if_asked_for(
    window: QWidget, removal: Removal, qtbot: QtBot
) -> None:
    keep(SMALL, DRAFT)
    removal.ask(stored(SMALL), None)
    box = box_of(window)
    assert box.text() == "Delete Qwen2.5 Coder 1.5B Instruct · Q4_K_M?"
    assert "This frees 2.0 kB." in box.informativeText()
    also = box.findChild(QCheckBox)
    assert "Coder 0.5B" in also.text()
    assert not also.isChecked()
    also.click()
    with qtbot.waitSignal(removal.removed):
        press(box, "Delete")
    assert left() == set()


def test_without_the_tick_the_draft_stays(window: QWidget, removal: Removal, qtbot: QtBot) -> None:
    keep(SMALL, DRAFT)
    removal.ask(stored(SMALL), None)
    with qtbot.waitSignal(removal.removed):
        press(box_of(window), "Delete")
    assert left() == {DRAFT}


def test_a_draft_that_another_pair_uses_stays_and_the_box_says_so(
    window: QWidget, removal: Removal, qtbot: QtBot
) -> None:
    keep(*SHARING)
    removal.ask(stored(SHARING[1]), None)
    box = box_of(window)
    assert box.findChild(QCheckBox) is None
    assert "stays, because Qwen3 32B" in box.informativeText()
    with qtbot.waitSignal(removal.removed):
        press(box, "Delete")
    assert left() == {SHARING[0], SHARING[2]}


def test_deleting_a_draft_names_the_models_that_need_it(window: QWidget, removal: Removal) -> None:
    keep(SMALL, DRAFT)
    removal.ask(stored(DRAFT), None)
    box = box_of(window)
    assert "the draft of Qwen2.5 Coder 1.5B Instruct" in box.informativeText()
    press(box, "Keep")
    assert left() == {SMALL, DRAFT}


def test_a_loaded_draft_is_not_offered_for_deletion(window: QWidget, removal: Removal) -> None:
    keep(SMALL, DRAFT)
    removal.ask(stored(SMALL), in_memory(DRAFT))
    assert box_of(window).findChild(QCheckBox) is None
    press(box_of(window), "Keep")


# -- updates -------------------------------------------------------------------------------------------------


@pytest.fixture
def model(server: LyingHub, downloads: Downloads, qtbot: QtBot) -> StoredModel:
    """A downloaded model."""
    put(server, SMALL, 5000)
    item = hub.item_of(downloads.hub(), [catalog.entries()[SMALL]])
    entry = downloads.begin(item, catalog.models_folder(), SMALL, "auto")
    qtbot.waitUntil(lambda: entry.progress.state == "done")
    return stored(SMALL)


@pytest.fixture
def box(model: StoredModel, downloads: Downloads, window: QWidget) -> UpdateBox:
    return UpdateBox(model, downloads, window)


def test_nothing_is_asked_before_the_user_asks(server: LyingHub, model: StoredModel, box: UpdateBox) -> None:
    before = len(server.asked)
    assert "Looking for an update" in box.text()
    assert len(server.asked) == before


def test_an_unchanged_model_is_up_to_date(box: UpdateBox, qtbot: QtBot) -> None:
    box.look()
    qtbot.waitUntil(lambda: "is up to date" in box.text())
    assert not box.take.isVisible()
    press(box, "Close")


def test_an_update_is_downloaded_after_another_click(
    server: LyingHub, model: StoredModel, box: UpdateBox, downloads: Downloads, qtbot: QtBot
) -> None:
    id, name = model.repository, model.path.name
    newer = content(6000, 9)
    server.repositories[id] = replace(server.repositories[id], commit=COMMIT[::-1], files={name: newer})
    box.look()
    qtbot.waitUntil(lambda: "There is an update" in box.text())
    assert "5.9 kB to download" in box.informativeText()
    assert model.path.read_bytes() != newer
    with qtbot.waitSignal(downloads.finished):
        press(box, "Update")
    assert model.path.read_bytes() == newer
    assert stored(SMALL).commit == COMMIT[::-1]


def test_an_update_that_is_declined_downloads_nothing(
    server: LyingHub, model: StoredModel, box: UpdateBox, downloads: Downloads, qtbot: QtBot
) -> None:
    changed = {model.path.name: content(6000, 9)}
    server.repositories[model.repository] = replace(
        server.repositories[model.repository], commit=COMMIT[::-1], files=changed
    )
    box.look()
    qtbot.waitUntil(lambda: "There is an update" in box.text())
    press(box, "Not now")
    assert not downloads.is_running
    assert stored(SMALL).commit == COMMIT


def test_the_reason_why_no_update_is_found_is_shown(server: LyingHub, box: UpdateBox, qtbot: QtBot) -> None:
    server.api_faults.append(lambda answer: answer.refuse(404))
    box.look()
    qtbot.waitUntil(lambda: "no public repository" in box.text())
    assert "Check the name" in box.informativeText()
    press(box, "Close")


# -- in the picker -------------------------------------------------------------------------------------------


@pytest.fixture
def header(qtbot: QtBot) -> Header:
    made = Header()
    qtbot.addWidget(made)
    made.show()
    return made


def test_the_picker_marks_the_loaded_model_and_says_what_each_model_is(header: Header) -> None:
    keep(SMALL, DRAFT)
    header.show_loaded(in_memory(SMALL))
    header.open_picker()
    rows = [header.picker.models.item(row) for row in (1, 2)]
    [name, about, figures] = rows[0].text().split("\n")
    assert name.startswith("✓ Qwen2.5 Coder 1.5B")
    assert about == catalog.catalog().models["qwen2.5-coder-1.5b"].about
    assert figures.startswith("loaded now · 3.0 kB")
    assert "✓" not in rows[1].text()
    assert "loaded now" not in rows[1].text()
    header.picker.hide()


@pytest.mark.parametrize(("number", "signal"), [(0, "update_asked"), (1, "delete_asked")])
def test_update_and_delete_are_in_the_menu_of_a_downloaded_model(
    header: Header, model: StoredModel, qtbot: QtBot, number: int, signal: str
) -> None:
    picker = header.picker
    header.open_picker()
    [more] = picker.models.findChildren(QToolButton)
    qtbot.mouseClick(more, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(getattr(picker, signal)) as asked:
        picker.menu.actions()[number].trigger()
    assert asked.args[0].path == model.path
    assert picker.isHidden()
    picker.menu.hide()


def test_a_model_of_unknown_origin_can_only_be_deleted(header: Header, qtbot: QtBot) -> None:
    keep(SMALL)
    header.open_picker()
    [more] = header.picker.models.findChildren(QToolButton)
    qtbot.mouseClick(more, Qt.MouseButton.LeftButton)
    assert [action.isEnabled() for action in header.picker.menu.actions()] == [False, True]
    header.picker.menu.hide()
    header.picker.hide()


def test_a_shipped_model_has_no_menu(header: Header, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shipped = tmp_path / "resources/models"
    shipped.mkdir(parents=True)
    (shipped / catalog.entries()["smollm2"].file).write_bytes(b"GGUF")
    monkeypatch.setattr(local_models, "RESOURCES", tmp_path / "resources")
    header.open_picker()
    assert "The demonstration model" in header.picker.models.item(1).text()
    assert not header.picker.models.findChildren(QToolButton)
    header.picker.hide()
