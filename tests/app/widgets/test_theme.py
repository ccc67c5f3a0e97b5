import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QIcon
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.widgets import theme
from app.widgets.plain_text import PlainMessageBox
from app.widgets.theme import Palette


def luminance(colour: str) -> float:
    def linear(value: float) -> float:
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    c = QColor(colour)
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF())


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio as defined by WCAG 2.2."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("c", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_text_contrasts_with_its_background(c: Palette) -> None:
    for ground in (c.window, c.surface, c.raised):
        for text in (
            c.text,
            c.muted,
            c.code_keyword,
            c.code_name,
            c.code_string,
            c.code_number,
            c.code_comment,
        ):
            assert contrast(text, ground) >= 4.5, (text, ground)
    assert contrast(c.on_accent, c.accent) >= 4.5
    assert contrast(c.on_bonus, c.bonus) >= 4.5
    assert contrast(c.danger, c.surface) >= 4.5
    assert contrast(c.accent, c.window) >= 4.5  # links
    sources = (c.source_draft, c.source_ngram, c.source_recycling, c.source_lookahead, c.source_heads)
    for shape in (c.outline, c.time_draft, c.time_target, c.time_wait, c.time_other, *sources):
        assert contrast(shape, c.surface) >= 3, shape


@pytest.mark.parametrize("c", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_every_style_rule_has_enough_contrast(c: Palette) -> None:
    """Checks text against the background of its rule, or else against all backgrounds; not if disabled."""
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", theme.style_sheet(c))
    pairs = []
    for selector, body in rules:
        rule = dict(re.findall(r"(?:^|;)\s*(color|background):\s*(#\w{6})", body))
        if "color" in rule and ":disabled" not in selector:
            grounds = [rule["background"]] if "background" in rule else [c.window, c.surface]
            pairs += [(selector.strip(), rule["color"], ground) for ground in grounds]
    assert len(pairs) > 20
    poor = [(*pair, contrast(*pair[1:])) for pair in pairs if contrast(*pair[1:]) < 4.5]
    assert not poor


def test_the_theme_can_be_chosen(qapp: QApplication) -> None:
    theme.choose(qapp, "dark")
    assert theme.current() is theme.DARK
    theme.choose(qapp, "light")
    assert theme.current() is theme.LIGHT
    theme.choose(qapp, "system")
    assert theme.current() is theme.LIGHT  # without a scheme from the desktop


def test_the_current_palette_follows_the_application(qapp: QApplication) -> None:
    theme.dress(qapp, Qt.ColorScheme.Dark)
    assert theme.current() is theme.DARK
    theme.dress(qapp, Qt.ColorScheme.Light)
    assert theme.current() is theme.LIGHT


@pytest.mark.parametrize("kind", ["Critical", "Warning"])
def test_a_box_about_a_problem_has_the_program_s_own_mark(qtbot: QtBot, kind: str) -> None:
    """Qt's file dialog opens such boxes by itself."""
    box = PlainMessageBox(PlainMessageBox.Icon[kind], "", "x")
    qtbot.addWidget(box)
    box.ensurePolished()
    shown = box.iconPixmap().toImage()
    drawn = QIcon(theme.PROBLEM).pixmap(shown.size()).toImage()
    assert not shown.isNull()
    assert shown.pixelColor(shown.rect().center()) == drawn.pixelColor(drawn.rect().center())
    assert shown.convertToFormat(drawn.format()) == drawn
