import pytest
from pytestqt.qtbot import QtBot

from app.notice import Notice
from app.question_view import MAX_SHOWN, QuestionView
from app.text_body import TextBody
from app.transcript import Transcript


@pytest.fixture
def transcript(qtbot: QtBot) -> Transcript:
    transcript = Transcript()
    qtbot.addWidget(transcript)
    transcript.resize(500, 300)
    transcript.show()
    qtbot.waitExposed(transcript)
    return transcript


def fill(transcript: Transcript) -> None:
    transcript.add_turn("question")
    transcript.answer.append("line\n\n" * 60)
    transcript.answer.finish("done")


def at_end(transcript: Transcript) -> bool:
    bar = transcript.verticalScrollBar()
    return bar.maximum() > 0 and bar.value() == bar.maximum()


def test_it_follows_its_end_until_scrolled_up(transcript: Transcript, qtbot: QtBot) -> None:
    fill(transcript)
    qtbot.waitUntil(lambda: at_end(transcript))
    assert not transcript.jump.isVisible()
    transcript.verticalScrollBar().setValue(10)
    assert transcript.jump.isVisible()
    transcript.answer.finish("done", "line\n\n" * 120)
    qtbot.waitUntil(lambda: transcript.verticalScrollBar().maximum() > 2000)
    assert transcript.verticalScrollBar().value() == 10
    transcript.jump.click()
    assert at_end(transcript)
    assert not transcript.jump.isVisible()


def test_a_suggestion_is_passed_on(transcript: Transcript, qtbot: QtBot) -> None:
    button = next(b for b in transcript._empty.children() if getattr(b, "click", None))
    with qtbot.waitSignal(transcript.suggested):
        button.click()


def test_clearing_keeps_a_notice(transcript: Transcript) -> None:
    fill(transcript)
    transcript.show_notice(Notice("message", "hint", "do"))
    transcript.clear()
    assert transcript.answer is None
    assert [type(view) for view in transcript._views()] == [Notice]
    transcript.clear_notice()
    assert transcript._views() == []


def test_a_question_is_plain_text(qtbot: QtBot) -> None:
    view = QuestionView("<b>bold</b> **too** ![x](y.png)")
    qtbot.addWidget(view)
    assert view.findChild(TextBody).toPlainText() == "<b>bold</b> **too** ![x](y.png)"


def test_a_long_question_is_cut_on_the_screen(qtbot: QtBot) -> None:
    view = QuestionView("x" * 1_000_000)
    qtbot.addWidget(view)
    assert len(view.findChild(TextBody).toPlainText()) == MAX_SHOWN
