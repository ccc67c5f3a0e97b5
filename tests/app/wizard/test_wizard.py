"""Through every page, as a person goes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from app.wizard import survey, where_page
from app.wizard.downloads import Downloads
from app.wizard.examination import Examined, NotMeasured
from app.wizard.page import Page
from app.wizard.wizard import Wizard
from engine import catalog
from engine.hub import Stop
from engine.machine import Finding
from tests.app.wizard.conftest import GIB, examined, machine, place, put
from tests.engine.hub.conftest import MemoryKeyring
from tests.engine.hub.lying_hub import LyingHub, stalls

GATED = (401, {"X-Error-Code": "GatedRepo"})
NOT_ACCEPTED = (403, {"X-Error-Code": "GatedRepo"})


def press(wizard: Wizard, qtbot: QtBot) -> None:
    """What has the keyboard, which has to be the button that goes on."""
    qtbot.waitUntil(lambda: wizard.main.isEnabled() and wizard.main.hasFocus())
    qtbot.keyClick(wizard.main, Qt.Key.Key_Return)


def reach(wizard: Wizard, qtbot: QtBot, page: Page) -> None:
    qtbot.waitUntil(lambda: wizard.page is page)


def offer_recommended(wizard: Wizard, server: LyingHub, **also: object) -> str:
    """What is recommended lies on the Hub; the id of its target."""
    offer = wizard.choose.catalogue._offers.recommended  # type: ignore[union-attr]
    for variant in offer.missing:
        put(server, variant.id, **also)
    return offer.target.id


def to_where(wizard: Wizard, qtbot: QtBot) -> None:
    qtbot.waitActive(wizard)
    press(wizard, qtbot)
    reach(wizard, qtbot, wizard.choose)
    press(wizard, qtbot)
    reach(wizard, qtbot, wizard.where)


def test_enter_alone_leads_from_nothing_to_a_loaded_model(
    wizard: Wizard, server: LyingHub, qtbot: QtBot
) -> None:
    target = offer_recommended(wizard, server)
    to_where(wizard, qtbot)
    assert catalog.entries()[target].repository in wizard.where._parts_text.text()
    press(wizard, qtbot)
    reach(wizard, qtbot, wizard.ready)
    with qtbot.waitSignal(wizard.load_asked) as asked:
        press(wizard, qtbot)
    assert asked.args[0] == target
    assert catalog.find(catalog.entries()[target]) is not None
    assert not wizard.isVisible()


def test_the_first_page_tells_what_was_found_and_what_is_wrong(
    make_wizard: Callable[[], Wizard], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Finding("hard_disk", "warning", "The models lie on a hard disk.", "Move them to an SSD.")
    monkeypatch.setattr(survey, "measured", lambda models, again, stop: replace(examined(), findings=(slow,)))
    wizard = make_wizard()
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.begin()
    said = " ".join(label.text() for label in wizard.machine.findChildren(where_page.label().__class__))
    for part in ("32.0 GB", "8 cores", "500.0 GB free", "None that can compute", slow.message, slow.hint):
        assert part in said


def test_measuring_again_is_asked_for_and_what_fails_is_told_but_stops_nobody(
    wizard: Wizard, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fail(models: Path, again: bool, stop: Stop) -> Examined:
        asked.append(again)
        raise NotMeasured("It could not be measured.", "Measure again.")

    monkeypatch.setattr(survey, "measured", fail)
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.machine.again.click()
    assert asked == [True]
    assert "could not be measured" in wizard.machine.problem.message
    assert wizard.main.isEnabled()


def test_what_is_here_already_is_loaded_at_once(
    make_wizard: Callable[[], Wizard], qtbot: QtBot, own_models: Path
) -> None:
    place(catalog.entries()["smollm2-360m-q8_0"])
    wizard = make_wizard()
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.begin()
    wizard.main.click()
    wizard.choose.catalogue.fit.setCurrentText("Already here")
    wizard.choose.catalogue.search.setText("360M none")
    assert wizard.main.text() == "Load it now"
    with qtbot.waitSignal(wizard.load_asked) as asked:
        wizard.main.click()
    assert asked.args == ["smollm2-360m-q8_0", "none"]


def test_too_little_room_is_told_with_what_to_do_and_nothing_is_begun(
    wizard: Wizard, server: LyingHub, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where_page.machine, "probe", lambda folder: machine(free_nbytes=GIB // 2))
    to_where(wizard, qtbot)
    qtbot.waitUntil(lambda: "Too little room" in wizard.where._room.text())
    assert "512.0 MB are free" in wizard.where._room.text()
    assert not wizard.main.isEnabled()


def test_another_folder_takes_the_models_along(
    wizard: Wizard, server: LyingHub, qtbot: QtBot, own_models: Path, tmp_path: Path
) -> None:
    place(catalog.entries()["smollm2-360m-q8_0"])
    to_where(wizard, qtbot)
    wizard.where.go_to(tmp_path / "elsewhere")
    qtbot.waitUntil(wizard.where.move_here.isVisible)
    assert str(tmp_path / "elsewhere") in wizard.where._question.text()
    with qtbot.waitSignal(wizard.where.moved):
        wizard.where.move_here.click()
    assert catalog.models_folder() == tmp_path / "elsewhere"
    assert catalog.find(catalog.entries()["smollm2-360m-q8_0"]) is not None
    assert not own_models.exists()
    assert wizard.where._path.text() == str(tmp_path / "elsewhere")
    qtbot.waitUntil(lambda: not wizard.survey.is_running)


def test_a_folder_that_cannot_be_moved_to_says_why(wizard: Wizard, qtbot: QtBot, own_models: Path) -> None:
    place(catalog.entries()["smollm2-360m-q8_0"])
    to_where(wizard, qtbot)
    wizard.where.go_to(own_models / "inside")
    qtbot.waitUntil(wizard.where.move_here.isVisible)
    wizard.where.move_here.click()
    qtbot.waitUntil(wizard.where.problem.isVisible)
    assert "in one another" in wizard.where.problem.message
    assert catalog.models_folder() == own_models


def test_with_nothing_to_move_another_folder_counts_at_once(
    wizard: Wizard, qtbot: QtBot, tmp_path: Path
) -> None:
    to_where(wizard, qtbot)
    with qtbot.waitSignal(wizard.where.moved):
        wizard.where.go_to(tmp_path / "elsewhere")
    assert catalog.models_folder() == tmp_path / "elsewhere"
    qtbot.waitUntil(lambda: not wizard.survey.is_running)


def test_a_gated_model_asks_for_a_token_keeps_it_and_goes_on(
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
    assert "licence" in wizard.access._message.text()
    wizard.access.open_page.click()
    wizard.access.open_tokens.click()
    assert opened[0].startswith(server.endpoint)
    assert opened[1] == f"{server.endpoint}/settings/tokens"
    wizard.access.token.setText("not a token")
    qtbot.keyClick(wizard.access.token, Qt.Key.Key_Return)
    qtbot.waitUntil(wizard.access.problem.isVisible)
    assert "no access token" in wizard.access.problem.message
    offer_recommended(wizard, server, gated="manual")
    wizard.access.token.setText("hf_right")
    qtbot.keyClick(wizard.access.token, Qt.Key.Key_Return)
    reach(wizard, qtbot, wizard.ready)
    assert list(own_keyring.kept.values()) == ["hf_right"]
    assert wizard.access.token.text() == ""
    assert server.asked[-1].headers["authorization"] == "Bearer hf_right"


def test_a_licence_that_is_not_accepted_asks_for_that_alone(
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


def test_a_hub_that_cannot_be_reached_is_told_and_tried_again(
    wizard: Wizard, server: LyingHub, downloads: Downloads, qtbot: QtBot
) -> None:
    to_where(wizard, qtbot)
    press(wizard, qtbot)
    qtbot.waitUntil(wizard.where.problem.isVisible)  # nothing of that name is there yet
    assert wizard.main.isEnabled()
    offer_recommended(wizard, server)
    wizard.where.problem._notice.button.click()  # type: ignore[union-attr]
    reach(wizard, qtbot, wizard.ready)


def test_closed_the_download_goes_on_and_the_way_back_shows_it(
    wizard: Wizard, server: LyingHub, downloads: Downloads, qtbot: QtBot
) -> None:
    target = offer_recommended(wizard, server)
    server.faults[catalog.entries()[target].files[0]].append(stalls(100_000))
    to_where(wizard, qtbot)
    press(wizard, qtbot)
    reach(wizard, qtbot, wizard.download)
    [entry] = downloads.entries
    qtbot.waitUntil(lambda: entry.shown.done >= 100_000)
    qtbot.keyClick(wizard, Qt.Key.Key_Escape)
    assert not wizard.isVisible()
    assert entry.is_active
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
    assert wizard.ready._name.text() == entry.shown.title
    assert entry.is_seen


def test_a_second_model_may_be_chosen_while_the_first_one_comes(
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


def test_cancelled_it_leaves_the_list(
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
    assert "Nothing is being downloaded" in wizard.download._note.text()


def test_closing_in_the_midst_of_a_question_forgets_it(
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


def test_everything_that_can_be_pressed_or_typed_has_a_name_and_the_keyboard_reaches_it(
    wizard: Wizard, qtbot: QtBot
) -> None:
    for page in wizard._pages:
        wizard._go(page)
        assert wizard.windowTitle().endswith(page.step)
        for kind in (QAbstractButton, QLineEdit, QComboBox):
            for widget in page.findChildren(kind):
                if widget.isVisible() and not widget.objectName().startswith("qt_"):
                    named = widget.accessibleName() or getattr(widget, "text", str)()
                    assert named or widget.parent().accessibleName(), widget
                    is_inside = isinstance(widget.parent(), QLineEdit)  # the button that clears it
                    assert is_inside or widget.focusPolicy() & Qt.FocusPolicy.TabFocus, widget


def test_enter_presses_only_the_button_that_has_the_keyboard(wizard: Wizard, qtbot: QtBot) -> None:
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
