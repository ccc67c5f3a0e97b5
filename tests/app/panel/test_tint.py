"""Colours of the answer: which characters have them, and the tool tips."""

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from app.conversation.answer_view import AnswerView
from app.panel.origins import Alternative, Origin, Origins
from app.panel.tint import ColourRun, Tint, origin_text, runs
from app.widgets import theme
from engine.tree import SOURCE_DRAFT, SOURCE_NGRAM

TEXT = "The **quick** brown fox."


def origin(start: int, end: int, source: int, iteration: int = 1) -> Origin:
    return Origin(
        start, end, source, 0.5, (Alternative(" quick", 0.5), Alternative(" slow", 0.25)), iteration
    )


def origins(*ranges: Origin) -> Origins:
    made = Origins()
    made.ranges = list(ranges)
    return made


def test_adjacent_ranges_of_a_source_are_joined_and_the_targets_own_are_left_out() -> None:
    ranges = [
        origin(0, 3, SOURCE_DRAFT),
        origin(3, 6, SOURCE_DRAFT),
        origin(6, 8, 0),
        origin(8, 9, SOURCE_DRAFT),
        origin(9, 12, SOURCE_NGRAM),
    ]
    assert runs(ranges) == [
        ColourRun(0, 6, SOURCE_DRAFT),
        ColourRun(8, 9, SOURCE_DRAFT),
        ColourRun(9, 12, SOURCE_NGRAM),
    ]


@pytest.fixture
def view(qtbot: QtBot) -> AnswerView:
    view = AnswerView()
    qtbot.addWidget(view)
    view.resize(400, 200)
    view.show()
    view.finish(text=TEXT)
    return view


def coloured(view: AnswerView) -> list[str]:
    return [
        selection.cursor.selectedText() for _, body in view.bodies() for selection in body.extraSelections()
    ]


def test_rendered_text_is_coloured_and_only_when_switched_on(view: AnswerView) -> None:
    tint = Tint()
    tint.follow(view, origins(origin(3, 13, SOURCE_DRAFT), origin(13, 19, 0), origin(19, 24, SOURCE_NGRAM)))
    assert coloured(view) == []
    tint.set_on(True)
    assert "".join(coloured(view)) == " quick fox."
    tint.look_at(13, 19)
    assert "".join(coloured(view)) == " quick fox. brown"
    tint.set_on(False)
    assert coloured(view) == []


def test_the_colours_are_there_again_after_a_change_of_theme(view: AnswerView, qtbot: QtBot) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    tint = Tint()
    tint.follow(view, origins(origin(3, 13, SOURCE_DRAFT)))
    tint.set_on(True)
    before = coloured(view)
    assert before
    with qtbot.waitSignal(view.rendered):
        theme.dress(app, Qt.ColorScheme.Dark)
    assert coloured(view) == before
    tint.follow(None, Origins())
    assert coloured(view) == []


def place_of(view: AnswerView, word: str) -> tuple[object, QPoint]:
    ((_, body),) = view.bodies()
    cursor = body.document().find(word)
    cursor.setPosition(cursor.selectionStart())
    return body.viewport(), body.cursorRect(cursor).center() + QPoint(6, 0)


def test_hovering_describes_a_token_and_a_click_asks_for_its_iteration(
    view: AnswerView, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda at, text, *_: texts.append(text))
    tint = Tint()
    tint.follow(view, origins(origin(3, 13, SOURCE_DRAFT, iteration=7)))
    asked: list[int] = []
    tint.position_asked.connect(asked.append)
    tint.set_on(True)
    viewport, at = place_of(view, "quick")
    QApplication.sendEvent(viewport, QHelpEvent(QEvent.Type.ToolTip, at, at))
    assert "draft model" in texts[-1]
    assert "iteration 7" in texts[-1]
    assert "slow" in texts[-1]
    click = QMouseEvent(
        QEvent.Type.MouseButtonRelease,
        QPointF(at),
        QPointF(at),
        Qt.MouseButton.LeftButton,
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(viewport, click)
    assert asked == [3]
    viewport, at = place_of(view, "brown")
    QApplication.sendEvent(viewport, QHelpEvent(QEvent.Type.ToolTip, at, at))
    assert texts[-1] == ""


def test_the_tool_tip_names_the_targets_own_tokens() -> None:
    assert origin_text(origin(0, 1, 0)).startswith("the target's own token · ")
