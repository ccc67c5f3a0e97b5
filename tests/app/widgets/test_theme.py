import re
from dataclasses import fields

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QIcon, QPalette
from PySide6.QtWidgets import QApplication, QComboBox, QDoubleSpinBox, QSpinBox
from pytestqt.qtbot import QtBot

from app.panel.node_words import SOURCES
from app.panel.tint import IN_VIEW_ALPHA, SOURCE_ALPHA
from app.widgets import theme
from app.widgets.palettes import DARK, DARK_CONTRAST, LIGHT, LIGHT_CONTRAST, Palette
from app.widgets.plain_text import PlainMessageBox


def luminance(colour: str) -> float:
    def linear(value: float) -> float:
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    c = QColor(colour)
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF())


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio as defined by WCAG 2.2."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


USUAL, STRONG = 4.5, 7.0  # the least contrast of text
THEMES = pytest.mark.parametrize(
    ("c", "least"),
    [(LIGHT, USUAL), (DARK, USUAL), (LIGHT_CONTRAST, STRONG), (DARK_CONTRAST, STRONG)],
    ids=["light", "dark", "light, high contrast", "dark, high contrast"],
)
OF_TEXT = re.compile(r"text|muted|code_.*")
FILLS = re.compile(r"time_.*|source_.*|outline")


@THEMES
def test_text_contrasts_with_its_background(c: Palette, least: float) -> None:
    """All pairs that are painted or that the style rules leave open."""
    texts = [name for name in field_names() if OF_TEXT.fullmatch(name)]
    pairs = [(text, ground) for text in texts for ground in ("window", "surface", "raised")]
    pairs += [("on_accent", "accent"), ("on_bonus", "bonus")]  # nodes of a tree, chosen rows
    pairs += [("text", "found"), ("text", "lit")]  # search matches, quiet buttons under the pointer
    pairs += [(each, ground) for each in ("accent", "danger") for ground in ("window", "surface")]
    assert not poor([(*pair, getattr(c, pair[0]), getattr(c, pair[1])) for pair in pairs], least)
    shapes = [name for name in field_names() if FILLS.fullmatch(name)]
    assert not poor([(shape, "surface", getattr(c, shape), c.surface) for shape in shapes], 3.0)


@THEMES
def test_text_contrasts_with_the_colours_of_an_answer(c: Palette, least: float) -> None:
    tints = [(source.colour(c), SOURCE_ALPHA) for source in SOURCES] + [(c.accent, IN_VIEW_ALPHA)]
    grounds = [theme.mixed(c.window, colour, alpha / 255) for colour, alpha in tints]
    assert len(grounds) > 4
    assert not poor([("text", ground, c.text, ground) for ground in grounds], least)


@THEMES
def test_every_style_rule_has_enough_contrast(c: Palette, least: float) -> None:
    """Checks text against the background of its rule, or else against all backgrounds; not if disabled."""
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", theme.style_sheet(c))
    pairs = []
    for selector, body in rules:
        rule = dict(re.findall(r"(?:^|;)\s*(color|background):\s*(#\w{6})", body))
        if "color" in rule and ":disabled" not in selector:
            grounds = [rule["background"]] if "background" in rule else [c.window, c.surface]
            pairs += [(selector.strip(), ground, rule["color"], ground) for ground in grounds]
    assert len(pairs) > 20
    assert not poor(pairs, least)


@THEMES
def test_the_widgets_that_qt_paints_have_enough_contrast(c: Palette, least: float) -> None:
    role, made = QPalette.ColorRole, theme.palette(c)
    pairs = [
        (role.WindowText, role.Window),
        (role.ButtonText, role.Button),
        (role.ToolTipText, role.ToolTipBase),
        (role.HighlightedText, role.Highlight),
    ]
    pairs += [(text, role.Base) for text in (role.Text, role.PlaceholderText, role.Link)]
    found = [
        (text.name, ground.name, made.color(text).name(), made.color(ground).name()) for text, ground in pairs
    ]
    assert not poor(found, least)


@pytest.mark.parametrize("c", [LIGHT_CONTRAST, DARK_CONTRAST], ids=["light", "dark"])
def test_the_focus_is_seen_at_high_contrast(c: Palette) -> None:
    """A frame with the focus differs from one without it as much as shapes do from the background."""
    for frame in (c.border, c.outline):
        assert contrast(frame, c.window) >= 4.5
        assert contrast(c.accent, frame) >= 3
    assert contrast(c.accent, c.window) >= STRONG
    rules = re.findall(r"([^{}]+:focus[^{}]*)\{([^{}]*)\}", theme.style_sheet(c))
    assert len(rules) > 10
    assert all("border" in body or c.accent in body for _, body in rules)
    assert re.search(r"QPushButton \{[^}]*border: 2px solid", theme.style_sheet(c))


def field_names() -> list[str]:
    return [field.name for field in fields(Palette)]


def poor(pairs: list[tuple[str, str, str, str]], least: float) -> list[tuple[str, str, float]]:
    """Return those pairs (name, name, colour, colour) that have less contrast."""
    measured = [(name, ground, contrast(one, other)) for name, ground, one, other in pairs]
    return [each for each in measured if each[2] < least]


def test_the_theme_can_be_chosen(qapp: QApplication) -> None:
    theme.choose(qapp, "dark")
    assert theme.current() is theme.DARK
    theme.choose(qapp, "light")
    assert theme.current() is theme.LIGHT
    theme.choose(qapp, "contrast")
    assert theme.current() is LIGHT_CONTRAST
    assert f"background: {LIGHT_CONTRAST.accent}" in qapp.styleSheet()
    theme.choose(qapp, "system")
    assert theme.current() is theme.LIGHT  # without a scheme from the desktop


def test_high_contrast_follows_the_desktop(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    theme.follow_system(qapp)
    monkeypatch.setattr(theme, "asks_for_contrast", lambda app: True)
    theme.choose(qapp, "system")
    assert theme.current() is LIGHT_CONTRAST
    theme.choose(qapp, "dark")
    assert theme.current() is theme.DARK, "chosen in spite of the desktop"
    theme.choose(qapp, "system")
    monkeypatch.setattr(theme, "asks_for_contrast", lambda app: False)
    hints = qapp.styleHints()
    hints.accessibility().contrastPreferenceChanged.emit(Qt.ContrastPreference.NoPreference)
    assert theme.current() is theme.LIGHT


@THEMES
def test_the_current_palette_follows_the_application(qapp: QApplication, c: Palette, least: float) -> None:
    scheme = Qt.ColorScheme.Dark if c in (DARK, DARK_CONTRAST) else Qt.ColorScheme.Light
    theme.dress(qapp, scheme, contrast=least == STRONG)
    assert theme.current() is c


def test_fields_for_numbers_and_choices_are_as_high_as_others(qtbot: QtBot) -> None:
    for made in (QSpinBox(), QDoubleSpinBox(), QComboBox()):
        qtbot.addWidget(made)
        made.show()
        assert theme.LINE_HEIGHT - 2 <= made.height() <= theme.LINE_HEIGHT + 2, made


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
