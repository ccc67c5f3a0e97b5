import time
from collections.abc import Callable

import pytest
from msgspec import structs
from PySide6.QtCore import QElapsedTimer, QMimeData, Qt, QUrl
from PySide6.QtGui import QAccessible, QDesktopServices
from PySide6.QtWidgets import QAbstractButton, QMessageBox, QPlainTextEdit, QTextEdit
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.connection.mailbox import MOST_VERDICTS
from app.conversation.answer_view import AnswerView
from app.conversation.link_question import ask_to_open
from app.preferences import PreferencesFile, RecentPair, WindowState
from app.rendering.message_actions import Action
from app.settings.dialog import SettingsDialog
from app.store import Store
from app.widgets import motion
from app.widgets.remark_words import words_of
from app.window.arguments import Arguments
from app.window.keyboard_page import KeyboardPage
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeConnection, FakeEngines, answer, grown, load_at_once, loaded, verdict
from tests.app.seen import labels


def ask(window: Window, engines: FakeEngines, qtbot: QtBot, text: str = "hello") -> int:
    """Type a question and press Enter; return the id of the last request for an answer, or 0."""
    window.composer.write(text)
    qtbot.keyClick(window.composer.editor, Qt.Key.Key_Return)
    return last_request(engines)


def last_request(engines: FakeEngines) -> int:
    """Return the id of the last request for an answer, or 0."""
    requests = engines.last.asked(messages.Chat) if engines.made else []
    return requests[-1].id if requests else 0


def delta(request: int, text: str) -> messages.TextDelta:
    return messages.TextDelta(request=request, text=text, tokens=1)


def reach(window: Window, qtbot: QtBot, state: State) -> None:
    qtbot.waitUntil(lambda: window.engine.state is state)


def last_answer(window: Window) -> AnswerView:
    view = window.transcript.rows[-1].view
    assert isinstance(view, AnswerView)
    return view


def notice_text(window: Window) -> str:
    notice = window.transcript.notice
    assert notice is not None
    return f"{notice.accessibleName()} {notice.accessibleDescription()}"


def test_arguments_reach_the_engine(
    make_window: Callable[..., Window], engines: FakeEngines, qtbot: QtBot
) -> None:
    window = make_window(engines, Arguments("m.gguf", "none", "recycling", 64))
    reach(window, qtbot, State.READY)
    ask(window, engines, qtbot)
    load, chat = engines.last.requests
    assert (load.target, load.draft) == ("m.gguf", "none")
    assert (chat.options.drafter, chat.options.budget) == ("recycling", 64)


def test_an_answer_is_streamed_and_summed_up(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    request = ask(window, engines, qtbot)
    assert window.composer.editor.toPlainText() == ""
    view = window.transcript.answer
    engines.last.say(messages.PrefillProgress(request=request, done=5, total=12))
    qtbot.waitUntil(lambda: "5 of 12" in view.status.text())
    engines.last.say(delta(request, "**Hel"))
    qtbot.waitUntil(lambda: view.body.toPlainText() == "**Hel")
    engines.last.say(delta(request, "lo**."), verdict(request), answer(request, "**Hello**."))
    reach(window, qtbot, State.READY)
    assert view.body.toPlainText() == "Hello."
    assert view.figures.accessibleDescription().splitlines() == [
        "Tokens: 3",
        "Speed: 12.5 tokens/s",
        "Tokens per pass: 2.00",
        "First token after: 0.25 s",
        "Seed: 7",
        "End: complete",
        "Model: Tiny-135M-Instruct",
    ]
    assert "12.5" in labels(window.panel.stats)


def test_escape_stops_and_keeps_the_text(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    request = ask(window, engines, qtbot)
    engines.last.script = lambda *_: None
    engines.last.say(delta(request, "Half an ans"))
    qtbot.waitUntil(lambda: window.transcript.answer.text != "")
    qtbot.keyClick(window.composer.editor, Qt.Key.Key_Escape)
    assert len(engines.last.asked(messages.Cancel)) == 1
    qtbot.keyClick(window.composer.editor, Qt.Key.Key_Escape)
    assert len(engines.last.asked(messages.Cancel)) == 1
    engines.last.say(delta(request, "wer"), answer(request, "Half an answer", "cancelled"))
    reach(window, qtbot, State.READY)
    assert last_answer(window).body.toPlainText() == "Half an answer"
    assert last_answer(window).ending.text() == "Stopped by you"
    ask(window, engines, qtbot, "go on")
    assert [m.content for m in engines.last.requests[-1].messages] == ["hello", "Half an answer", "go on"]


def test_a_full_context_is_explained(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    engines.last.say(answer(ask(window, engines, qtbot), "x", "context_full"))
    reach(window, qtbot, State.READY)
    assert "context is full" in last_answer(window).ending.text()


def test_a_failed_answer_says_why_and_can_be_tried_again(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    request = ask(window, engines, qtbot)
    engines.last.say(failure(request))
    reach(window, qtbot, State.READY)
    assert "Too long." in notice_text(window)
    assert "Make it shorter." in notice_text(window)
    window.transcript.notice.button.click()
    assert window.engine.state is State.ANSWERING
    assert [m.content for m in engines.last.requests[-1].messages] == ["hello"]
    assert [each.message.text for each in window.chat.shown] == ["hello", ""]


def failure(request: int) -> messages.Failed:
    return messages.Failed(request=request, kind="bad_numbers", message="Too long.", hint="Make it shorter.")


def test_a_failure_in_another_chat_is_tried_again_in_its_own(
    window: Window, engines: FakeEngines, qtbot: QtBot, store: Store
) -> None:
    request = ask(window, engines, qtbot, "Of the first chat")
    first = window.chat.id
    qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    engines.last.say(failure(request))
    reach(window, qtbot, State.READY)
    qtbot.waitUntil(lambda: window.transcript.notice is not None)
    assert "In “Of the first chat”: Too long." in notice_text(window)
    assert window.chat.id is None
    window.transcript.notice.button.click()
    assert window.chat.id == first
    assert [m.content for m in engines.last.requests[-1].messages] == ["Of the first chat"]
    assert window.transcript.notice is None


def test_a_failure_gives_the_questions_behind_it_back_and_asks_those_of_other_chats(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    request = ask(window, engines, qtbot, "first")
    ask(window, engines, qtbot, "and then")
    first = window.chat.id
    qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    ask(window, engines, qtbot, "elsewhere")
    window.chat.open(first)
    engines.last.say(failure(request))
    qtbot.waitUntil(lambda: len(engines.last.asked(messages.Chat)) == 2)
    assert [m.content for m in engines.last.requests[-1].messages] == ["elsewhere"]
    assert window.composer.editor.toPlainText() == "and then"
    assert "Too long." in notice_text(window)
    engines.last.say(answer(last_request(engines)))
    reach(window, qtbot, State.READY)


def test_a_model_that_does_not_load_says_why_and_can_be_loaded_again(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    def refuse_once(connection: FakeConnection, request: messages.Request) -> None:
        if isinstance(request, messages.Load) and len(connection.requests) == 1:
            hint = "Check the path."
            connection.say(
                messages.LoadProgress(request=request.id, stage="target", done=1, total=2),
                messages.Failed(request=request.id, kind="model_not_found", message="No model.", hint=hint),
            )
        else:
            load_at_once(connection, request)

    window = make_window(FakeEngines(refuse_once))
    reach(window, qtbot, State.LOAD_FAILED)
    assert "No model. Check the path." in notice_text(window)
    window.transcript.notice.button.click()
    reach(window, qtbot, State.READY)
    assert window.transcript.notice is None


def test_a_probably_damaged_model_is_named_and_the_warning_stays_until_it_is_closed(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    damage = messages.DamagedWeights(model="<b>tiny</b>.gguf", damaged=3, weights=9, first="norm")
    message, hint = words_of(damage)

    def warn(connection: FakeConnection, request: messages.Request) -> None:
        if isinstance(request, messages.Load):
            connection.say(structs.replace(loaded(request.id), remarks=[damage]))

    engines = FakeEngines(warn)
    window = make_window(engines)
    reach(window, qtbot, State.READY)
    assert message.startswith("<b>tiny</b>.gguf is probably damaged: in 3 of its 9 weights, such as norm,")
    assert f"{message} {hint}" in notice_text(window)
    engines.last.say(answer(ask(window, engines, qtbot), "x"))
    reach(window, qtbot, State.READY)
    assert message in notice_text(window)
    window.transcript.notice.button.click()
    assert window.transcript.notice is None


def test_loading_shows_its_progress(make_window: Callable[..., Window], qtbot: QtBot) -> None:
    def half(connection: FakeConnection, request: messages.Request) -> None:
        if isinstance(request, messages.Load):
            connection.say(
                messages.LoadProgress(request=request.id, stage="target", done=1 << 30, total=2 << 30)
            )

    window = make_window(FakeEngines(half))
    qtbot.waitUntil(lambda: "1.0 GB of 2.0 GB" in window.header.status.state.text())
    assert window.header.status.progress.value() == 500
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert window.engine.state is State.STOPPING


def test_an_answer_continues_in_its_chat_while_another_is_opened(
    window: Window, engines: FakeEngines, qtbot: QtBot, store: Store
) -> None:
    old = ask(window, engines, qtbot)
    engines.last.say(delta(old, "old"))
    qtbot.waitUntil(lambda: window.transcript.answer.text == "old")
    qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert window.transcript.answer is None
    qtbot.waitUntil(lambda: window.transcript.rows == [])
    ask(window, engines, qtbot, "new")  # is queued
    assert [waiting.text for waiting in window.chat.waiting] == ["new"]
    engines.last.say(delta(old, " and late"), answer(old, "old and late"))
    qtbot.waitUntil(lambda: len(engines.last.asked(messages.Chat)) == 2)
    assert [m.content for m in engines.last.requests[-1].messages] == ["new"]
    assert not window.chat.waiting
    engines.last.say(answer(last_request(engines), "New."))
    reach(window, qtbot, State.READY)
    assert last_answer(window).body.toPlainText() == "New."
    first = min(line.id for line in store.chats.recent())
    window.chat.open(first)
    assert last_answer(window).body.toPlainText() == "old and late"


def test_the_window_is_named_after_its_chat(
    window: Window, engines: FakeEngines, qtbot: QtBot, store: Store
) -> None:
    assert window.windowTitle() == "SpecExec Desktop"
    engines.last.say(answer(ask(window, engines, qtbot, "What is a tree?"), "A plant."))
    reach(window, qtbot, State.READY)
    assert window.windowTitle() == "What is a tree? – SpecExec Desktop"
    line = store.chats.recent()[0]
    store.chats.rename(line.id, "Trees")
    window.sidebar.refresh()
    assert window.windowTitle() == "Trees – SpecExec Desktop"
    window.chat.open(None)
    assert window.windowTitle() == "SpecExec Desktop"


def test_one_button_for_a_new_chat_is_shown(window: Window) -> None:
    assert not window.header.new_chat.isVisible()
    window.header.sidebar_switch.setChecked(False)
    assert window.header.new_chat.isVisible()


def test_the_header_names_the_model_that_is_being_loaded(window: Window, engines: FakeEngines) -> None:
    before = window.header.model.text()
    window.load(RecentPair("another.gguf"))
    assert window.header.model.text() == "another.gguf" != before


def test_a_thousand_trees_are_painted_at_most_thirty_times_a_second(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    request = ask(window, engines, qtbot)
    clock = QElapsedTimer()
    clock.start()
    before = window.panel.tree.paints
    arrivals: list[object] = []
    window.chat.reported.connect(arrivals.append)
    for i in range(1000):
        engines.last.say(grown(request, i), verdict(request, i), delta(request, "x "))
    engines.last.say(answer(request, "x " * 1000))
    reach(window, qtbot, State.READY)
    frames = clock.elapsed() / 33 + 2
    assert window.panel.tree.paints - before <= frames
    assert len(arrivals) <= (MOST_VERDICTS + 2) * frames
    assert arrivals[-2].iteration == 999


def test_a_hidden_panel_paints_nothing(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    assert not window.panel.isVisible(), "closed at first"
    paints = window.panel.tree.paints
    request = ask(window, engines, qtbot)
    engines.last.say(grown(request), verdict(request), answer(request))
    reach(window, qtbot, State.READY)
    assert window.panel.tree.paints == paints
    qtbot.keyClick(window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert window.panel.isVisible()


@pytest.mark.parametrize("text", ["word " * 200_000, "x" * 1_000_000, "line\n" * 200_000])
def test_a_megabyte_is_sent_whole_and_does_not_freeze_the_window(
    window: Window, engines: FakeEngines, qtbot: QtBot, text: str
) -> None:
    started = time.thread_time()  # not what other programs take
    clipboard = QMimeData()
    clipboard.setText(text)
    window.composer.editor.insertFromMimeData(clipboard)
    window.grab()
    qtbot.keyClick(window.composer.editor, Qt.Key.Key_Return)
    window.grab()
    assert time.thread_time() - started < 1
    assert engines.last.requests[-1].messages[-1].content == text


def test_links_are_never_opened_without_asking(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    box = ask_to_open(window, QUrl("https://example.org/"))
    assert "https://example.org/" in box.informativeText()
    assert not opened
    box.button(QMessageBox.StandardButton.Open).click()
    assert opened == [QUrl("https://example.org/")]
    box = ask_to_open(window, QUrl("file:///etc/passwd"))
    assert box.button(QMessageBox.StandardButton.Open) is None
    box.close()
    assert len(opened) == 1


def test_every_control_has_a_name_and_a_place_in_the_tab_order(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    engines.last.say(answer(ask(window, engines, qtbot)))
    reach(window, qtbot, State.READY)
    engines.last.die()
    reach(window, qtbot, State.LOST)
    for kind in (QAbstractButton, QPlainTextEdit, QTextEdit):
        for control in window.findChildren(kind):
            told = QAccessible.queryAccessibleInterface(control).text(QAccessible.Text.Name)
            assert told, (control, control.objectName(), control.toolTip())
            assert control.focusPolicy() & Qt.FocusPolicy.TabFocus, control
    assert window.panel.tree.accessibleName()


def test_settings_apply_from_the_start(
    make_window: Callable[..., Window], engines: FakeEngines, qtbot: QtBot, preferences: PreferencesFile
) -> None:
    preferences.change(send_key="ctrl_enter", reduced_motion=True)
    preferences.change(window=WindowState(sidebar=False, panel=False, folded=["pinned"]))
    window = make_window(engines)
    reach(window, qtbot, State.READY)
    assert not window.sidebar.isVisible()
    assert not window.panel.isVisible()
    window.composer.write("hello")
    qtbot.keyClick(window.composer.editor, Qt.Key.Key_Return)
    assert window.engine.state is State.READY
    qtbot.keyClick(window.composer.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert window.engine.state is State.ANSWERING
    assert not engines.last.requests[-1].options.telemetry
    window.transcript.rows[0].edit()
    assert window.transcript.rows[0].editor.editor.sends_with_ctrl
    window.close()
    assert preferences.now.window.folded == ["pinned"]


def test_with_reduced_motion_only_the_ends_of_iterations_are_shown(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    shown: list[object] = []
    window.panel.show_tree = shown.append
    for is_reduced in (False, True):
        motion.reduce(is_reduced)
        request = ask(window, engines, qtbot)
        engines.last.say(grown(request))
        qtbot.waitUntil(lambda: "guessing" in window.header.status.state.text())
        engines.last.say(verdict(request), answer(request))
        reach(window, qtbot, State.READY)
    motion.reduce(False)
    kinds = [type(event).__name__ for event in shown]
    assert kinds == ["TreeGrown", "IterationDone", "IterationDone"]


def test_the_same_seed_repeats_the_recorded_request(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    engines.last.say(answer(ask(window, engines, qtbot), "Once."))
    reach(window, qtbot, State.READY)
    last_answer(window).action_row.buttons[Action.AGAIN].click()
    options = engines.last.requests[-1].options
    assert (options.seed, options.budgets) == (7, [64])
    engines.last.say(answer(last_request(engines), "Once."))
    reach(window, qtbot, State.READY)
    assert last_answer(window).action_row.versions.label.text() == "2/2"


def test_a_search_hit_is_shown_with_its_words_marked(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    engines.last.say(answer(ask(window, engines, qtbot), "The whale\n\n" + "and more\n\n" * 200))
    reach(window, qtbot, State.READY)
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.keyClick(window, Qt.Key.Key_N, control)
    qtbot.keyClick(window, Qt.Key.Key_K, control)
    qtbot.keyClicks(window.search.field, "whale")
    qtbot.keyClick(window.search.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(window.transcript.rows))
    body = last_answer(window).body
    qtbot.waitUntil(lambda: bool(body.extraSelections()))
    assert body.extraSelections()[0].cursor.selectedText() == "whale"
    assert window.transcript.verticalScrollBar().value() < 200


def test_another_language_waits_until_the_settings_are_closed(window: Window, qtbot: QtBot) -> None:
    told: list[None] = []
    window.language_changed.connect(lambda: told.append(None))
    for already_told in (0, 1):  # the second time the language is Korean before and after
        window.header.settings.click()
        (dialog,) = window.findChildren(SettingsDialog)
        for language in ("en", "ko"):
            box = dialog.appearance_page.rows["language"].editor.box
            box.setCurrentIndex(box.findData(language))
            box.activated.emit(box.currentIndex())
        assert len(told) == already_told
        dialog.close()
        assert len(told) == 1
        qtbot.waitUntil(lambda: not window.findChildren(SettingsDialog))


def test_the_list_of_chats_is_a_key_away(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    engines.last.say(answer(ask(window, engines, qtbot)))
    reach(window, qtbot, State.READY)
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(window, Qt.Key.Key_B, control)
    assert not window.sidebar.isVisible()
    qtbot.keyClick(window, Qt.Key.Key_L, control | shift)
    assert window.sidebar.view.hasFocus()


def test_the_page_of_shortcuts_is_gone_once_it_is_closed(window: Window, qtbot: QtBot) -> None:
    window.sidebar.keys_asked.emit()
    (page,) = window.findChildren(KeyboardPage)
    page.reject()
    qtbot.waitUntil(lambda: not window.findChildren(KeyboardPage))


def test_idle_models_are_unloaded_as_the_preferences_say(
    make_window: Callable[..., Window], engines: FakeEngines, qtbot: QtBot, preferences: PreferencesFile
) -> None:
    preferences.change(unload_after="15")
    window = make_window(engines)
    reach(window, qtbot, State.READY)
    assert window.core.idle.minutes == 15
    name = window.header.model.text()
    window.engine.rest()
    reach(window, qtbot, State.IDLE)
    assert "Unloaded (idle)" in window.header.status.state.text()
    assert window.header.model.text() == name, "the same model comes back"
    ask(window, engines, qtbot)
    qtbot.waitUntil(lambda: bool(engines.last.asked(messages.Chat)))
    assert window.engine.state is State.ANSWERING
