import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.connection.engine_link import FRAME_MS
from app.conversation.answer_view import AnswerView
from app.conversation.question_view import QuestionView
from app.rendering.message_actions import Action
from app.widgets import theme


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
    qtbot.waitUntil(lambda: view.body.toPlainText() == "Hello")
    assert not view.status.isVisible()
    assert not view.action_row.isVisible()
    view.finish("Stopped by you", [("Tokens", "3")], speed="12.5 tokens/s")
    assert view.ending.text() == "Stopped by you"
    assert view.figures.text() == "12.5 tokens/s"
    view.set_actions(set(Action))
    view.resize(250, 300)
    qtbot.waitUntil(lambda: view.figures.text() == "")  # gives way to the icons
    view.resize(500, 300)
    assert view.figures.text() == "12.5 tokens/s"
    assert view.figures.accessibleDescription() == "Tokens: 3"
    assert view.action_row.isVisible()


def test_a_narrow_answer_is_laid_out_once(view: AnswerView, qtbot: QtBot) -> None:
    asked: list[QEvent] = []

    class Counter(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.LayoutRequest:
                asked.append(event)
            return False

    view.finish("", [("Tokens", "3")], "Hello", speed="12.5 tokens/s")
    view.set_actions(set(Action))
    view.resize(250, 300)
    qtbot.waitUntil(lambda: view.figures.text() == "")
    qtbot.wait(50)
    counter = Counter(view)
    view.installEventFilter(counter)
    qtbot.wait(200)
    assert len(asked) <= 1


def test_a_thought_is_collapsed_and_not_rendered_until_expanded(view: AnswerView, qtbot: QtBot) -> None:
    view.append("<think>\nSo **why**")
    qtbot.waitUntil(view.thought.isVisible)
    assert "Thinking" in view.thought.switch.text()
    assert view.thought.body.toPlainText() == ""
    assert not view.body.isVisible()
    qtbot.keyClick(view.thought.switch, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: view.thought.body.toPlainText() == "So why")
    view.append("?</think>\n\nBecause.")
    qtbot.waitUntil(lambda: view.body.toPlainText() == "Because.")
    assert view.thought.body.toPlainText() == "So why?"
    assert view.thought.switch.accessibleName() == "Thought"
    view.finish()
    view.action_row.copy.click()
    assert QGuiApplication.clipboard().text() == "Because."
    for start, body in view.bodies():
        for said in ("why", "Because"):
            if said in body.toPlainText():
                at = view.text.index(said) - start
                ((position, length),) = body.spans(at, at + len(said))
                assert body.toPlainText()[position : position + length] == said


def test_text_that_only_looked_like_a_thought_is_shown(view: AnswerView) -> None:
    view.finish(text="<t")
    assert view.body.toPlainText() == "<t"
    assert not view.thought.isVisible()


def test_a_very_long_answer_is_rendered_piece_by_piece(view: AnswerView, qtbot: QtBot) -> None:
    view.finish(text="A paragraph.\n\n" * 3_000)
    shown = view.body.toPlainText().count("paragraph")
    assert 0 < shown < 1_500
    assert not view.is_up_to_date
    assert view.pause_ms >= FRAME_MS
    qtbot.waitUntil(lambda: view.is_up_to_date, timeout=60_000)
    assert view.body.toPlainText().count("paragraph") == 3_000


def test_a_new_theme_is_applied_without_losing_height(
    view: AnswerView, qapp: QApplication, qtbot: QtBot
) -> None:
    view.finish(text="a\n\n" * 20 + "`code`")
    height = view.body.height()
    theme.dress(qapp, Qt.ColorScheme.Dark)
    assert view.body.height() == height
    qtbot.waitUntil(lambda: view.body.toPlainText().endswith("code"))
    (last, *_) = view.body.document().lastBlock().textFormats()
    assert last.format.background().color().name() == theme.DARK.raised


def test_actions_are_emitted(view: AnswerView, qtbot: QtBot) -> None:
    view.finish(text="x")
    view.set_actions(set(Action))
    view.set_versions(1, 2)
    for action in Action:
        with qtbot.waitSignal(view.asked) as asked:
            view.action_row.buttons[action].click()
        assert asked.args == [action]
    with qtbot.waitSignal(view.version_asked) as asked:
        view.action_row.versions.after.click()
    assert asked.args == [2]


def test_a_question_can_be_edited_and_branched(qtbot: QtBot) -> None:
    view = QuestionView("why?")
    qtbot.addWidget(view)
    view.set_actions({Action.EDIT, Action.BRANCH})
    view.set_versions(2, 2)
    for action in (Action.EDIT, Action.BRANCH):
        with qtbot.waitSignal(view.asked) as asked:
            view.action_row.buttons[action].click()
        assert asked.args == [action]
    with qtbot.waitSignal(view.version_asked) as asked:
        view.action_row.versions.before.click()
    assert asked.args == [1]


def marked(view: AnswerView) -> list[str]:
    """Return the marked texts of the thought and of the answer."""
    return [
        selection.cursor.selectedText()
        for body in (view.thought.body, view.body)
        for selection in body.extraSelections()
    ]


def test_search_matches_are_marked_in_place(view: AnswerView, qtbot: QtBot) -> None:
    view.finish(text="Nothing here.\n\n" * 40 + "The 🌊 **sea** and the `seaside`.")
    with qtbot.waitSignal(view.found) as found:
        view.seek("SEA")
    qtbot.waitUntil(lambda: marked(view) == ["sea", "sea"])
    assert view.body.height() / 2 < found.args[0] < view.body.height()
    with qtbot.waitSignal(view.found) as found:
        view.seek("mountain")
    assert found.args == [0]
    qtbot.waitUntil(lambda: marked(view) == [])


def test_a_very_long_answer_is_searched_once_it_is_fully_shown(view: AnswerView, qtbot: QtBot) -> None:
    view.finish(text="A paragraph.\n\n" * 3_000 + "The end.")
    view.seek("end")
    with qtbot.waitSignal(view.found, timeout=60_000) as found:
        pass
    assert found.args[0] > 10_000
    assert marked(view) == ["end"]


def test_a_thought_is_expanded_if_only_it_contains_a_match(view: AnswerView, qtbot: QtBot) -> None:
    view.finish(text="<think>\nOf whales.\n</think>\n\nOf the sea.")
    with qtbot.waitSignal(view.found):
        view.seek("sea")
    assert not view.thought.switch.isChecked()
    with qtbot.waitSignal(view.found):
        view.seek("whale")
    assert view.thought.switch.isChecked()
    assert marked(view) == ["whale"]
