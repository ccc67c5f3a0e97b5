"""A model of an engine elsewhere in a window: where text goes, what is told, what failures offer."""

from collections.abc import Callable

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.header import elsewhere, local_models
from app.preferences import PreferencesFile, RecentPair
from app.window.window import Window
from engine.protocol import messages
from engine.remote import engines as added_engines
from engine.remote.engines import AddedEngine
from engine.remote.errors import KeyRefused
from engine.remote.models import RemoteModel
from tests.app.fake_engine import FakeConnection, FakeEngines, answer, load_at_once, loaded

ENGINE = AddedEngine("Lab", "https://lab.example:8000/v1")
PAIR = RecentPair("qwen-72b", engine="Lab")


def away(request: int) -> messages.Loaded:
    """What an engine elsewhere tells of its model: not its context, nor its trees."""
    here = loaded(request)
    target = structs.replace(here.target, name="qwen-72b", path="qwen-72b", layers=0, parameters=0, nbytes=0)
    return structs.replace(
        here, target=target, drafters=[], drafter="", dtype="", device="", context=0,
        place="lab.example:8000", tells_trees=False,
    )  # fmt: skip


def both(connection: FakeConnection, request: messages.Request) -> None:
    if isinstance(request, messages.Load) and request.engine:
        connection.say(away(request.id))
    else:
        load_at_once(connection, request)


def refusing(kind: str) -> Callable[[FakeConnection, messages.Request], None]:
    def script(connection: FakeConnection, request: messages.Request) -> None:
        if isinstance(request, messages.Load) and request.engine:
            failed = messages.Failed(request=request.id, kind=kind, message="It is refused.", hint="Do this.")
            connection.say(failed)
        else:
            load_at_once(connection, request)

    return script


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One engine was added, which serves two models. Models here are not planned: on a busy machine that may
    take longer than a test waits for a thread whose picker was closed."""
    monkeypatch.setattr(local_models, "plan", lambda *_: None)
    monkeypatch.setattr("engine.secret.KeptSecret.get", lambda self: None)
    added_engines.add(ENGINE)
    served = [RemoteModel("qwen-72b", "vllm", 32_768), RemoteModel("/models/tiny", "vllm")]
    monkeypatch.setattr(elsewhere, "models", lambda engine, key, stop: served)


@pytest.fixture
def there(listed: None, make_window: Callable[..., Window], qtbot: QtBot) -> Window:
    """A window with a model elsewhere."""
    window = make_window(FakeEngines(both))
    qtbot.waitUntil(lambda: window.engine.state is State.READY)
    window.load(PAIR)
    qtbot.waitUntil(lambda: window.engine.state is State.READY and window.core.place != "")
    return window


def buttons(window: Window) -> list[str]:
    notice = window.transcript.notice
    assert notice is not None
    return [button.text() for button in notice.findChildren(QPushButton)]


def test_the_header_says_where_text_goes(there: Window, qtbot: QtBot) -> None:
    sign = there.header.place_sign
    assert sign.text() == sign.accessibleName() == "Goes to lab.example:8000"
    assert sign.property("elsewhere") is True
    assert there.header.model.text() == "qwen-72b"
    there.load(RecentPair())
    qtbot.waitUntil(lambda: there.core.place == "")
    assert sign.text() == "On this machine"
    assert sign.property("elsewhere") is False


def test_models_elsewhere_stand_in_the_picker_under_their_engine(
    listed: None, window: Window, qtbot: QtBot
) -> None:
    window.header.open_picker()
    rows = window.header.picker.models
    texts: Callable[[], list[str]] = lambda: [rows.item(row).text() for row in range(rows.count())]  # noqa: E731
    qtbot.waitUntil(lambda: any("qwen-72b" in text for text in texts()))
    head = next(row for row, text in enumerate(texts()) if text.startswith("Lab"))
    assert "lab.example:8000" in texts()[head]
    assert not rows.item(head).flags() & Qt.ItemFlag.ItemIsEnabled
    assert "goes to lab.example:8000" in texts()[head + 1]
    assert texts()[head + 2].startswith("tiny\n")
    window.header.picker.filter.setText("72b")
    shown = [rows.item(row) for row in range(rows.count()) if rows.item(row).data(elsewhere_pair())]
    assert [item.data(elsewhere_pair()) for item in shown if not item.isHidden()] == [PAIR]
    with qtbot.waitSignal(window.header.load_asked) as asked:
        qtbot.keyClick(window.header.picker.filter, Qt.Key.Key_Return)
    assert asked.args == [PAIR]


def elsewhere_pair() -> int:
    return int(Qt.ItemDataRole.UserRole)


def test_an_engine_that_does_not_answer_says_why_in_the_picker(
    listed: None, window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(engine: AddedEngine, key: str | None, stop: object) -> list[RemoteModel]:
        raise KeyRefused("The key is refused.", "Give another one.")

    monkeypatch.setattr(elsewhere, "models", refuse)
    window.header.open_picker()
    rows = window.header.picker.models
    qtbot.waitUntil(
        lambda: any("The key is refused." in rows.item(row).text() for row in range(rows.count()))
    )
    window.header.picker.hide()


def test_a_chat_goes_there_and_is_remembered_with_its_engine(there: Window, qtbot: QtBot) -> None:
    there.composer.write("Hello")
    qtbot.keyClick(there.composer.editor, Qt.Key.Key_Return)
    assert there.chat.id is not None
    settings = there.core.store.chats.settings(there.chat.id)
    assert (settings.target, settings.engine) == ("qwen-72b", "Lab")


def test_the_panel_says_that_the_engine_does_not_tell_its_tree(there: Window) -> None:
    there.header.panel_switch.setChecked(True)
    page = there.panel.tree_page
    assert "This engine does not tell its tree." in page.told.text()
    assert page.told.isVisible()
    assert not page.tree.isVisible()
    told = messages.Speculation(steps=10, drafted=30, accepted=18, per_position=[9, 6, 3])
    complete = structs.replace(answer(1), seed=None, speculation=told, drafter="")
    there.panel.show_answer(complete)
    assert "18 of 30" in page.told.text()
    assert "1: 90 %" in page.told.text()
    assert "lab.example:8000" in there.panel.speed_page.text.text()
    assert not there.panel.speed_page.race.isVisible()


def test_the_context_that_is_not_told_has_no_meter(there: Window) -> None:
    there.composer.write("word " * 5_000)
    assert not there._panes.context.isVisible()
    assert not there.transcript.notice


@pytest.mark.parametrize(
    ("kind", "offered"),
    [
        ("key_refused", "Settings of Lab"),
        ("certificate_refused", "Settings of Lab"),
        ("model_not_found", "Choose another model"),
        ("engine_unreachable", "Use a model on this machine"),
    ],
)
def test_a_failure_at_the_start_offers_what_helps(
    listed: None,
    kind: str,
    offered: str,
    make_window: Callable[..., Window],
    preferences: PreferencesFile,
    qtbot: QtBot,
) -> None:
    preferences.remember_pair(PAIR)
    window = make_window(FakeEngines(refusing(kind)))
    qtbot.waitUntil(lambda: window.engine.state is State.LOAD_FAILED)
    assert window.header.place_sign.place == "lab.example:8000"
    assert "Connect again" in buttons(window)
    assert offered in buttons(window)
    assert "Use a model on this machine" in buttons(window)
    window._reports.remedies.local_asked.emit()
    qtbot.waitUntil(lambda: window.engine.state is State.READY)
    assert window.core.place == ""


def test_settings_that_the_engine_decides_are_disabled_with_the_reason(there: Window, qtbot: QtBot) -> None:
    dialog = there.settings.open()
    row = dialog.chat_page.rows["options.budget"]
    assert not row.editor.isEnabled()
    assert "lab.example:8000 decides" in row._help.text()
    assert not dialog.memory_page.rows["loading.threads"].editor.isEnabled()
    assert dialog.chat_page.rows["options.temperature"].editor.isEnabled()
    dialog.close()


def test_an_old_chat_offers_the_model_elsewhere_that_answered_it(there: Window, qtbot: QtBot) -> None:
    there.composer.write("Hello")
    qtbot.keyClick(there.composer.editor, Qt.Key.Key_Return)
    there.engine.stop()
    there.load(RecentPair())
    qtbot.waitUntil(lambda: there.engine.state is State.READY and there.core.place == "")
    used = there._panes.used_here
    assert used.isVisible()
    with qtbot.waitSignal(used.load_asked) as asked:
        used.button.click()
    assert asked.args == [PAIR]
