"""What a model's maker trained to draft for it, in the wizard."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import formatting
from app.widgets import theme
from app.wizard.wizard import Wizard
from engine import catalog
from engine.catalog import Catalog
from tests.app.seen import label, says
from tests.app.shared_fixtures import put
from tests.app.wizard.conftest import ASSISTANT, GEMMA, put_assistant, with_assistant
from tests.app.wizard.test_wizard import GATED, press, reach
from tests.engine.hub.lying_hub import LyingHub


@pytest.fixture
def with_gemma(small_catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalogue has a model for which its maker trained an assistant."""
    known = with_assistant(small_catalog)
    monkeypatch.setattr(catalog, "catalog", lambda: known)


@pytest.fixture
def large_text(qapp: QApplication) -> Iterator[None]:
    theme.enlarge(qapp, 150)
    yield
    theme.enlarge(qapp, 100)


def choose_gemma(wizard: Wizard, *, is_here: bool = False) -> None:
    """is_here: whether the model is on this machine already, without its assistant."""
    wizard.choose.catalogue.search.setText("Gemma")
    how = "is on this machine; its" if is_here else "is downloaded with its"
    assert says(wizard, f"{how} maker's draft, gemma-4-E2B-it-assistant")
    size = formatting.nbytes(catalog.entries()[GEMMA].nbytes)
    assert wizard.main.text() == ("Next" if is_here else f"Next ({size} to download)")
    wizard.main.click()


@pytest.mark.usefixtures("with_gemma")
def test_an_assistant_is_shown_with_its_size_and_licence_and_downloaded_with_its_model(
    make_wizard: Callable[[], Wizard], server: LyingHub, qtbot: QtBot, own_models: Path
) -> None:
    wizard = make_wizard()
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.begin()
    put(server, GEMMA)
    put_assistant(server)
    choose_gemma(wizard)
    assert not wizard.main.isEnabled()
    assert says(wizard.where, f"{ASSISTANT} · asking")
    wizard.close()
    wizard.begin()  # asks again
    qtbot.waitUntil(wizard.main.isEnabled)
    size = formatting.nbytes(sum(map(len, server.repositories[ASSISTANT].files.values())))
    assert says(wizard.where, f"{ASSISTANT} · {size} · Gemma")
    press(wizard, qtbot)
    reach(wizard, qtbot, wizard.ready)
    with qtbot.waitSignal(wizard.load_asked) as asked:
        press(wizard, qtbot)
    assert asked.args == [GEMMA, "auto"]
    assert catalog.companion_for(GEMMA) == own_models / ASSISTANT


@pytest.mark.usefixtures("with_gemma", "large_text")
def test_what_is_downloaded_with_a_model_stands_above_the_button_where_the_page_is_scrolled(
    make_wizard: Callable[[], Wizard], qtbot: QtBot
) -> None:
    wizard = make_wizard()
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.begin()
    wizard.resize(800, 600)
    foot = wizard.main.parentWidget()
    assert not says(foot, "draft")
    wizard.choose.catalogue.search.setText("Gemma")
    line = label(foot, "gemma-4-E2B-it-assistant")
    assert wizard.main.accessibleDescription() == line.text()
    qtbot.waitUntil(lambda: line.visibleRegion().boundingRect() == line.rect() and line.height() > 0)
    assert line.height() >= line.heightForWidth(line.width()), "nothing of it is cut off"
    assert line.geometry().bottom() < wizard.main.y()
    wizard.choose.tabs.setCurrentWidget(wizard.choose.hub_search)
    assert not line.isVisible(), "it is about the catalogue's choice"
    assert not wizard.main.accessibleDescription()


@pytest.mark.usefixtures("with_gemma")
def test_a_model_whose_assistant_is_gated_is_downloaded_alone_and_told_so(
    make_wizard: Callable[[], Wizard], server: LyingHub, qtbot: QtBot
) -> None:
    wizard = make_wizard()
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.begin()
    put(server, GEMMA)
    put_assistant(server, gated="manual", refuses=GATED)
    choose_gemma(wizard)
    qtbot.waitUntil(wizard.main.isEnabled)
    told = f"{ASSISTANT}, its maker's draft for this model, is left out"
    assert says(wizard.where, told)
    press(wizard, qtbot)
    reach(wizard, qtbot, wizard.ready)
    assert says(wizard.download, told)
    with qtbot.waitSignal(wizard.load_asked) as asked:
        press(wizard, qtbot)
    assert asked.args == [GEMMA, "none"]
    wizard.begin()
    with qtbot.waitSignal(wizard.survey.predicted):
        wizard.survey.begin()
    choose_gemma(wizard, is_here=True)
    qtbot.waitUntil(wizard.main.isEnabled)
    assert wizard.main.text() == "Load now", "the model is here, and the Hub still keeps its assistant"
    with qtbot.waitSignal(wizard.load_asked) as asked:
        wizard.main.click()
    assert asked.args == [GEMMA, "none"]
