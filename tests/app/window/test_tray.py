import pytest
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QSystemTrayIcon, QWidget
from pytestqt.qtbot import QtBot

from app.window.tray import LONG_S, Tray, is_worth


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def tray(window: QWidget) -> Tray:
    return Tray(QIcon(), window)


def test_only_long_answers_behind_other_windows_are_notified() -> None:
    assert is_worth(LONG_S, in_front=False, wanted=True)
    assert not is_worth(LONG_S, in_front=True, wanted=True)
    assert not is_worth(LONG_S, in_front=False, wanted=False)
    assert not is_worth(LONG_S - 1, in_front=False, wanted=True)


def test_a_notification_has_the_title_of_its_chat(tray: Tray, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(QSystemTrayIcon, "isVisible", lambda _: True)
    monkeypatch.setattr(QSystemTrayIcon, "supportsMessages", lambda: True)
    monkeypatch.setattr(
        QSystemTrayIcon, "showMessage", lambda _, title, text, *__: told.append((title, text))
    )
    tray.tell_answered("Bread", "Take flour.\nAnd water.")
    tray.tell_answered("", "So.")
    assert told == [("Bread", "Take flour. And water."), ("Answer complete", "So.")]


def test_without_a_tray_nothing_is_shown_and_nothing_fails(
    tray: Tray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda *_: pytest.fail("shown"))
    tray.tell_answered("Bread", "Take flour.")


def test_a_click_on_icon_or_notification_raises_the_window(tray: Tray, qtbot: QtBot) -> None:
    with qtbot.waitSignal(tray.raise_asked):
        tray.icon.messageClicked.emit()
    with qtbot.waitSignal(tray.raise_asked):
        tray.icon.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    with qtbot.assertNotEmitted(tray.raise_asked, wait=0):
        tray.icon.activated.emit(QSystemTrayIcon.ActivationReason.Context)
