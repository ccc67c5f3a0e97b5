from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from app.conversation.answer_view import AnswerView
from app.rendering.message_actions import Action, MessageActions


def shown(actions: MessageActions) -> list[str]:
    return [b.accessibleName() for b in actions.findChildren(QAbstractButton) if b.isVisibleTo(actions)]


def test_buttons_are_shown_as_allowed(qtbot: QtBot) -> None:
    actions = MessageActions(lambda: "text")
    qtbot.addWidget(actions)
    assert shown(actions) == ["Copy message"]
    actions.set_actions({Action.EDIT, Action.BRANCH})
    assert shown(actions) == ["Copy message", "Edit and send again", "Start a new chat from here"]
    for button in actions.findChildren(QAbstractButton):
        assert button.accessibleName()
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_a_button_asks_for_its_action(qtbot: QtBot) -> None:
    actions = MessageActions(lambda: "text")
    qtbot.addWidget(actions)
    actions.set_actions(set(Action))
    assert len(actions.buttons) == len(Action)
    for action, button in actions.buttons.items():
        with qtbot.waitSignal(actions.asked) as asked:
            qtbot.keyClick(button, Qt.Key.Key_Space)
        assert asked.args == [action]


def test_the_tooltip_says_when_the_same_seed_gives_the_same_text(qtbot: QtBot) -> None:
    actions = MessageActions(lambda: "text")
    qtbot.addWidget(actions)
    actions.set_actions({Action.AGAIN})
    for condition in ("the seed", "budgets of this answer", "same arithmetic"):
        assert condition in actions.buttons[Action.AGAIN].toolTip()


def test_versions_can_be_stepped_through(qtbot: QtBot) -> None:
    actions = MessageActions(lambda: "text")
    qtbot.addWidget(actions)
    actions.set_versions(2, 3)
    assert shown(actions) == ["Copy message", "Previous version", "Next version"]
    assert actions.versions.label.text() == "2/3"
    with qtbot.waitSignal(actions.version_asked) as asked:
        actions.versions.before.click()
    assert asked.args == [1]
    with qtbot.waitSignal(actions.version_asked) as asked:
        actions.versions.after.click()
    assert asked.args == [3]
    actions.set_versions(3, 3)
    assert not actions.versions.after.isEnabled()
    actions.set_versions(1, 1)
    assert shown(actions) == ["Copy message"]


def test_copying_takes_the_current_text(qtbot: QtBot) -> None:
    text = "one"
    actions = MessageActions(lambda: text)
    qtbot.addWidget(actions)
    text = "two"
    actions.copy.click()
    assert QGuiApplication.clipboard().text() == "two"


def test_editing_an_answer_does_not_claim_to_send_it(qtbot: QtBot) -> None:
    view = AnswerView()
    qtbot.addWidget(view)
    view.set_actions({Action.EDIT})
    assert view.action_row.buttons[Action.EDIT].accessibleName() == "Edit this answer"
