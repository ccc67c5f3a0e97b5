"""The settings dialog, its presets, and its signals to the window."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from app.local_server.local_server import LocalServer
from app.preferences import NEW_CHATS, PreferencesFile
from app.settings import presets_page
from app.settings.about_page import AboutPage, parts
from app.settings.dialog import SettingsDialog
from app.settings.editors import ChoiceEditor, FractionEditor, SwitchEditor, WholeEditor
from app.settings.presets_page import PresetsPage
from app.store import ChatSettings, Preset, SavedOptions, Store
from app.widgets.plain_text import PlainMessageBox

CHAT = ChatSettings(system="Be brief.", options=SavedOptions(temperature=0.2, budget=64))


@pytest.fixture
def file(tmp_path: Path) -> PreferencesFile:
    return PreferencesFile(tmp_path / "config" / "settings.toml")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "conversations.sqlite")
    yield store
    store.close()


@pytest.fixture
def dialog(file: PreferencesFile, store: Store, server: LocalServer, qtbot: QtBot) -> SettingsDialog:
    made = SettingsDialog(file, store, CHAT, server, ["specexec", "pld", "none"])
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def page(store: Store, qtbot: QtBot) -> PresetsPage:
    made = PresetsPage(store.presets, CHAT)
    qtbot.addWidget(made)
    return made


def test_a_preset_is_exported_under_a_name_that_every_system_accepts(
    page: PresetsPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []
    monkeypatch.setattr(presets_page, "ask_where_to_save", lambda *given: names.append(given[2]))
    page.save_as("a\nb: con?")
    page.export.click()
    assert names == ["a b con.preset"]


def choose(editor: object, value: str) -> None:
    assert isinstance(editor, ChoiceEditor)
    editor.box.setCurrentIndex(editor.box.findData(value))
    editor.box.activated.emit(editor.box.currentIndex())


def test_only_drafters_that_the_pair_supports_are_offered(dialog: SettingsDialog) -> None:
    editor = dialog.chat_page.rows["options.drafter"].editor
    assert isinstance(editor, ChoiceEditor)
    offered = [editor.box.itemData(place) for place in range(editor.box.count())]
    assert offered == ["auto", "specexec", "pld", "none"]


def test_a_changed_chat_option_is_emitted(dialog: SettingsDialog, qtbot: QtBot) -> None:
    with qtbot.waitSignal(dialog.chat_changed) as emitted:
        choose(dialog.chat_page.rows["options.drafter"].editor, "pld")
    assert emitted.args[0].options.drafter == "pld"
    assert emitted.args[0].system == "Be brief."
    assert dialog.reload.isHidden()
    assert dialog.presets_page.chat == emitted.args[0]


def test_an_option_that_needs_a_reload_offers_it(dialog: SettingsDialog, qtbot: QtBot) -> None:
    context = dialog.chat_page.rows["context"].editor
    assert isinstance(context, WholeEditor)
    with qtbot.waitSignal(dialog.chat_changed):
        context.box.setValue(2048)
    assert not dialog.reload.isHidden()
    with qtbot.waitSignal(dialog.reload_asked):
        dialog.reload.click()
    assert dialog.reload.isHidden()


def test_each_program_page_saves_only_its_own_fields(
    dialog: SettingsDialog, file: PreferencesFile, qtbot: QtBot
) -> None:
    choose(dialog.appearance_page.rows["theme"].editor, "dark")
    vram = dialog.memory_page.rows["loading.vram_limit"].editor
    assert isinstance(vram, FractionEditor)
    with qtbot.waitSignal(dialog.preferences_changed):
        vram.box.setValue(6.5)
    switch = dialog.appearance_page.rows["notifications"].editor
    assert isinstance(switch, SwitchEditor)
    switch.box.click()
    kept = PreferencesFile(file.path).now
    assert (kept.theme, kept.loading.vram_limit, kept.notifications) == ("dark", 6.5, False)
    assert not dialog.reload.isHidden()


def test_new_chats_start_with_the_defaults(
    dialog: SettingsDialog, file: PreferencesFile, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(dialog.preferences_changed):
        dialog.presets_page.used_for_new.emit(CHAT)
    assert PreferencesFile(file.path).now.new_chats == CHAT
    assert dialog.defaults_page.value == CHAT
    assert dialog.chat_page.rows[
        "options.temperature"
    ].reset.isHidden()  # now equal to the default for new chats
    with qtbot.waitSignal(dialog.preferences_changed):
        dialog.defaults_page.reset_all()
    assert PreferencesFile(file.path).now.new_chats == NEW_CHATS


def test_a_failed_save_shows_the_error(dialog: SettingsDialog, file: PreferencesFile) -> None:
    file.path.parent.write_text("a file where the folder should be")
    choose(dialog.appearance_page.rows["theme"].editor, "dark")
    assert "could not be saved" in dialog.error.text()
    assert not dialog.error.isHidden()


def test_pending_input_is_emitted_when_the_dialog_closes(dialog: SettingsDialog, qtbot: QtBot) -> None:
    with qtbot.waitSignal(dialog.chat_changed) as emitted:
        qtbot.keyClicks(dialog.chat_page.rows["system"].editor.focus, "!")
        dialog.close()
    assert emitted.args[0].system == "!Be brief."


def test_a_preset_is_applied_to_the_chat(dialog: SettingsDialog, store: Store, qtbot: QtBot) -> None:
    preset = ChatSettings(options=SavedOptions(temperature=1.5))
    with qtbot.waitSignal(dialog.chat_changed) as emitted:
        dialog.presets_page.used.emit(preset)
    assert emitted.args[0] == preset == dialog.chat_page.value


# -- presets -------------------------------------------------------------------------------------------------


def test_a_preset_is_saved_described_and_deleted(
    page: PresetsPage, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not page.use.isEnabled()
    page.save_as("Brief / cold")
    assert store.presets.all() == [Preset("Brief / cold", CHAT)]
    assert page.summary.text() == "System prompt: Be brief.\nTemperature: 0.20\nBudget: 64"
    monkeypatch.setattr(PlainMessageBox, "exec", lambda box: QMessageBox.StandardButton.No)
    page.delete.click()
    assert len(store.presets.all()) == 1
    monkeypatch.setattr(PlainMessageBox, "exec", lambda box: QMessageBox.StandardButton.Yes)
    page.delete.click()
    assert store.presets.all() == []
    assert not page.use.isEnabled()


def test_a_preset_survives_export_and_import(page: PresetsPage, store: Store, tmp_path: Path) -> None:
    page.save_as("Brief")
    page.export_to(tmp_path / "brief.json")
    page.import_from(tmp_path / "brief.json")
    assert [preset.name for preset in store.presets.all()] == ["Brief", "Brief (2)"]
    assert store.presets.all()[1].settings == CHAT
    assert page.names.currentItem().text() == "Brief (2)"


def test_an_invalid_preset_file_shows_the_error(page: PresetsPage, store: Store, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")
    page.import_from(tmp_path / "no.json")
    assert "not a preset" in page.summary.text()
    assert store.presets.all() == []
    page.save_as("Brief")
    page.export_to(tmp_path / "nowhere" / "x.json")
    assert "could not be written" in page.summary.text()


def test_the_selected_preset_is_the_one_applied(page: PresetsPage, qtbot: QtBot) -> None:
    page.save_as("a")
    page.chat = ChatSettings(system="b")
    page.save_as("b")
    page.names.setCurrentRow(0)
    with qtbot.waitSignal(page.used) as emitted:
        qtbot.mouseClick(page.use, Qt.MouseButton.LeftButton)
    assert emitted.args[0] == CHAT


# -- about ---------------------------------------------------------------------------------------------------


def test_folders_are_opened(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    page = AboutPage(tmp_path / "settings.toml")
    qtbot.addWidget(page)
    page.open_settings.click()
    assert opened == [tmp_path.as_posix()]


def test_libraries_are_listed_with_their_licences() -> None:
    listed = parts()
    assert any(line.startswith("msgspec ") and "BSD" in line for line in listed)
    assert any(line.startswith("torch ") for line in listed)
    assert not any(line.endswith("· ") for line in listed), listed
    assert not any("pytest" in line for line in listed)
