from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.thinking import plain_speeds
from app.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeEngines, answer, loaded


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "folder" / "plain_speeds.json"
    monkeypatch.setattr(plain_speeds, "file", lambda: path)
    return path


def test_what_was_measured_is_kept_for_the_models_as_loaded() -> None:
    pair = loaded(1)
    assert plain_speeds.plain_speed(pair) is None
    plain_speeds.remember(pair, 1.25)
    assert plain_speeds.plain_speed(loaded(2)) == 1.25
    pair.dtype = "bfloat16"
    assert plain_speeds.plain_speed(pair) is None
    plain_speeds.remember(pair, 3.0)
    assert plain_speeds.plain_speed(loaded(2)) == 1.25


def test_another_placement_of_the_weights_is_another_measurement() -> None:
    pair = loaded(1)
    plain_speeds.remember(pair, 1.25)
    part = messages.MemoryPart(what="target", tier="ssd", nbytes=10**9)
    pair.memory = messages.Memory(vram=0, ram=1, peak=1, parts=[part])
    assert plain_speeds.plain_speed(pair) is None


def test_a_damaged_file_is_nothing(kept: Path) -> None:
    kept.parent.mkdir()
    kept.write_text("{")
    assert plain_speeds.plain_speed(loaded(1)) is None


def test_plain_decoding_is_measured_on_request(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    page = window.panel.speed_page
    page.measure.click()
    request = engines.last.asked(messages.Chat)[-1]
    assert request.options.drafter == "none"
    assert not page.measure.isEnabled()
    plain = answer(request.id, "One, two", "max_new_tokens")
    plain.tokens_per_second = 4.0
    with qtbot.waitSignal(window.calibration.finished):
        engines.last.say(plain)
    assert plain_speeds.plain_speed(window.engine.pair) == 4.0
    assert page.measure.isEnabled()
    assert window.chat.shown == [], "it is nobody's turn"


def test_a_measurement_that_was_stopped_is_not_kept(
    window: Window, engines: FakeEngines, qtbot: QtBot
) -> None:
    window.panel.speed_page.measure.click()
    request = engines.last.asked(messages.Chat)[-1]
    with qtbot.waitSignal(window.calibration.finished):
        engines.last.say(answer(request.id, "One", "cancelled"))
    assert plain_speeds.plain_speed(window.engine.pair) is None
