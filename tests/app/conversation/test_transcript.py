import time

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.conversation.message_editor import MessageEditor
from app.conversation.question_view import MAX_ALL, MAX_SHOWN, QuestionView
from app.conversation.transcript import MOST_SHOWN, Transcript
from app.rendering.message_actions import Action
from app.rendering.text_body import TextBody
from app.store import AnswerReport, ChatSettings, ModelPair, ShownMessage, StoredMessage
from app.widgets.notice import Notice
from tests.app.fake_engine import answer, loaded

ROLES = {1: "user", 0: "assistant"}


@pytest.fixture
def transcript(qtbot: QtBot) -> Transcript:
    transcript = Transcript()
    qtbot.addWidget(transcript)
    transcript.resize(500, 300)
    transcript.show()
    qtbot.waitExposed(transcript)
    return transcript


def path(*texts: str) -> list[ShownMessage]:
    """Return a path of alternating questions and answers."""
    return [
        ShownMessage(
            StoredMessage(id=n, parent=n - 1 or None, role=ROLES[n % 2], text=text, created_at=0), (n,)
        )
        for n, text in enumerate(texts, start=1)
    ]


def texts(transcript: Transcript) -> list[str]:
    return [row.view.findChild(TextBody).toPlainText() for row in transcript.rows]


def at_end(transcript: Transcript) -> bool:
    bar = transcript.verticalScrollBar()
    return bar.maximum() > 0 and bar.value() == bar.maximum()


def test_it_stays_at_the_end_until_scrolled_up(transcript: Transcript, qtbot: QtBot) -> None:
    transcript.open(path("question", "line\n\n" * 60), answering=2)
    bar = transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: at_end(transcript) and bar.maximum() > 500)  # a busy machine renders in pieces
    assert not transcript.jump.isVisible()
    transcript.verticalScrollBar().setValue(10)
    assert transcript.jump.isVisible()
    transcript.show_path(path("question", "line\n\n" * 120), answering=None)
    qtbot.waitUntil(lambda: transcript.verticalScrollBar().maximum() > 2000)
    assert transcript.verticalScrollBar().value() == 10
    transcript.jump.click()
    assert at_end(transcript)
    assert not transcript.jump.isVisible()


def test_a_suggestion_is_emitted(transcript: Transcript, qtbot: QtBot) -> None:
    button = transcript.empty_state.suggestions[0]
    with qtbot.waitSignal(transcript.suggested) as suggested:
        button.click()
    assert suggested.args == [button.text()]


def test_another_chat_keeps_a_notice(transcript: Transcript, qtbot: QtBot) -> None:
    notice = Notice("message", "hint", "do")
    transcript.open(path("a", "b"), None)
    transcript.show_notice(notice)
    transcript.open(path("c", "d", "e"), None)
    qtbot.waitUntil(lambda: notice.y() > transcript.rows[-1].y())
    assert texts(transcript) == ["c", "d", "e"]
    transcript.open([], None)
    assert not transcript.empty_state.isHidden()
    assert not notice.isHidden()


def test_unchanged_messages_keep_their_rows(transcript: Transcript) -> None:
    transcript.open(path("a", "b", "c", "d"), None)
    views = [row.view for row in transcript.rows]
    other = path("a", "b", "c", "d", "e")
    message = structs.replace(other[2].message, id=9, text="another")
    versions = ShownMessage(message, (3, 9))
    transcript.show_path([*other[:2], versions], None)
    assert [row.view for row in transcript.rows][:2] == views[:2]
    assert texts(transcript) == ["a", "b", "another"]
    transcript.show_path(path("a", "b", "c", ""), answering=4)
    assert transcript.answer is transcript.rows[3].view
    transcript.answer.append("so ")
    transcript.answer.append("far")
    transcript.show_path(path("a", "b", "c", "so far, and the end"), None)
    assert transcript.answer is None
    assert texts(transcript) == ["a", "b", "c", "so far, and the end"]


def test_a_long_chat_shows_its_end_first_and_earlier_messages_on_request(transcript: Transcript) -> None:
    many = path(*(f"text {n}" for n in range(3 * MOST_SHOWN)))
    transcript.open(many, None)
    assert len(transcript.rows) == MOST_SHOWN
    transcript.show_path([*many, *path("x")], None)
    assert len(transcript.rows) == MOST_SHOWN + 1, "nothing that was shown goes away"
    transcript.earlier.click()
    transcript.earlier.click()
    assert texts(transcript)[:2] == ["text 0", "text 1"]
    assert transcript.earlier.isHidden()


def test_a_chat_that_grows_keeps_no_more_rows_than_one_that_is_opened(transcript: Transcript) -> None:
    texts_said = [f"text {n}" for n in range(3 * MOST_SHOWN)]
    for count in range(2, len(texts_said) + 1, 2):
        transcript.show_path(path(*texts_said[:count]), answering=count)
        transcript.follow()
    assert [row.view.text for row in transcript.rows] == texts_said[-MOST_SHOWN:]
    assert not transcript.earlier.isHidden()
    transcript.earlier.click()
    assert [row.view.text for row in transcript.rows] == texts_said[-2 * MOST_SHOWN :]


def test_a_row_with_an_editor_stays_however_long_the_chat_grows(transcript: Transcript) -> None:
    many = path(*(f"text {n}" for n in range(2 * MOST_SHOWN)))
    transcript.open(many[:MOST_SHOWN], None)
    edited = transcript.rows[0]
    edited.edit()
    transcript.show_path(many, None)
    transcript.follow()
    assert transcript.rows[0] is edited
    assert edited.editor


def test_a_question_is_plain_text(qtbot: QtBot) -> None:
    view = QuestionView("<b>bold</b> **too** ![x](y.png)")
    qtbot.addWidget(view)
    assert view.findChild(TextBody).toPlainText() == "<b>bold</b> **too** ![x](y.png)"


def test_a_long_question_is_cut_on_the_screen(qtbot: QtBot) -> None:
    view = QuestionView("x" * 1_000_000)
    qtbot.addWidget(view)
    assert len(view.findChild(TextBody).toPlainText()) == MAX_SHOWN


def test_messages_are_edited_in_place_and_only_when_allowed(transcript: Transcript, qtbot: QtBot) -> None:
    transcript.open(path("question", "answer"), None)
    question, answer = (row.view for row in transcript.rows)
    assert not transcript.findChild(MessageEditor)
    transcript.allow_changes(True)
    edited: list[tuple[int, str]] = []
    transcript.edited.connect(lambda *change: edited.append(change))
    answer.asked.emit(Action.EDIT)
    editor = transcript.rows[1].editor
    assert not answer.isVisible()
    qtbot.keyClick(editor.editor, Qt.Key.Key_Escape)
    assert answer.isVisible()
    question.asked.emit(Action.EDIT)
    editor = transcript.rows[0].editor
    editor.editor.setPlainText("  ")
    assert not editor.save.isEnabled()
    editor.editor.setPlainText("another question")
    qtbot.keyClick(editor.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert edited == [(1, "another question")]
    assert question.isVisible()


@pytest.mark.parametrize(("key", "held"), [("enter", "NoModifier"), ("ctrl_enter", "ControlModifier")])
def test_the_key_that_sends_also_saves_a_changed_message(
    transcript: Transcript, qtbot: QtBot, key: str, held: str
) -> None:
    transcript.send_with(key)
    transcript.open(path("question", "answer"), None)
    transcript.allow_changes(True)
    transcript.edit_last_question()
    editor = transcript.rows[0].editor
    other = "ShiftModifier" if key == "enter" else "NoModifier"
    with qtbot.assertNotEmitted(transcript.edited):
        qtbot.keyClick(editor.editor, Qt.Key.Key_Return, Qt.KeyboardModifier[other])
    assert editor.editor.toPlainText() == "question\n"
    with qtbot.waitSignal(transcript.edited) as edited:
        qtbot.keyClick(editor.editor, Qt.Key.Key_Return, Qt.KeyboardModifier[held])
    assert edited.args == [1, "question\n"]


def test_the_key_that_sends_can_change_while_a_message_is_edited(
    transcript: Transcript, qtbot: QtBot
) -> None:
    transcript.open(path("question", "answer"), None)
    transcript.allow_changes(True)
    transcript.edit_last_question()
    transcript.send_with("ctrl_enter")
    editor = transcript.rows[0].editor
    qtbot.keyClick(editor.editor, Qt.Key.Key_Return)
    assert editor.editor.toPlainText() == "question\n"
    assert editor.save.toolTip().startswith("Ctrl+Enter")


def test_the_editor_of_a_message_is_in_view(transcript: Transcript, qtbot: QtBot) -> None:
    transcript.open(path(*["question", "answer"] * 6), None)
    transcript.allow_changes(True)
    bar = transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.value() == bar.maximum() > 0)
    transcript.rows[0].view.asked.emit(Action.EDIT)
    editor = transcript.rows[0].editor

    def is_in_view() -> bool:
        top = editor.mapTo(transcript.viewport(), editor.rect().topLeft()).y()
        return top >= 0 and top + editor.height() <= transcript.viewport().height()

    qtbot.waitUntil(is_in_view)


def test_an_open_editor_takes_the_focus_again(transcript: Transcript, qtbot: QtBot) -> None:
    transcript.open(path("question", "answer"), None)
    transcript.allow_changes(True)
    transcript.activateWindow()
    transcript.edit_last_question()
    editor = transcript.rows[0].editor
    editor.editor.setPlainText("half a change")
    transcript.setFocus()
    transcript.edit_last_question()
    assert transcript.findChildren(MessageEditor) == [editor]
    qtbot.waitUntil(editor.editor.hasFocus)
    assert editor.editor.toPlainText() == "half a change"


def test_a_change_is_saved_only_while_messages_can_be_changed(transcript: Transcript, qtbot: QtBot) -> None:
    chat = path("question", "answer")
    transcript.allow_changes(True)
    transcript.open(chat, None)
    transcript.rows[0].edit()
    transcript.rows[0].editor.editor.setPlainText("half a change")
    transcript.open([], None)
    transcript.allow_changes(False)
    transcript.open(chat, None)
    editor = transcript.rows[0].editor
    editor.editor.setPlainText("another change")
    assert not editor.save.isEnabled()
    with qtbot.assertNotEmitted(transcript.edited):
        qtbot.keyClick(editor.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    transcript.allow_changes(True)
    with qtbot.waitSignal(transcript.edited) as edited:
        editor.save.click()
    assert edited.args == [1, "another change"]


def test_versions_are_requested_by_message_id(transcript: Transcript) -> None:
    first, answer = path("question", "answer")
    transcript.open([first, ShownMessage(answer.message, (2, 7, 9))], None)
    asked: list[int] = []
    transcript.version_asked.connect(asked.append)
    transcript.rows[1].view.version_asked.emit(3)
    assert asked == [9]


@pytest.mark.parametrize(("stop_reason", "offered"), [("cancelled", True), ("end_of_sequence", False)])
def test_only_an_answer_that_was_cut_off_can_be_continued(
    transcript: Transcript, stop_reason: str, offered: bool
) -> None:
    first, answered = path("question", "answer")
    report = AnswerReport.of(
        structs.replace(answer(1), stop_reason=stop_reason), ChatSettings(), ModelPair.of(loaded(1))
    )
    message = structs.replace(answered.message, reports=[report])
    transcript.allow_changes(True)
    transcript.open([first, ShownMessage(message, (2,))], None)
    assert (Action.CONTINUE in shown_actions(transcript, 1)) is offered


def shown_actions(transcript: Transcript, place: int) -> set[Action]:
    buttons = transcript.rows[place].view.action_row.buttons
    return {action for action, button in buttons.items() if not button.isHidden()}


@pytest.mark.parametrize(("reports", "offered"), [(0, False), (1, True), (2, False)])
def test_only_an_answer_of_one_run_can_be_repeated_with_its_seed(
    transcript: Transcript, reports: int, offered: bool
) -> None:
    """An answer the user wrote has no report, and a continued one had two prompts."""
    first, answered = path("question", "answer")
    report = AnswerReport.of(answer(1), ChatSettings(), ModelPair.of(loaded(1)))
    message = structs.replace(answered.message, reports=[report] * reports)
    transcript.allow_changes(True)
    transcript.open([first, ShownMessage(message, (2,))], None)
    assert (Action.AGAIN in shown_actions(transcript, 1)) is offered
    asked: list[int] = []
    transcript.again_asked.connect(asked.append)
    transcript.rows[1].asked.emit(Action.AGAIN)
    assert asked == [2]


def test_a_match_stays_in_view_while_messages_above_grow(transcript: Transcript, qtbot: QtBot) -> None:
    long = "A paragraph.\n\n" * 400
    transcript.open(path("q", long, "q", long + "The whale.\n\n" + long, "q", long), None)
    transcript.jump_to(4, "whale")
    bodies = [row.view.findChild(TextBody) for row in transcript.rows]
    qtbot.waitUntil(lambda: bool(bodies[3].extraSelections()), timeout=20_000)
    qtbot.waitUntil(lambda: all(bodies[n].parent().is_up_to_date for n in (1, 3, 5)), timeout=20_000)
    (hit,) = bodies[3].extraSelections()
    assert hit.cursor.selectedText() == "whale"

    def is_seen() -> bool:
        top = bodies[3].mapTo(transcript.viewport(), bodies[3].cursorRect(hit.cursor).topLeft()).y()
        return 0 < top < transcript.viewport().height() / 2

    qtbot.waitUntil(is_seen)
    bar = transcript.verticalScrollBar()

    def grow() -> None:
        before = bar.maximum()
        bodies[1].setFixedHeight(bodies[1].height() + 700)
        qtbot.waitUntil(lambda: bar.maximum() >= before + 700)

    grow()
    assert is_seen()
    bar.triggerAction(bar.SliderAction.SliderToMinimum)  # the user scrolls
    grow()
    assert bar.value() == 0


def test_a_long_question_is_shown_piece_by_piece(qtbot: QtBot) -> None:
    view = QuestionView("x" * (MAX_ALL + 1))
    qtbot.addWidget(view)
    view.resize(1200, 400)  # as in a wide window: of narrower lines there are more
    view.show()
    shown = []
    assert view.rest is not None
    while view.rest.more.isVisible():
        shown.append(len(view.body.toPlainText()))
        clock = time.thread_time()  # not what other programs take
        view.rest.more.click()
        view.grab()
        assert time.thread_time() - clock < 1
    assert shown == [MAX_SHOWN, 4 * MAX_SHOWN]
    assert len(view.body.toPlainText()) == MAX_ALL
    assert view.text == "x" * (MAX_ALL + 1)
    short = QuestionView("x")
    qtbot.addWidget(short)
    assert short.rest is None


def test_what_is_being_edited_stays_while_its_row_is_away(transcript: Transcript) -> None:
    many, other = path(*(f"text {n}" for n in range(2 * MOST_SHOWN))), path("a", "b")[:1]
    transcript.open(many, None)
    last = transcript.rows[-2]
    last.edit()
    last.editor.editor.setPlainText("half a change")
    transcript.rows[-1].edit()
    transcript.earlier.click()
    assert transcript.rows[-2].editor.editor.toPlainText() == "half a change"
    assert transcript.rows[-1].editor is None, "nothing was changed there"
    transcript.open([ShownMessage(structs.replace(other[0].message, id=999), (999,))], None)
    assert not transcript.is_editing
    transcript.open(many, None)
    assert transcript.rows[-2].editor.editor.toPlainText() == "half a change"
    transcript.rows[-2].editor.leave.click()
    transcript.open([], None)
    transcript.open(many, None)
    assert not transcript.is_editing


def test_the_last_question_is_in_view_while_it_is_edited(transcript: Transcript, qtbot: QtBot) -> None:
    transcript.allow_changes(True)
    transcript.open(path("question", "line\n\n" * 60, "another", "an answer"), None)
    bar = transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: at_end(transcript) and bar.maximum() > 500)
    bar.setValue(0)
    transcript.edit_last_question()
    editor = transcript.rows[2].editor
    qtbot.waitUntil(lambda: not editor.visibleRegion().isEmpty())
