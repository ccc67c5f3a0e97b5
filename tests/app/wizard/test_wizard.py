"""The wizard page by page, operated like a user does."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from app.downloads.downloads import Downloads
from app.preferences import LoadPreferences, PreferencesFile
from app.widgets.notice import Notice
from app.wizard.pages import where_page
from app.wizard.pages.page import Page
from app.wizard.selection import survey
from app.wizard.selection.offers import Offers, offers_for
from app.wizard.selection.survey import Examined, NotMeasured
from app.wizard.wizard import Wizard
from engine import catalog
from engine.catalog import Catalog
from engine.hub import Download, Stop
from engine.machine import Finding
from engine.planner import MachineProfile, Observed
from engine.protocol.messages import Helps
from tests.app.seen import labels, says
from tests.app.shared_fixtures import GIB, machine, place, put
from tests.app.wizard.conftest import examined
from tests.engine.hub.conftest import MemoryKeyring
from tests.engine.hub.lying_hub import LyingHub, stalls

GATED = (401, {"X-Error-Code": "GatedRepo"})
NOT_ACCEPTED = (403, {"X-Error-Code": "GatedRepo"})


def press(wizard: Wizard, qtbot: QtBot) -> None:
    """Press the main button once it has the focus."""
    qtbot.waitUntil(lambda: wizard.main.isEnabled() and wizard.main.hasFocus())
    qtbot.keyClick(wizard.main, Qt.Key.Key_Return)


def reach(wizard: Wizard, qtbot: QtBot, page: Page) -> None:
    def check() -> None:
        said = wizard.page.step, labels(wizard.page), [each.progress for each in wizard._downloads.entries]
        assert wizard.page is page, said

    # A connection that a busy system drops is tried again after seconds.
    qtbot.waitUntil(check, timeout=20_000)


def offer_recommended(wizard: Wizard, server: LyingHub, **also: object) -> str:
    """Put the recommended models on the Hub and return the target's id."""
    offer = wizard.choose.catalogue.offer
    assert offer is not None
    for variant in offer.missing:
        put(server, variant.id, **also)
    return offer.target.id


def to_where(wizard: Wizard, qtbot: QtBot) -> None:
    qtbot.waitActive(wizard)
    reach(wizard, qtbot, wizard.choose)
    press(wizard, qtbot)
    reach(wizard, qtbot, wizard.where)


def test_enter_alone_leads_from_nothing_to_a_loaded_model(
    wizard: Wizard, server: LyingHub, qtbot: QtBot
) -> None:
    target = offer_recommended(wizard, server)
    to_where(wizard, qtbot)
    assert says(wizard.where, catalog.entries()[target].repository)
    press(wizard, qtbot)
    reach(wizard, qtbot, wizard.ready)
    with qtbot.waitSignal(wizard.load_asked) as asked:
        press(wizard, qtbot)
    assert asked.args[0] == target
    assert catalog.find(catalog.entries()[target]) is not None
    assert not wizard.isVisible()


def test_without_downloads_the_way_to_them_leads_to_the_choice(
    make_wizard: Callable[[], Wizard], qtbot: QtBot
) -> None:
    wizard = make_wizard()
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.show_downloads()
    assert wizard.page is wizard.choose


def test_the_machine_page_shows_the_hardware_and_its_problems(
    make_wizard: Callable[[], Wizard], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Finding("hard_disk", "warning", "The models lie on a hard disk.", "Move them to an SSD.")
    monkeypatch.setattr(survey, "measure", lambda models, again, stop: replace(examined(), findings=(slow,)))
    wizard = make_wizard()
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.begin()
    said = " ".join(label.text() for label in wizard.machine.findChildren(where_page.label().__class__))
    for part in ("32.0 GB", "8 cores", "500.0 GB free", "None suitable", slow.message, slow.hint):
        assert part in said


def test_predictions_reckon_with_the_processors_help_if_the_settings_allow_it(
    make_wizard: Callable[[], Wizard],
    preferences: PreferencesFile,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allowed: list[Helps] = []

    def noted(machine: MachineProfile, known: Catalog, helps: Helps, history: Sequence[Observed]) -> Offers:
        allowed.append(helps)
        return offers_for(machine, known, helps, history)

    monkeypatch.setattr(survey, "offers_for", noted)
    wizard = make_wizard()
    preferences.change(loading=LoadPreferences(processor_helps="never"))
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.begin()
    assert allowed == ["never"]
    wizard.follow_settings()
    preferences.change(loading=LoadPreferences(processor_helps="measured"))
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.follow_settings()
    assert allowed == ["never", "measured"]


def test_a_failed_repeated_measurement_is_shown_but_blocks_nothing(
    wizard: Wizard, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fail(models: Path, again: bool, stop: Stop) -> Examined:
        asked.append(again)
        raise NotMeasured("It could not be measured.", "Measure again.")

    monkeypatch.setattr(survey, "measure", fail)
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.machine.again.click()
    assert asked == [True]
    assert "could not be measured" in wizard.machine.problem.message
    assert wizard.main.isEnabled()


def test_a_model_on_this_machine_is_loaded_at_once(
    make_wizard: Callable[[], Wizard], qtbot: QtBot, own_models: Path
) -> None:
    place(catalog.entries()["smollm2-360m-q8_0"])
    wizard = make_wizard()
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.begin()
    wizard.choose.catalogue.fit.setCurrentText("On this machine")
    wizard.choose.catalogue.search.setText("360M none")
    assert wizard.main.text() == "Load now"
    with qtbot.waitSignal(wizard.load_asked) as asked:
        wizard.main.click()
    assert asked.args == ["smollm2-360m-q8_0", "none"]


def test_too_little_disk_space_is_explained_and_starts_no_download(
    wizard: Wizard, server: LyingHub, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where_page.machine, "probe", lambda folder: machine(free_nbytes=GIB // 2))
    to_where(wizard, qtbot)
    qtbot.waitUntil(lambda: says(wizard.where, "Not enough disk space"))
    assert says(wizard.where, "512.0 MB free")
    assert not wizard.main.isEnabled()


def test_changing_the_folder_moves_the_models(
    wizard: Wizard, server: LyingHub, qtbot: QtBot, own_models: Path, tmp_path: Path
) -> None:
    place(catalog.entries()["smollm2-360m-q8_0"])
    to_where(wizard, qtbot)
    wizard.where.use_folder(tmp_path / "elsewhere")
    qtbot.waitUntil(wizard.where.move_here.isVisible)
    assert says(wizard.where, str(tmp_path / "elsewhere"))
    with qtbot.waitSignal(wizard.where.moved):
        wizard.where.move_here.click()
    assert catalog.models_folder() == tmp_path / "elsewhere"
    assert catalog.find(catalog.entries()["smollm2-360m-q8_0"]) is not None
    assert not own_models.exists()
    assert str(tmp_path / "elsewhere") in labels(wizard.where)
    qtbot.waitUntil(lambda: not wizard.survey.is_running)


def test_a_failed_move_shows_the_reason(wizard: Wizard, qtbot: QtBot, own_models: Path) -> None:
    place(catalog.entries()["smollm2-360m-q8_0"])
    to_where(wizard, qtbot)
    wizard.where.use_folder(own_models / "inside")
    qtbot.waitUntil(wizard.where.move_here.isVisible)
    wizard.where.move_here.click()
    qtbot.waitUntil(wizard.where.problem.isVisible)
    assert "contains the other" in wizard.where.problem.message
    assert catalog.models_folder() == own_models


def test_with_nothing_to_move_the_folder_changes_at_once(
    wizard: Wizard, qtbot: QtBot, tmp_path: Path
) -> None:
    to_where(wizard, qtbot)
    with qtbot.waitSignal(wizard.where.moved):
        wizard.where.use_folder(tmp_path / "elsewhere")
    assert catalog.models_folder() == tmp_path / "elsewhere"
    qtbot.waitUntil(lambda: not wizard.survey.is_running)


def test_a_gated_model_asks_for_a_token_stores_it_and_continues(
    wizard: Wizard,
    server: LyingHub,
    qtbot: QtBot,
    own_keyring: MemoryKeyring,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(QUrl(url).toString()))
    offer_recommended(wizard, server, gated="manual", refuses=GATED)
    to_where(wizard, qtbot)
    press(wizard, qtbot)
    reach(wizard, qtbot, wizard.access)
    assert says(wizard.access, "licence")
    wizard.access.open_page.click()
    wizard.access.open_tokens.click()
    assert opened[0].startswith(server.endpoint)
    assert opened[1] == f"{server.endpoint}/settings/tokens"
    wizard.access.token.setText("not a token")
    qtbot.keyClick(wizard.access.token, Qt.Key.Key_Return)
    qtbot.waitUntil(wizard.access.problem.isVisible)
    assert "not an access token" in wizard.access.problem.message
    offer_recommended(wizard, server, gated="manual")
    wizard.access.token.setText("hf_right")
    qtbot.keyClick(wizard.access.token, Qt.Key.Key_Return)
    reach(wizard, qtbot, wizard.ready)
    assert list(own_keyring.kept.values()) == ["hf_right"]
    assert wizard.access.token.text() == ""
    assert server.asked[-1].headers["authorization"] == "Bearer hf_right"


def test_a_missing_licence_consent_asks_for_no_token(
    wizard: Wizard, server: LyingHub, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_mine")
    offer_recommended(wizard, server, gated="manual", refuses=NOT_ACCEPTED)
    to_where(wizard, qtbot)
    press(wizard, qtbot)
    reach(wizard, qtbot, wizard.access)
    assert not wizard.access.token.isVisible()
    assert wizard.access.open_page.hasFocus()
    offer_recommended(wizard, server, gated="manual")
    wizard.main.click()
    reach(wizard, qtbot, wizard.ready)


def test_an_error_of_the_hub_is_shown_and_can_be_retried(
    wizard: Wizard, server: LyingHub, downloads: Downloads, qtbot: QtBot
) -> None:
    to_where(wizard, qtbot)
    press(wizard, qtbot)
    qtbot.waitUntil(wizard.where.problem.isVisible)  # the Hub has no such repository yet
    assert wizard.main.isEnabled()
    offer_recommended(wizard, server)
    wizard.where.problem.findChild(Notice).button.click()
    reach(wizard, qtbot, wizard.ready)


def test_a_download_continues_while_the_wizard_is_closed(
    wizard: Wizard, server: LyingHub, downloads: Downloads, preferences: PreferencesFile, qtbot: QtBot
) -> None:
    target = offer_recommended(wizard, server)
    server.faults[catalog.entries()[target].files[0]].append(stalls(100_000))
    to_where(wizard, qtbot)
    press(wizard, qtbot)
    reach(wizard, qtbot, wizard.download)
    [entry] = downloads.entries
    qtbot.waitUntil(lambda: entry.progress.done >= 100_000)
    qtbot.keyClick(wizard, Qt.Key.Key_Escape)
    assert not wizard.isVisible()
    assert entry.is_active
    preferences.change(loading=LoadPreferences(processor_helps="never"))
    with qtbot.waitSignal(wizard.survey.predicted):  # for who chooses another model then
        wizard.show_downloads()
    assert wizard.page is wizard.download
    view = wizard.download.views[entry]
    view.pause.click()
    qtbot.waitUntil(view.resume.isVisible)
    wizard.close()
    with qtbot.waitSignal(downloads.finished):
        downloads.resume(entry)
    assert not entry.is_seen
    wizard.show_downloads()
    assert wizard.page is wizard.ready
    assert entry.progress.title in labels(wizard.ready)
    assert entry.is_seen


def test_a_second_model_can_be_chosen_during_a_download(
    wizard: Wizard, server: LyingHub, downloads: Downloads, qtbot: QtBot
) -> None:
    target = offer_recommended(wizard, server)
    server.faults[catalog.entries()[target].files[0]].append(stalls(1000))
    to_where(wizard, qtbot)
    press(wizard, qtbot)
    reach(wizard, qtbot, wizard.download)
    assert wizard.back.text() == "Get another model"
    wizard.back.click()
    assert wizard.page is wizard.choose
    put(server, "smollm2-360m-q8_0")
    wizard.choose.catalogue.search.setText("360M")
    wizard.main.click()
    qtbot.waitUntil(wizard.main.isEnabled)
    wizard.main.click()
    reach(wizard, qtbot, wizard.ready)
    assert len(downloads.entries) == 2
    assert wizard.ready.entry is downloads.entries[1]


def test_a_download_that_is_complete_at_once_leads_on_too(
    wizard: Wizard, server: LyingHub, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = Download.start

    def start_and_wait(download: Download) -> None:
        start(download)
        download.wait(20)

    monkeypatch.setattr(Download, "start", start_and_wait)
    offer_recommended(wizard, server)
    to_where(wizard, qtbot)
    press(wizard, qtbot)
    reach(wizard, qtbot, wizard.ready)


def test_a_cancelled_download_leaves_the_list(
    wizard: Wizard, server: LyingHub, downloads: Downloads, qtbot: QtBot, own_models: Path
) -> None:
    target = offer_recommended(wizard, server)
    server.faults[catalog.entries()[target].files[0]].append(stalls(100_000))
    to_where(wizard, qtbot)
    press(wizard, qtbot)
    reach(wizard, qtbot, wizard.download)
    [entry] = downloads.entries
    wizard.download.views[entry].cancelled.emit()
    qtbot.waitUntil(lambda: wizard.download.views == {})
    assert says(wizard.download, "Nothing is being downloaded")


def test_closing_the_wizard_cancels_its_question_to_the_hub(
    wizard: Wizard, server: LyingHub, qtbot: QtBot
) -> None:
    offer_recommended(wizard, server)
    to_where(wizard, qtbot)
    press(wizard, qtbot)
    wizard.close()
    qtbot.wait(200)
    assert wizard.page is wizard.where
    wizard.begin()
    qtbot.waitUntil(lambda: wizard.main.isEnabled())
    assert wizard.main.text() == "Download"
    qtbot.waitUntil(lambda: not wizard.survey.is_running)


def test_back_leads_through_the_pages(wizard: Wizard, server: LyingHub, qtbot: QtBot) -> None:
    offer_recommended(wizard, server, gated="manual", refuses=GATED)
    to_where(wizard, qtbot)
    press(wizard, qtbot)
    reach(wizard, qtbot, wizard.access)
    for page in (wizard.where, wizard.choose, wizard.machine):
        wizard.back.click()
        assert wizard.page is page
    assert not wizard.back.isVisible()


def test_every_control_has_a_name_and_is_reachable_by_keyboard(wizard: Wizard, qtbot: QtBot) -> None:
    for page in wizard.pages:
        wizard.go_to(page)
        assert wizard.windowTitle().endswith(page.step)
        for kind in (QAbstractButton, QLineEdit, QComboBox):
            for widget in page.findChildren(kind):
                if widget.isVisible() and not widget.objectName().startswith("qt_"):
                    named = widget.accessibleName() or getattr(widget, "text", str)()
                    assert named or widget.parent().accessibleName(), widget
                    is_inside = isinstance(widget.parent(), QLineEdit)  # the clear button of a line edit
                    assert is_inside or widget.focusPolicy() & Qt.FocusPolicy.TabFocus, widget


def test_enter_presses_only_the_focused_button(wizard: Wizard, qtbot: QtBot) -> None:
    qtbot.waitActive(wizard)
    pressed: list[bool] = []
    for each in wizard.findChildren(QAbstractButton):
        each.clicked.connect(lambda checked: pressed.append(checked))
    wizard.machine.again.setDefault(True)
    wizard.setFocus()
    qtbot.keyClick(wizard, Qt.Key.Key_Return)
    assert pressed == []
    wizard.main.setFocus()
    qtbot.keyClick(wizard.main, Qt.Key.Key_Return)
    assert len(pressed) == 1
