from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.panel import calibration
from app.window.window import Window
from engine.protocol import messages
from tests.app.fake_engine import FakeEngines, answer, loaded


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "folder" / "plain_speeds.json"
    monkeypatch.setattr(calibration, "file", lambda: path)
    return path


def test_a_measured_speed_is_kept_per_loaded_pair() -> None:
    pair = loaded(1)
    assert calibration.plain_speed(pair) is None
    calibration.remember(pair, 1.25)
    assert calibration.plain_speed(loaded(2)) == 1.25
    pair.dtype = "bfloat16"
    assert calibration.plain_speed(pair) is None
    calibration.remember(pair, 3.0)
    assert calibration.plain_speed(loaded(2)) == 1.25


def test_another_placement_of_the_weights_needs_its_own_measurement() -> None:
    pair = loaded(1)
    calibration.remember(pair, 1.25)
    part = messages.MemoryPart(what="target", tier="ssd", nbytes=10**9)
    pair.memory = messages.Memory(vram=0, ram=1, peak=1, parts=[part])
    assert calibration.plain_speed(pair) is None


def test_a_damaged_file_is_ignored(kept: Path) -> None:
    kept.parent.mkdir()
    kept.write_text("{")
    assert calibration.plain_speed(loaded(1)) is None


def test_plain_decoding_is_measured_on_request(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    page = window.panel.speed_page
    page.measure.click()
    request = engines.last.asked(messages.Chat)[-1]
    assert request.options.drafter == "none"
    assert not page.measure.isEnabled()
    plain = answer(request.id, "One, two", "max_new_tokens")
    plain.tokens_per_second = 4.0
    with qtbot.waitSignal(window.core.calibration.finished):
        engines.last.say(plain)
    assert calibration.plain_speed(window.engine.pair) == 4.0
    assert page.measure.isEnabled()
    assert window.chat.shown == [], "the answer is not part of the chat"


def test_a_cancelled_measurement_is_not_kept(window: Window, engines: FakeEngines, qtbot: QtBot) -> None:
    window.panel.speed_page.measure.click()
    request = engines.last.asked(messages.Chat)[-1]
    with qtbot.waitSignal(window.core.calibration.finished):
        engines.last.say(answer(request.id, "One", "cancelled"))
    assert calibration.plain_speed(window.engine.pair) is None
