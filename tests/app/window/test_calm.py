"""The first view is calm: no words of the field, no figures, and nothing moves while a model loads."""

from collections.abc import Callable, Iterator

import pytest
from msgspec import structs
from PySide6.QtCore import QEvent, QLocale, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QEnterEvent, QImage, QRegion
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.conversation.answer_view import AnswerView
from app.panel import calibration
from app.preferences import PreferencesFile, RecentPair, WindowState
from app.startup import languages
from app.window.window import Window
from engine.assets import RESOURCES
from engine.protocol import messages
from engine.protocol.messages import LoadProgress, Memory, MemoryPart
from tests.app.fake_engine import FakeConnection, FakeEngines, answer, grown, loaded, verdict
from tests.app.seen import JARGON, texts
from tests.app.window.test_window import ask, delta, reach

STAGES = ("libraries", "reading", "tokenizer", "planning", "kernels", "draft", "target", "compiling")


def demo(request: int) -> messages.Loaded:
    """The embedded model, loaded with everything that its details can name."""
    path = str(RESOURCES / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf")
    model = structs.replace(loaded(request).target, name="SmolLM2-135M-Instruct", path=path)
    parts = [MemoryPart(what="target", tier="ram", nbytes=98_000_000)]
    memory = Memory(vram=0, ram=98_000_000, peak=98_000_000, parts=parts)
    return structs.replace(loaded(request), target=model, draft=model, dtype="bfloat16", memory=memory)


def load_demo(connection: FakeConnection, request: messages.Request) -> None:
    if isinstance(request, messages.Load):
        connection.say(demo(request.id))


def hold(connection: FakeConnection, request: messages.Request) -> None:
    """Answer nothing: the test says when a model is loaded."""


def last_view(window: Window) -> AnswerView:
    view = window.transcript.rows[-1].view
    assert isinstance(view, AnswerView)
    return view


# -- words ---------------------------------------------------------------------------------------------------


def test_the_first_view_has_no_jargon(make_window: Callable[..., Window], qtbot: QtBot) -> None:
    engines = FakeEngines(hold)
    window = make_window(engines)
    qtbot.waitUntil(lambda: bool(engines.made) and bool(engines.last.asked(messages.Load)))
    seen = set(texts(window))
    (load,) = engines.last.asked(messages.Load)
    for stage in STAGES:
        engines.last.say(LoadProgress(request=load.id, stage=stage, done=1, total=2, layer=1, layers=2))
        state = window.header.status.state
        before = state.text()
        qtbot.waitUntil(lambda state=state, before=before: state.text() != before)
        seen |= set(texts(window))
    engines.last.say(demo(load.id))
    reach(window, qtbot, State.READY)
    seen |= set(texts(window))
    request = ask(window, engines, qtbot, "hello")
    engines.last.say(grown(request))
    qtbot.waitUntil(lambda: "guessing" in window.header.status.state.text())
    seen |= set(texts(window))
    engines.last.say(delta(request, "Hel"), verdict(request))
    qtbot.waitUntil(lambda: "tokens/s" in window.header.status.state.text())
    seen |= set(texts(window))
    engines.last.say(answer(request, "Hello."))
    reach(window, qtbot, State.READY)
    qtbot.waitUntil(lambda: "Hello." in texts(window))
    seen |= set(texts(window))
    assert {"hello", "Hello.", "SmolLM2-135M-Instruct", "2.0 tokens per pass: see why"} <= seen
    assert any("tiny demo model" in text for text in seen)
    assert {text for text in seen if JARGON.search(text)} == set()


def test_the_check_finds_jargon(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    engines.last.say(answer(ask(window, engines, qtbot), "Hello."))
    reach(window, qtbot, State.READY)
    window.header.panel_switch.setChecked(True)
    assert any(JARGON.search(text) for text in texts(window))


# -- the panel -----------------------------------------------------------------------------------------------


def test_the_panel_opens_from_the_line_under_the_answer(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    assert not window.panel.isVisible()
    request = ask(window, engines, qtbot)
    engines.last.say(verdict(request), answer(request))
    reach(window, qtbot, State.READY)
    speed = last_view(window).speed
    assert speed.text() == "2.0 tokens per pass: see why"
    qtbot.mouseClick(speed, Qt.MouseButton.LeftButton)
    assert window.panel.isVisible()
    assert window.header.panel_switch.isChecked()
    assert window.panel.speed_page.isVisible()
    assert "2.00 tokens on average" in window.panel.speed_page.text.text()


def test_only_the_newest_answer_has_the_line(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    for text in ("One.", "Two."):
        engines.last.say(answer(ask(window, engines, qtbot), text))
        reach(window, qtbot, State.READY)
    views = [row.view for row in window.transcript.rows if isinstance(row.view, AnswerView)]
    assert [bool(view.speed.text()) for view in views] == [False, True]


def test_the_line_compares_with_plain_decoding_once_that_is_measured(
    window: Window, engines: FakeEngines, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[float] = []
    monkeypatch.setattr(calibration, "plain_speed", lambda loaded: measured[-1] if measured else None)
    engines.last.say(answer(ask(window, engines, qtbot)))
    reach(window, qtbot, State.READY)
    assert "plain" not in last_view(window).speed.text()
    measured.append(6.0)
    window.core.calibration.finished.emit()
    assert last_view(window).speed.text() == "2.0 tokens per pass, 2.1 × plain: see why"


def test_the_line_is_there_again_after_a_look_at_another_chat(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    request = ask(window, engines, qtbot)
    engines.last.say(verdict(request), answer(request))
    reach(window, qtbot, State.READY)
    chat = window.chat.id
    window.chat.open(None)
    window.chat.open(chat)
    assert last_view(window).speed.text() == "2.0 tokens per pass: see why"


def test_a_panel_that_was_open_opens_again(
    make_window: Callable[..., Window], engines: FakeEngines, preferences: PreferencesFile
) -> None:
    preferences.change(window=WindowState(panel=True))
    assert make_window(engines).panel.isVisible()


# -- the row under an answer ---------------------------------------------------------------------------------


def inked(widget: QWidget) -> bool:
    """Return whether a widget paints anything on what lies behind it."""
    image = QImage(widget.size(), QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    widget.render(image, QPoint(), QRegion(), QWidget.RenderFlag(0))
    return any(image.pixelColor(x, y).alpha() for x in range(image.width()) for y in range(image.height()))


def places(window: Window) -> list[QRect]:
    view = last_view(window)
    parts = (view, view.body, view.figures, view.speed, view.action_row, *view.action_row.buttons.values())
    return [QRect(part.mapTo(window, QPoint()), part.size()) for part in parts]


@pytest.mark.parametrize("reveals", ["pointer", "focus on an icon", "focus in the text"])
def test_icons_show_where_the_user_is_and_nothing_moves(
    window: Window, engines: FakeEngines, qtbot: QtBot, reveals: str
) -> None:
    engines.last.say(answer(ask(window, engines, qtbot), "Hello."))
    reach(window, qtbot, State.READY)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.grab()
    row, view = window.transcript.rows[-1], last_view(window)
    icons = [view.action_row.copy, *view.action_row.buttons.values()]
    assert len(icons) > 3
    before = places(window)
    assert not any(map(inked, icons))
    assert inked(view.figures)
    match reveals:
        case "pointer":
            QApplication.sendEvent(row, QEnterEvent(QPointF(), QPointF(), QPointF()))
        case "focus on an icon":
            view.action_row.copy.setFocus(Qt.FocusReason.TabFocusReason)
        case "focus in the text":
            view.body.setFocus(Qt.FocusReason.MouseFocusReason)
    window.grab()
    assert all(map(inked, icons))
    assert places(window) == before
    QApplication.sendEvent(row, QEvent(QEvent.Type.Leave))
    window.composer.setFocus()
    assert not any(map(inked, icons))


def test_the_end_of_an_answer_moves_nothing(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    request = ask(window, engines, qtbot)
    engines.last.say(delta(request, "Hello."))
    view = last_view(window)
    qtbot.waitUntil(lambda: view.body.toPlainText() == "Hello." and view.height() < 4 * view.body.height())
    before = view.geometry(), view.body.geometry()
    engines.last.say(answer(request, "Hello."))
    reach(window, qtbot, State.READY)
    window.grab()
    assert view.speed.isVisible()
    assert (view.geometry(), view.body.geometry()) == before


def test_the_figures_open_as_text_to_select(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    engines.last.say(answer(ask(window, engines, qtbot), "Hello."))
    reach(window, qtbot, State.READY)
    button = last_view(window).figures
    assert button.text() == "12.5 tokens/s"
    assert button.width() == button.sizeHint().width(), "all of the speed is shown"
    assert "Seed: 7" in button.toolTip()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    table = QApplication.activePopupWidget()
    assert table is not None
    shown = {label.accessibleName(): label for label in table.findChildren(QLabel) if label.accessibleName()}
    assert shown["Seed"].text() == "7"
    assert shown["Seed"].textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse
    qtbot.keyClick(table, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is None)


# -- while a model loads -------------------------------------------------------------------------------------


def layout_of(window: Window) -> dict[str, QRect]:
    QApplication.processEvents()  # the panes take their widths once the window has its size
    window.grab()  # lays everything out
    header = window.header
    parts: dict[str, QWidget] = {
        "transcript": window.transcript,
        "composer": window.composer,
        "field": window.composer.editor,
        "button": window.composer.button,
        "header": header,
        "status": header.status,
        "progress": header.status.progress,
        "settings": header.settings,
    }
    return {name: QRect(part.mapTo(window, QPoint()), part.size()) for name, part in parts.items()}


@pytest.fixture(params=["en", "ko", "zh_CN"])
def language(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[None]:
    """Each language: glyphs of other fonts may be taller."""
    languages.install(qapp, request.param)
    yield
    languages.install(qapp, "en")
    QLocale.setDefault(QLocale.c())


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize(
    "is_asked", [False, True], ids=["empty chat", "chat that fills a third of the context"]
)
def test_nothing_moves_while_a_model_loads(
    make_window: Callable[..., Window], qtbot: QtBot, is_asked: bool
) -> None:
    engines = FakeEngines(hold)
    engines.gate.clear()
    window = make_window(engines)
    layouts = [layout_of(window)]
    engines.gate.set()
    qtbot.waitUntil(lambda: bool(engines.made) and bool(engines.last.asked(messages.Load)))
    layouts.append(layout_of(window))
    engines.last.say(demo(engines.last.asked(messages.Load)[-1].id))
    reach(window, qtbot, State.READY)
    layouts.append(layout_of(window))
    if is_asked:
        given = answer(ask(window, engines, qtbot), "Hello.")
        engines.last.say(structs.replace(given, prompt_tokens=700))
        reach(window, qtbot, State.READY)
        layouts = [layout_of(window)]
    window.load(RecentPair("another-model-with-a-name-that-is-much-longer-than-the-first.gguf", "none"))
    reach(window, qtbot, State.LOADING)
    layouts.append(layout_of(window))
    request = engines.last.asked(messages.Load)[-1].id
    for stage in STAGES:
        engines.last.say(LoadProgress(request=request, stage=stage, done=1, total=2))
        before = window.header.status.state.text()
        qtbot.waitUntil(lambda before=before: window.header.status.state.text() != before)
        layouts.append(layout_of(window))
    engines.last.say(loaded(request))
    reach(window, qtbot, State.READY)
    layouts.append(layout_of(window))
    for layout in layouts[1:]:
        assert layout == layouts[0]
