"""Every page at small sizes, with large text and in every language: nothing is cut off, everything has a
name, and the Tab key reaches all of it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPushButton, QScrollArea, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.panel.memory_bars import MemoryBars
from app.widgets.elided_label import ElidedLabel
from app.widgets.form_parts import label
from tests.app.pages.access import unreachable
from tests.app.pages.fit import misfits, named
from tests.app.pages.stage import settle

ROOT = Path(__file__).parents[3]
PAGES = 50  # at least so many are visited in each language


def visit(*arguments: str, scale: str = "1") -> str:
    """Visit every page in a program of its own. Return its findings as text; "" if there are none."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.pages", *arguments],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": scale},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["pages"] >= PAGES * max(1, arguments.count("--language"))
    return json.dumps(found["found"], ensure_ascii=False, indent=1) if found["found"] else ""


ENGLISH, KOREAN, CHINESE = (("--language", name) for name in ("en", "ko", "zh_CN"))
# Where there is least room for texts; at the other sizes, languages take turns.
EVERY = (*ENGLISH, *KOREAN, *CHINESE)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("scale", "arguments"),
    [
        pytest.param("1", ("--screen", "800x600", *CHINESE), id="800x600"),
        pytest.param("1", ("--screen", "800x600", "--long"), id="800x600, long texts"),
        pytest.param("1", ("--screen", "800x600", "--fonts", "150", *KOREAN), id="800x600, text of 150 %"),
        pytest.param("1", ("--screen", "800x600", "--fonts", "200", *EVERY), id="800x600, text of 200 %"),
        pytest.param("1.5", ("--screen", "1280x720", *ENGLISH), id="1280x720 at 150 %"),
        pytest.param("2", ("--screen", "1920x1080", *KOREAN), id="1920x1080 at 200 %"),
        pytest.param("1", ("--screen", "1600x1000", "--theme", "dark"), id="1600x1000, dark"),
    ],
)
def test_every_page_fits_and_is_reachable(scale: str, arguments: tuple[str, ...]) -> None:
    assert not visit(*arguments, scale=scale)


# -- what is found -------------------------------------------------------------------------------------------


@pytest.fixture
def page(qtbot: QtBot) -> QWidget:
    page = QWidget()
    qtbot.addWidget(page)
    page.resize(200, 100)
    return page


def findings(page: QWidget) -> list[str]:
    page.show()
    settle()
    return misfits(page)


def test_a_widget_beside_its_page_is_found(page: QWidget) -> None:
    button = QPushButton("Far", page)
    button.move(190, 0)
    assert "outside" in findings(page)[0]
    button.move(0, 0)
    assert not findings(page)


def test_text_that_is_cut_off_is_found(page: QWidget) -> None:
    QPushButton("A button with a long text", page).resize(60, 30)
    assert "60 pixels wide" in findings(page)[0]


def test_a_label_without_room_for_its_lines_is_found(page: QWidget) -> None:
    long = label("several words that take more than a single line here", parent=page)
    long.resize(120, 20)
    assert "high" in findings(page)[0]
    long.resize(120, 100)
    assert not findings(page)


def test_a_shortened_label_needs_its_tool_tip(page: QWidget) -> None:
    short = ElidedLabel(page)
    short.setText("a text that is much longer than its label")
    short.resize(40, 20)
    assert not findings(page)
    short.setToolTip("")
    assert findings(page)


def test_what_a_scroll_area_cannot_show_is_found(page: QWidget) -> None:
    inside = QWidget()
    column = QVBoxLayout(inside)
    for _ in range(20):
        column.addWidget(QPushButton("One below the other"))
    area = QScrollArea(page)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inside)
    area.resize(200, 100)
    assert not findings(page)
    column.itemAt(0).widget().setMinimumWidth(500)
    assert any("nothing scrolls sideways" in each for each in findings(page))


def test_a_window_larger_than_its_screen_is_found(page: QWidget) -> None:
    page.resize(5_000, 100)
    assert "more than the screen" in findings(page)[0]


def test_controls_without_a_name_and_pictures_without_a_description_are_found(page: QWidget) -> None:
    line = QLineEdit(page)
    bars = MemoryBars(page)
    bars.move(0, 40)
    page.show()
    found = unreachable(page)
    assert any("QLineEdit" in each and "no name" in each for each in found)
    assert any("MemoryBars" in each and "no description" in each for each in found)
    line.setAccessibleName("Name")
    bars.setAccessibleDescription("RAM: all of it")
    assert not unreachable(page)


def test_a_control_that_tab_does_not_reach_is_found(page: QWidget) -> None:
    QPushButton("Before", page)
    group = QWidget(page)
    group.setGeometry(0, 30, 200, 60)
    first, last = QPushButton("First", group), QPushButton("Last", group)
    last.move(0, 30)
    page.show()
    assert not unreachable(page)
    group.setFocusProxy(last)  # Tab goes to the proxy, and never to what is before it
    assert any(named(first) in each for each in unreachable(page))
