import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import theme
from app.answer_view import AnswerView
from app.engine_link import FRAME_MS
from app.question_view import QuestionView
from app.rendering.message_actions import Action


@pytest.fixture
def view(qtbot: QtBot) -> AnswerView:
    made = AnswerView()
    qtbot.addWidget(made)
    made.resize(500, 300)
    made.show()
    qtbot.waitExposed(made)
    return made


def test_text_is_shown_within_a_few_frames(view: AnswerView, qtbot: QtBot) -> None:
    view.append("**He")
    view.append("llo**")
    qtbot.waitUntil(lambda: view._body.toPlainText() == "Hello")
    assert not view._status.isVisible()
    assert not view._actions.isVisible()
    view.finish("3 tokens")
    assert view._summary.text() == "3 tokens"
    assert view._actions.isVisible()


def test_a_thought_is_folded_and_costs_nothing_until_it_is_read(view: AnswerView, qtbot: QtBot) -> None:
    view.append("<think>\nSo **why**")
    qtbot.waitUntil(view._thought.isVisible)
    assert "Thinking" in view._thought.switch.text()
    assert view._thought.body.toPlainText() == ""
    assert not view._body.isVisible()
    qtbot.keyClick(view._thought.switch, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: view._thought.body.toPlainText() == "So why")
    view.append("?</think>\n\nBecause.")
    qtbot.waitUntil(lambda: view._body.toPlainText() == "Because.")
    assert view._thought.body.toPlainText() == "So why?"
    assert view._thought.switch.accessibleName() == "Thought"
    view.finish("")
    view._actions._copy.click()
    assert QGuiApplication.clipboard().text() == "Because."
    for start, body in view.bodies():
        for said in ("why", "Because"):
            if said in body.toPlainText():
                at = view.text.index(said) - start
                ((position, length),) = body.spans(at, at + len(said))
                assert body.toPlainText()[position : position + length] == said


def test_what_only_looked_like_a_thought_is_shown(view: AnswerView) -> None:
    view.finish("", "<t")
    assert view._body.toPlainText() == "<t"
    assert not view._thought.isVisible()


def test_a_very_long_answer_is_shown_a_piece_at_a_time(view: AnswerView, qtbot: QtBot) -> None:
    view.finish("done", "A paragraph.\n\n" * 3_000)
    shown = view._body.toPlainText().count("paragraph")
    assert 0 < shown < 1_500
    assert view._timer.isActive()
    assert view._pause_ms >= FRAME_MS
    qtbot.waitUntil(lambda: not view._timer.isActive(), timeout=60_000)
    assert view._body.toPlainText().count("paragraph") == 3_000


def test_a_new_theme_is_put_on_without_losing_height(
    view: AnswerView, qapp: QApplication, qtbot: QtBot
) -> None:
    view.finish("", "a\n\n" * 20 + "`code`")
    height = view._body.height()
    theme.dress(qapp, Qt.ColorScheme.Dark)
    assert view._body.height() == height
    qtbot.waitUntil(lambda: view._body.toPlainText().endswith("code"))
    (last, *_) = view._body.document().lastBlock().textFormats()
    assert last.format.background().color().name() == theme.DARK.raised


def test_actions_are_passed_on(view: AnswerView, qtbot: QtBot) -> None:
    view.finish("", "x")
    view.set_actions(set(Action))
    view.set_versions(1, 2)
    for action, signal in (
        (Action.EDIT, view.edit_asked),
        (Action.REGENERATE, view.regenerate_asked),
        (Action.CONTINUE, view.continue_asked),
        (Action.BRANCH, view.branch_asked),
    ):
        with qtbot.waitSignal(signal):
            view._actions._buttons[action].click()
    with qtbot.waitSignal(view.version_asked) as asked:
        view._actions._versions.after.click()
    assert asked.args == [2]


def test_a_question_can_be_edited_and_branched(qtbot: QtBot) -> None:
    view = QuestionView("why?")
    qtbot.addWidget(view)
    view.set_actions({Action.EDIT, Action.BRANCH})
    view.set_versions(2, 2)
    for action, signal in ((Action.EDIT, view.edit_asked), (Action.BRANCH, view.branch_asked)):
        with qtbot.waitSignal(signal):
            view._actions._buttons[action].click()
    with qtbot.waitSignal(view.version_asked) as asked:
        view._actions._versions.before.click()
    assert asked.args == [1]
