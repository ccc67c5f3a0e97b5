"""Rows of widgets that wrap, buttons whose text wraps, and windows that fit their screen."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.header.name_button import NameButton
from app.widgets.flow import Flow
from app.widgets.window_size import FRAME, resize_on_screen
from app.widgets.wrapped_button import WrappedButton


class Row:
    """A row of buttons 100 pixels wide, laid out at once."""

    def __init__(self, qtbot: QtBot, count: int) -> None:
        self.widget = QWidget()
        qtbot.addWidget(self.widget)
        self.flow = Flow(self.widget)
        self.buttons = [QPushButton(str(number), self.widget) for number in range(count)]
        for button in self.buttons:
            button.setFixedSize(100, 20)
            self.flow.addWidget(button)

    def places(self, width: int) -> list[tuple[int, int]]:
        self.widget.resize(width, self.flow.heightForWidth(width))
        self.flow.setGeometry(self.widget.rect())
        return [(button.x(), button.y()) for button in self.buttons]


def test_a_row_wraps_where_it_is_too_narrow(qtbot: QtBot) -> None:
    row = Row(qtbot, 3)
    assert row.places(400) == [(0, 0), (108, 0), (216, 0)]
    assert row.places(250) == [(0, 0), (108, 0), (0, 28)]
    assert row.places(100) == [(0, 0), (0, 28), (0, 56)]
    assert row.flow.minimumSize().width() == 100
    assert row.flow.sizeHint().width() == 316


def test_a_hidden_widget_takes_no_room(qtbot: QtBot) -> None:
    row = Row(qtbot, 3)
    row.buttons[1].hide()
    assert row.places(400)[2] == (108, 0)


def test_what_follows_a_stretch_ends_at_the_right(qtbot: QtBot) -> None:
    row = Row(qtbot, 1)
    row.flow.addStretch()
    last = QPushButton("last", row.widget)
    last.setFixedSize(100, 20)
    row.flow.addWidget(last)
    row.buttons.append(last)
    assert row.places(400) == [(0, 0), (300, 0)]
    assert row.places(150) == [(0, 0), (0, 28)]
    row.widget.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    assert row.places(400) == [(300, 0), (0, 0)]


def test_a_field_takes_the_rest_of_its_row(qtbot: QtBot) -> None:
    row = Row(qtbot, 1)
    field = QLineEdit(row.widget)
    row.flow.insertWidget(0, field)
    assert row.places(600)[0][0] == 500
    assert field.width() == 600 - 100 - 8


@pytest.mark.parametrize("width", [120, 300, 2_000])
def test_a_button_has_the_height_of_its_wrapped_text(qtbot: QtBot, width: int) -> None:
    button = WrappedButton()
    qtbot.addWidget(button)
    button.setText("A question of several words that fits on one line only where there is much room")
    lines = button.heightForWidth(width) / button.fontMetrics().lineSpacing()
    assert (lines > 4) if width == 120 else lines > 1.5
    assert button.heightForWidth(width) >= button.heightForWidth(2_000)
    assert button.minimumSizeHint().width() < 150


def test_a_long_name_is_shortened_only_in_the_picture(qtbot: QtBot) -> None:
    button = NameButton()
    qtbot.addWidget(button)
    button.setText("DeepSeek-R1-Distill-Qwen-32B-Instruct-abliterated-and-longer-than-that")
    assert button.minimumSizeHint().width() < button.sizeHint().width()
    button.resize(button.minimumSizeHint())
    button.show()
    short = button.grab().toImage()
    button.setText("Dee")
    assert button.grab().toImage() != short
    assert button.sizeHint().width() <= short.width()


def test_a_window_leaves_room_for_its_frame_on_a_small_screen(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    room = window.screen().availableSize() - FRAME
    resize_on_screen(window, 10_000, 10_000)
    assert window.size() == room
    resize_on_screen(window, 200, 100)
    assert (window.width(), window.height()) == (200, 100)
