import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from app import theme
from app.theme import Tokens


def luminance(colour: str) -> float:
    def linear(value: float) -> float:
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    c = QColor(colour)
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF())


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, contrast ratio."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("c", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_text_stands_out_from_its_ground(c: Tokens) -> None:
    for ground in (c.window, c.surface, c.raised):
        for text in (c.text, c.muted, c.code_keyword, c.code_string, c.code_number, c.code_comment):
            assert contrast(text, ground) >= 4.5, (text, ground)
    assert contrast(c.on_accent, c.accent) >= 4.5
    assert contrast(c.on_bonus, c.bonus) >= 4.5
    assert contrast(c.danger, c.surface) >= 4.5
    assert contrast(c.accent, c.window) >= 4.5  # links
    for shape in (c.outline, c.time_draft, c.time_target, c.time_wait, c.time_other):
        assert contrast(shape, c.surface) >= 3, shape


def test_the_set_follows_the_palette(qapp: QApplication) -> None:
    theme.dress(qapp, Qt.ColorScheme.Dark)
    assert theme.current() is theme.DARK
    theme.dress(qapp, Qt.ColorScheme.Light)
    assert theme.current() is theme.LIGHT
