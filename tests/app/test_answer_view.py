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
    for action in Action:
        with qtbot.waitSignal(view.asked) as asked:
            view._actions._buttons[action].click()
        assert asked.args == [action]
    with qtbot.waitSignal(view.version_asked) as asked:
        view._actions._versions.after.click()
    assert asked.args == [2]


def test_a_question_can_be_edited_and_branched(qtbot: QtBot) -> None:
    view = QuestionView("why?")
    qtbot.addWidget(view)
    view.set_actions({Action.EDIT, Action.BRANCH})
    view.set_versions(2, 2)
    for action in (Action.EDIT, Action.BRANCH):
        with qtbot.waitSignal(view.asked) as asked:
            view._actions._buttons[action].click()
        assert asked.args == [action]
    with qtbot.waitSignal(view.version_asked) as asked:
        view._actions._versions.before.click()
    assert asked.args == [1]


def marked(view: AnswerView) -> list[str]:
    """What stands out, of thought and answer."""
    return [
        selection.cursor.selectedText()
        for body in (view._thought.body, view._body)
        for selection in body.extraSelections()
    ]


def test_what_was_searched_for_is_marked_where_it_stands(view: AnswerView, qtbot: QtBot) -> None:
    view.finish("", "Nothing here.\n\n" * 40 + "The 🌊 **sea** and the `seaside`.")
    with qtbot.waitSignal(view.found) as found:
        view.seek("SEA")
    qtbot.waitUntil(lambda: marked(view) == ["sea", "sea"])
    assert view._body.height() / 2 < found.args[0] < view._body.height()
    with qtbot.waitSignal(view.found) as found:
        view.seek("mountain")
    assert found.args == [0]
    qtbot.waitUntil(lambda: marked(view) == [])


def test_a_very_long_answer_is_searched_once_all_of_it_is_shown(view: AnswerView, qtbot: QtBot) -> None:
    view.finish("", "A paragraph.\n\n" * 3_000 + "The end.")
    view.seek("end")
    with qtbot.waitSignal(view.found, timeout=60_000) as found:
        pass
    assert found.args[0] > 10_000
    assert marked(view) == ["end"]


def test_a_thought_is_unfolded_where_it_alone_has_what_was_searched_for(
    view: AnswerView, qtbot: QtBot
) -> None:
    view.finish("", "<think>\nOf whales.\n</think>\n\nOf the sea.")
    with qtbot.waitSignal(view.found):
        view.seek("sea")
    assert not view._thought.switch.isChecked()
    with qtbot.waitSignal(view.found):
        view.seek("whale")
    assert view._thought.switch.isChecked()
    assert marked(view) == ["whale"]
