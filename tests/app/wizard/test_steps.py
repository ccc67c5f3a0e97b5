"""The names of the steps above the wizard's pages."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.widgets import theme
from app.wizard.paged_dialog import Steps

NAMES = ["Machine", "Choose", "Folder", "Download"]


def test_no_name_moves_when_another_step_is_the_current_one(qapp: QApplication, qtbot: QtBot) -> None:
    theme.dress(qapp, Qt.ColorScheme.Light)
    steps = Steps()
    qtbot.addWidget(steps)
    steps.resize(800, 60)
    steps.show()

    def places(current: int) -> dict[str, int]:
        steps.show_steps(NAMES, current)
        QApplication.processEvents()
        labels = [label for label in steps.findChildren(QLabel) if label.isVisible()]
        return {label.text(): label.x() for label in labels}

    first = places(0)
    assert len(first) == len(NAMES)
    assert all(places(current) == first for current in range(1, len(NAMES)))
