"""One truth about models: those that are loaded answer in every chat, are shown everywhere, and come back."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.header import local_models
from app.header.local_models import LocalModel, LocalPair
from app.preferences import LoadPreferences, Preferences, PreferencesFile, RecentPair
from app.settings.dialog import SettingsDialog
from app.store import ChatSettings, Store
from app.window.arguments import Arguments
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeConnection, FakeEngines, answer, loaded
from tests.app.window.test_window import ask, notice_text, reach


@pytest.fixture
def other(tmp_path: Path) -> str:
    """The path of a model file."""
    path = tmp_path / "other.gguf"
    path.touch()
    return str(path)


def loads(engines: FakeEngines) -> list[tuple[str | None, str]]:
    return [(load.target, load.draft) for load in engines.last.asked(messages.Load)]


def answered(window: Window, engines: FakeEngines, qtbot: QtBot) -> int:
    """Let a question be answered; return the chat."""
    engines.last.say(answer(ask(window, engines, qtbot), "An answer."))
    reach(window, qtbot, State.READY)
    assert window.chat.id is not None
    return window.chat.id


def dialog_of(window: Window) -> SettingsDialog:
    window.header.settings.click()
    return window.findChildren(SettingsDialog)[-1]


def test_the_settings_know_the_loaded_pair_so_that_it_is_not_deleted(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window(FakeEngines())
    reach(window, qtbot, State.READY)
    assert dialog_of(window).models_page.loaded is window.engine.pair is not None


def test_the_program_starts_with_the_models_loaded_last(
    make_window: Callable[..., Window], qtbot: QtBot, preferences: PreferencesFile, other: str
) -> None:
    first = FakeEngines()
    window = make_window(first)
    reach(window, qtbot, State.READY)
    window.load(RecentPair(other, "none"))
    reach(window, qtbot, State.READY)
    second = FakeEngines()
    reach(make_window(second), qtbot, State.READY)
    assert loads(second) == [(other, "none")]
    third = FakeEngines()
    reach(make_window(third, Arguments("named.gguf")), qtbot, State.READY)
    assert loads(third) == [("named.gguf", "auto")]
    fourth = FakeEngines()
    reach(make_window(fourth, Arguments(draft="small.gguf")), qtbot, State.READY)
    assert loads(fourth) == [(other, "small.gguf")]


def test_models_that_are_gone_are_not_loaded_at_the_start(
    make_window: Callable[..., Window], qtbot: QtBot, preferences: PreferencesFile, other: str
) -> None:
    preferences.remember_pair(RecentPair(other))
    Path(other).unlink()
    engines = FakeEngines()
    reach(make_window(engines), qtbot, State.READY)
    assert loads(engines) == [(None, "auto")]


def test_header_settings_and_load_again_agree(
    window: Window, engines: FakeEngines, qtbot: QtBot, other: str
) -> None:
    answered(window, engines, qtbot)
    window.load(RecentPair(other, "none"))
    reach(window, qtbot, State.READY)
    dialog = dialog_of(window)
    assert dialog.pair == RecentPair(other, "none")
    dialog.close()
    window.header.reload_asked.emit()
    reach(window, qtbot, State.READY)
    assert loads(engines)[-2:] == [(other, "none")] * 2


def test_a_choice_in_the_settings_is_loaded_on_request(
    window: Window, engines: FakeEngines, qtbot: QtBot, other: str, preferences: PreferencesFile
) -> None:
    dialog = dialog_of(window)
    dialog._use(ChatSettings(target=other, draft="none"))
    assert loads(engines) == [(None, "auto")]
    dialog.reload.click()
    reach(window, qtbot, State.READY)
    assert loads(engines)[-1] == (other, "none")
    assert preferences.now.recent_pairs[0] == RecentPair(other, "none")


def test_a_chat_keeps_the_models_that_answered_and_offers_them(
    window: Window, engines: FakeEngines, qtbot: QtBot, store: Store, other: str
) -> None:
    window.load(RecentPair(other, "none"))
    reach(window, qtbot, State.READY)
    chat = answered(window, engines, qtbot)
    assert store.chats.settings(chat).target == other
    offer = window.centralWidget().used_here  # type: ignore[attr-defined]
    assert offer.isHidden()
    window.load(RecentPair())
    reach(window, qtbot, State.READY)
    assert not offer.isHidden()
    assert offer.button.accessibleName() == "Load other.gguf"
    window.chat.open(None)
    assert offer.isHidden(), "a new chat inherits what is loaded"
    window.chat.open(chat)
    offer.button.click()
    reach(window, qtbot, State.READY)
    assert loads(engines)[-1] == (other, "none")
    assert offer.isHidden()


def test_a_chat_whose_models_are_gone_offers_nothing_and_goes_on(
    window: Window, engines: FakeEngines, qtbot: QtBot, store: Store, other: str
) -> None:
    chat = answered(window, engines, qtbot)
    settings = store.chats.settings(chat)
    store.chats.set_settings(chat, ChatSettings(system="Be brief.", target="gone", options=settings.options))
    window.chat.open(None)
    window.chat.open(chat)
    assert window.centralWidget().used_here.isHidden()  # type: ignore[attr-defined]
    answered(window, engines, qtbot)
    assert store.chats.settings(chat).target is None
    assert store.chats.settings(chat).system == "Be brief."


def test_changing_another_setting_does_not_change_the_models_of_an_old_chat(
    window: Window, engines: FakeEngines, qtbot: QtBot, store: Store, other: str
) -> None:
    chat = answered(window, engines, qtbot)
    window.load(RecentPair(other, "none"))
    reach(window, qtbot, State.READY)
    dialog = dialog_of(window)
    dialog._use(ChatSettings(system="Be brief.", target=other, draft="none"))
    kept = store.chats.settings(chat)
    assert (kept.system, kept.target) == ("Be brief.", None)


def fail_to_load(engines: FakeEngines, *, loaded: bool) -> messages.Failed:
    """Answer the last request to load with an error."""
    request = engines.last.asked(messages.Load)[-1].id
    failed = messages.Failed(
        request=request, kind="bad_checkpoint", message="It is cut short.", hint="?", loaded=loaded
    )
    engines.last.say(failed)
    return failed


def test_a_broken_file_leaves_the_working_model_and_is_not_remembered(
    window: Window, engines: FakeEngines, qtbot: QtBot, preferences: PreferencesFile, other: str
) -> None:
    pair, name = window.engine.pair, window.header.model.text()
    engines.last.script = lambda *_: None
    window.load(RecentPair(other))
    assert window.engine.state is State.LOADING
    fail_to_load(engines, loaded=True)
    reach(window, qtbot, State.READY)
    assert window.engine.pair == pair
    assert window.header.model.text() == name
    assert window.transcript.notice is not None
    assert window.transcript.notice.button is not None
    assert window.transcript.notice.button.text() == "Close"
    assert preferences.now.recent_pairs == []
    window.header.reload_asked.emit()
    assert loads(engines)[-1] == (None, "auto"), "the working model, not the broken file"


def test_after_a_failed_load_the_way_back_is_offered(
    window: Window, engines: FakeEngines, qtbot: QtBot, preferences: PreferencesFile, other: str
) -> None:
    engines.last.script = lambda *_: None
    window.load(RecentPair(other))
    fail_to_load(engines, loaded=False)
    reach(window, qtbot, State.LOAD_FAILED)
    assert preferences.now.recent_pairs == []
    assert window.transcript.notice is not None
    back = window.transcript.notice.findChildren(QPushButton)[-1]
    assert back.text().startswith("Back to ")
    back.click()
    assert loads(engines)[-1] == (None, "auto")


def test_a_failed_answer_is_not_reported_in_another_chat(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    request = ask(window, engines, qtbot)
    failed = messages.Failed(request=request, kind="prompt_too_long", message="Too long.", hint="Shorten it.")
    engines.last.say(failed)
    reach(window, qtbot, State.READY)
    assert window.transcript.notice is not None
    window.chat.open(None)
    assert window.transcript.notice is None


@pytest.mark.parametrize("way", ["picker", "settings"])
def test_a_model_file_is_opened_from_the_picker_and_from_the_settings(
    window: Window,
    engines: FakeEngines,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
) -> None:
    reach(window, qtbot, State.READY)
    (tmp_path / "config.json").touch()
    chosen = ["", str(tmp_path / "config.json")]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (chosen.pop(0), ""))
    if way == "picker":
        button = window.header.picker.open
    else:
        button = window.settings.open("models_page").models_page.add
    button.click()
    assert len(loads(engines)) == 1, "cancelled"
    button.click()
    reach(window, qtbot, State.READY)
    assert loads(engines)[-1] == (str(tmp_path), "auto")
    assert not window.findChildren(SettingsDialog) or not window.findChild(SettingsDialog).isVisible()


def test_the_names_shown_are_those_of_the_files(other: str) -> None:
    assert local_models.text_of(other) == "other.gguf"
    assert local_models.is_here(other)
    assert not local_models.is_here("no-such-model")


@pytest.mark.parametrize(("nbytes", "said"), [(900 << 20, "takes 900.0 MB"), (0, "is on the disk already.")])
def test_a_model_that_is_faster_as_its_own_draft_is_offered_to_be_once(
    make_window: Callable[..., Window], qtbot: QtBot, nbytes: int, said: str
) -> None:
    def offer(connection: FakeConnection, request: messages.Request) -> None:
        if isinstance(request, messages.Load):
            own = None if request.draft == "self" else messages.OwnDraft(speedup=1.8, nbytes=nbytes)
            connection.say(structs.replace(loaded(request.id), own_draft=own))

    engines = FakeEngines(offer)
    window = make_window(engines)
    reach(window, qtbot, State.READY)
    shown = notice_text(window)
    assert "1.8 times as fast" in shown
    assert said in shown
    window.transcript.notice.button.click()
    reach(window, qtbot, State.READY)
    assert [draft for _, draft in loads(engines)] == ["auto", "self"]
    assert window.transcript.notice is None
    window.engine.load(structs.replace(window.engine.wanted, draft="auto"))
    reach(window, qtbot, State.READY)
    assert window.transcript.notice is None, "it was said already"


def test_plans_in_the_picker_reckon_with_the_processors_help_if_the_settings_allow_it(
    make_window: Callable[..., Window],
    qtbot: QtBot,
    preferences: PreferencesFile,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    helps: list[object] = []
    monkeypatch.setattr(local_models, "plan", lambda *arguments: helps.append(arguments[-1]))
    monkeypatch.setattr(local_models, "pairs_here", lambda: [LocalPair(LocalModel("a", "A", 1), None)])
    preferences.change(loading=LoadPreferences(processor_helps="measured"))
    window = make_window(FakeEngines())
    reach(window, qtbot, State.READY)
    window.header.open_picker()
    qtbot.waitUntil(lambda: helps == ["measured"])
    window.core.preferences_changed.emit(Preferences())
    window.header.open_picker()
    qtbot.waitUntil(lambda: helps == ["measured", "auto"])
    window.header.picker.hide()
