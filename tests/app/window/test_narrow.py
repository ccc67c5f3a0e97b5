"""Windows of all widths."""

import pytest
from PySide6.QtWidgets import QSplitter, QWidget
from pytestqt.qtbot import QtBot

from app.connection.engine_link import EngineLink
from app.conversation.transcript import COLUMN_WIDTH
from app.preferences import PreferencesFile, WindowState
from app.store import Store
from app.window.arguments import Arguments
from app.window.core import Core
from app.window.panes import Panes
from app.window.window import Window
from tests.app.fake_engine import FakeEngines


def test_in_a_narrow_window_the_panel_lies_above_the_chat(window: Window, qtbot: QtBot) -> None:
    window.header.panel_switch.setChecked(True)
    window.resize(1400, 800)
    qtbot.waitUntil(lambda: window.panel.isVisible() and window.width() == 1400)
    widths = window.panel.width(), window.sidebar.width()
    window.resize(1000, 600)
    qtbot.waitUntil(lambda: not window.panel.isVisible())
    qtbot.waitUntil(lambda: window.minimumSizeHint().width() < 640)
    qtbot.wait(50)  # until the window's layout has taken the new minimum
    window.resize(800, 600)
    qtbot.waitUntil(lambda: window.width() == 800)
    chat = window.transcript.width()
    window.header.panel_switch.click()
    assert window.panel.isVisible()
    assert window.transcript.width() == chat, "the chat keeps its width"
    right = window.panel.mapTo(window, window.panel.rect().topRight()).x()
    assert right == window.width() - 1
    assert window.panel.mapTo(window, window.panel.rect().topLeft()).y() >= window.header.height()
    window.header.panel_switch.click()
    kept = window.centralWidget().state(b"")  # type: ignore[attr-defined]
    assert kept.panel, "closed only because the window is narrow"
    window.resize(1400, 800)
    qtbot.waitUntil(lambda: (window.panel.width(), window.sidebar.width()) == pytest.approx(widths, abs=12))
    assert window.panel.isVisible()


def test_the_widths_of_a_wide_window_come_back_however_narrow_it_was(window: Window, qtbot: QtBot) -> None:
    window.header.panel_switch.setChecked(True)
    window.resize(1400, 800)
    qtbot.waitUntil(lambda: window.panel.isVisible() and window.width() == 1400)
    window.findChild(QSplitter).setSizes([300, 600, 494])
    window.resize(1410, 800)
    qtbot.waitUntil(lambda: window.width() == 1410)
    widths = window.panel.width(), window.sidebar.width()
    window.resize(window.minimumSizeHint().width(), 600)  # beside the panel, the list of chats is squeezed
    qtbot.waitUntil(lambda: not window.panel.isVisible())
    window.resize(1410, 800)
    qtbot.waitUntil(lambda: (window.panel.width(), window.sidebar.width()) == pytest.approx(widths, abs=12))
    assert window.sidebar.width() == pytest.approx(300, abs=12)


def test_kept_widths_are_not_replaced_by_those_before_the_window_is_shown(store: Store, qtbot: QtBot) -> None:
    """A window laid beside another right after the start is narrow before anything was moved in it."""
    panes = Panes(store)
    qtbot.addWidget(panes)
    panes.restore(WindowState(splitters={"parts": [300, 600, 494]}, panel=True))
    panes.fit(1400)
    panes.resize(1400, 800)
    panes.show()
    qtbot.waitExposed(panes)
    assert panes.sidebar.width() == pytest.approx(300, abs=12)
    panes.resize(panes.minimumSizeHint().width(), 600)
    assert panes.state(b"").splitters["parts"] == pytest.approx([300, 600, 494], abs=12)
    panes.resize(1400, 800)
    qtbot.waitUntil(lambda: panes.sidebar.width() == pytest.approx(300, abs=12))


def test_a_window_for_a_small_screen_is_not_widened_by_the_panel(
    store: Store, preferences: PreferencesFile, qtbot: QtBot
) -> None:
    window = Window(Core(Arguments(), store, preferences, EngineLink(FakeEngines())))
    qtbot.addWidget(window)
    assert window.width() <= 800, "the screen of the tests"
    window.show()
    qtbot.waitExposed(window)
    assert window.width() <= 800
    assert not window.panel.isVisible()
    window.header.panel_switch.click()
    assert window.panel.isVisible()
    window.close()


@pytest.mark.parametrize("width", [900, 1900, 2600])
def test_the_composer_stands_below_the_middle_of_the_transcript(
    window: Window, qtbot: QtBot, width: int
) -> None:
    window.header.panel_switch.setChecked(False)
    window.resize(width, 900)
    window.grab()

    def middle(widget: QWidget) -> int:
        return widget.mapTo(window, widget.rect().center()).x()

    assert abs(middle(window.composer) - middle(window.transcript)) <= 1
    assert window.composer.width() <= COLUMN_WIDTH
