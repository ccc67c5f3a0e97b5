"""The button with the model's name shortens the name only where there is too little room."""

import pytest
from PySide6.QtWidgets import QStyleOptionToolButton, QStylePainter

from app.header.name_button import NameButton

NAMES = ("Qwen2.5-72B-Instruct-AWQ", "SmolLM2 135M Instruct · Q4_1", "Goes to inference.example.org:8443")


@pytest.fixture
def painted(monkeypatch):
    """The texts that were painted."""
    texts: list[str] = []

    def draw(painter: QStylePainter, control: object, option: QStyleOptionToolButton) -> None:
        texts.append(option.text)

    monkeypatch.setattr(QStylePainter, "drawComplexControl", draw)
    return texts


@pytest.mark.parametrize("name", NAMES)
def test_a_name_with_enough_room_is_whole(qtbot, painted, name):
    button = NameButton()
    qtbot.addWidget(button)
    for points in range(
        60, 160, 7
    ):  # tenths: at some of these sizes, the text's width ends with half a pixel
        font = button.font()
        font.setPointSizeF(points / 10)
        button.setFont(font)
        button.setText(name)
        button.resize(button.sizeHint())
        button.grab()
    assert set(painted) == {name}


def test_a_name_is_shortened_in_its_middle(qtbot, painted):
    button = NameButton()
    qtbot.addWidget(button)
    button.setText(NAMES[0])
    button.resize(button.minimumSizeHint())
    button.grab()
    assert "…" in painted[-1]
    assert painted[-1][0] == NAMES[0][0]
    assert painted[-1][-1] == NAMES[0][-1]
