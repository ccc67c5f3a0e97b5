"""The header: model, picker, status line and expected end of an answer."""

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.connection.engine import State
from app.header import Header, local_models
from app.header.local_models import LocalModel, LocalPair
from app.header.memory import by_part, by_tier
from app.header.status_line import ExpectedEnd, StatusLine, expected_end, usual_tokens
from app.preferences import RecentPair
from engine.planner import Names, Plan
from engine.protocol.messages import (
    LoadProgress,
    Memory,
    MemoryPart,
    PassProgress,
    PrefillProgress,
    Seconds,
)
from tests.app.fake_engine import grown, loaded, verdict
from tests.app.seen import label

GIB = 2**30
BIG = LocalModel("big", "Big 70B · Q4_K_M", 40 * GIB)
SMALL = LocalModel("small", "Small 1B · Q8_0", GIB)
PAIRS = [LocalPair(BIG, SMALL), LocalPair(SMALL, None)]
MEMORY = Memory(
    vram=3 * GIB,
    ram=0,
    peak=4 * GIB,
    parts=[
        MemoryPart(what="target", tier="vram", nbytes=3 * GIB),
        MemoryPart(what="target", tier="ssd", nbytes=7 * GIB),
    ],
)


@pytest.fixture(autouse=True)
def two_pairs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    QLocale.setDefault(QLocale.c())

    def plan(target: str, *_: object) -> Plan:
        if target == "small":
            return Plan(Names("small", None), "in RAM", "cpu", 4096, predicted_tokens_per_second=12.34)
        return Plan(Names("big", "small"), "will not run", "cpu", 4096, missing="It lacks 20 GiB of RAM.")

    monkeypatch.setattr(local_models, "pairs_here", lambda: PAIRS)
    monkeypatch.setattr(local_models, "plan", plan)


@pytest.fixture
def header(qtbot: QtBot) -> Header:
    made = Header()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def status(qtbot: QtBot) -> StatusLine:
    made = StatusLine()
    qtbot.addWidget(made)
    return made


def rows(header: Header) -> list[str]:
    models = header.picker.models
    items = [models.item(row) for row in range(models.count())]
    return [item.text() for item in items if not item.isHidden()]


def slow(tokens: int = 40, speed: float = 2.0, seconds: float = 3.0) -> object:
    event = verdict(1, 7)
    event.tokens, event.tokens_per_second, event.seconds = tokens, speed, Seconds(target=seconds)
    return event


# -- expected end --------------------------------------------------------------------------------------------


def test_an_answer_with_a_limit_ends_there_at_the_latest() -> None:
    assert expected_end(40, 2.0, most=100, usual=60) == ExpectedEnd(30.0, is_bound=True)
    assert expected_end(100, 2.0, most=100, usual=None) == ExpectedEnd(0.0, is_bound=True)


def test_an_answer_without_a_limit_has_the_usual_length_or_an_unknown_end() -> None:
    assert expected_end(40, 2.0, most=None, usual=60) == ExpectedEnd(10.0, is_bound=False)
    assert expected_end(60, 2.0, most=None, usual=60) is None
    assert expected_end(40, 2.0, most=None, usual=None) is None


def test_the_first_tokens_do_not_predict_the_end() -> None:
    assert expected_end(7, 2.0, most=100, usual=None) is None
    assert expected_end(40, 0.0, most=100, usual=None) is None


def test_the_usual_length_is_the_median_of_several_answers() -> None:
    assert usual_tokens([10, 500, 40]) == 40
    assert usual_tokens([10, 500]) is None


# -- the status ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "speed", "text"),
    [
        (40, 2.0, "Answering · 2.00 tokens/s · at most 30 s left"),
        (40, 0.5, "Answering · 0.50 tokens/s · at most 2 min left"),
        (10, 0.01, "Answering · 0.01 tokens/s · at most 2 h 30 min left"),
        (4, 2.0, "Answering · 2.00 tokens/s"),
    ],
)
def test_the_expected_end_is_shown(status: StatusLine, tokens: int, speed: float, text: str) -> None:
    status.expect(100, None)
    status.show_iteration(slow(tokens, speed))
    assert status.state.text() == text


def test_without_a_limit_the_usual_length_is_named_as_such(status: StatusLine) -> None:
    status.expect(None, 60)
    status.show_iteration(slow())
    assert status.state.text().endswith("probably about 10 s left")


def test_a_slow_pass_shows_its_progress_and_a_fast_one_does_not(status: StatusLine) -> None:
    layer = PassProgress(request=1, iteration=8, done=20, total=80)
    status.expect(100, None)
    status.show_iteration(slow())
    status.show_iteration(grown(1, 8))
    assert status.state.text() == "Answering · guessing ahead · at most 30 s left"
    status.show_pass(layer)
    assert status.state.text() == "Answering · checking the guesses: 25% · at most 30 s left"
    assert status.progress.value() == 250
    status.show_iteration(slow(seconds=0.1))
    before = status.state.text()
    status.show_pass(layer)
    status.show_iteration(grown(1, 8))
    assert status.state.text() == before


def test_a_new_answer_clears_the_expected_end_of_the_last(status: StatusLine) -> None:
    status.expect(100, None)
    status.show_iteration(slow())
    status.expect(100, None)
    status.show_pass(PassProgress(request=2, iteration=1, done=1, total=8))
    assert status.state.text() == "Answering · checking the guesses: 12%"


def test_loading_and_reading_show_their_progress(status: StatusLine) -> None:
    status.show_load_progress(LoadProgress(request=1, stage="target", done=GIB, total=4 * GIB))
    assert "1.0 GB of 4.0 GB" in status.state.text()
    assert status.progress.value() == 250
    status.show_prefill(PrefillProgress(request=1, done=512, total=1024))
    assert status.state.text() == "Reading the prompt: 512 of 1024 tokens (50%)"
    assert status.progress.value() == 500


def test_a_placed_widget_is_before_the_buttons(header: Header, qtbot: QtBot) -> None:
    header.resize(1024, 60)
    indicator = QLabel("60 %")
    header.place(indicator)
    qtbot.waitUntil(lambda: indicator.isVisible() and indicator.x() > header.status.x())
    assert indicator.x() < header.panel_switch.x()


# -- the model -----------------------------------------------------------------------------------------------


def test_the_loaded_model_is_shown_with_its_memory_by_tier(header: Header) -> None:
    pair = loaded(1)
    pair.memory = MEMORY
    header.show_loaded(pair)
    assert pair.target.name in header.model.text()
    details = label(header, "VRAM 3.0 GB · 7.0 GB read from the disk in every pass")
    assert "target: 7.0 GB (disk)" in details.toolTip()
    header.show_state(State.UNLOADED)
    assert header.model.text() == "Choose a model"
    assert details.text() == ""


def test_the_draft_is_named_below_the_model_and_where_the_pointer_rests(header: Header) -> None:
    pair = loaded(1)
    pair.draft = structs.replace(pair.target, name="Small 1B")
    pair.memory = MEMORY
    header.show_loaded(pair)
    label(header, "VRAM 3.0 GB · 7.0 GB read from the disk in every pass · draft Small 1B")
    assert "draft Small 1B" in header.model.toolTip()
    header.show_loaded(structs.replace(pair, place="elsewhere.example:1"))
    assert "draft" not in header.model.toolTip()


def test_memory_is_listed_by_part() -> None:
    assert by_tier(Memory(vram=0, ram=GIB, peak=0)) == "RAM 1.0 GB"
    assert by_part(MEMORY).splitlines() == ["target: 3.0 GB (VRAM)", "target: 7.0 GB (disk)"]


def test_local_pairs_are_listed_with_their_plans(header: Header, qtbot: QtBot) -> None:
    header.show_state(State.READY)
    header.open_picker()
    qtbot.waitUntil(lambda: "too large" in "".join(rows(header)) and "fits in RAM" in "".join(rows(header)))
    assert rows(header) == [
        "On this machine",
        "Big 70B · Q4_K_M\n41.0 GB · too large for this machine · draft Small 1B · Q8_0",
        "Small 1B · Q8_0\n1.0 GB · fits in RAM · about 12.3 tokens/s · no draft model",
    ]
    assert header.picker.models.item(1).toolTip().endswith("It lacks 20 GiB of RAM.")
    header.picker.hide()


def test_a_tool_tip_says_once_what_a_model_is(
    header: Header, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [LocalPair(replace(SMALL, about="Good at nothing."), None)]
    monkeypatch.setattr(local_models, "pairs_here", lambda: pairs)
    header.open_picker()
    tip = header.picker.models.item(1).toolTip
    assert tip().count("Good at nothing.") == 1
    assert "no draft model" in tip()
    qtbot.waitUntil(lambda: "fits in RAM" in tip())
    assert tip().count("Good at nothing.") == 1
    header.picker.hide()


def test_recent_pairs_are_first_without_deleted_ones(header: Header, tmp_path: Path) -> None:
    header.show_recent([RecentPair("small", "none"), RecentPair(str(tmp_path / "gone.gguf")), RecentPair()])
    header.open_picker()
    assert rows(header)[:4] == [
        "Recent",
        "Small 1B · Q8_0\nno draft model",
        "The model included with the program\nwith the best draft model on this machine",
        "On this machine",
    ]
    header.picker.hide()


def test_a_recent_pair_is_not_listed_again_below(header: Header, qtbot: QtBot) -> None:
    header.show_recent([RecentPair("small"), RecentPair("big", "none")])
    header.open_picker()
    qtbot.waitUntil(lambda: "too large" in "".join(rows(header)) and "fits in RAM" in "".join(rows(header)))
    assert [row.splitlines()[0] for row in rows(header)] == [
        "Recent",
        "Small 1B · Q8_0",
        "Big 70B · Q4_K_M",
        "On this machine",
        "Big 70B · Q4_K_M",
    ]
    assert "fits in RAM" in rows(header)[1]
    header.show_recent([RecentPair("small"), RecentPair("big")])
    header.open_picker()
    assert [row.splitlines()[0] for row in rows(header)] == ["Recent", SMALL.text, BIG.text]
    header.picker.hide()


def test_a_model_is_found_and_chosen_by_keys(header: Header, qtbot: QtBot) -> None:
    header.open_picker()
    qtbot.keyClicks(header.picker.filter, "small 1b")
    assert rows(header)[0] == "On this machine"
    with qtbot.waitSignal(header.load_asked) as asked:
        qtbot.keyClick(header.picker.filter, Qt.Key.Key_Down)
        qtbot.keyClick(header.picker.filter, Qt.Key.Key_Return)
    assert asked.args[0] == RecentPair("small")
    assert header.picker.isHidden()


def test_a_model_is_found_by_its_words_in_any_order(header: Header, qtbot: QtBot) -> None:
    header.open_picker()
    qtbot.keyClicks(header.picker.filter, "q4_k_m big")
    assert [row.splitlines()[0] for row in rows(header)] == ["On this machine", BIG.text]
    header.picker.hide()


def test_nothing_is_chosen_if_nothing_matches(header: Header, qtbot: QtBot) -> None:
    header.open_picker()
    qtbot.keyClicks(header.picker.filter, "llama")
    assert rows(header) == ["On this machine"]
    with qtbot.assertNotEmitted(header.load_asked, wait=0):
        qtbot.keyClick(header.picker.filter, Qt.Key.Key_Return)
    header.picker.hide()


@pytest.mark.parametrize(
    ("state", "can"), [(State.READY, True), (State.ANSWERING, False), (State.UNLOADED, False)]
)
def test_a_model_can_be_unloaded_only_while_idle(
    header: Header, state: State, can: bool, qtbot: QtBot
) -> None:
    header.show_state(state)
    header.open_picker()
    assert header.picker.unload.isEnabled() is can
    header.picker.hide()


@pytest.mark.parametrize("name", ["unload", "reload", "download"])
def test_buttons_emit_their_signals(header: Header, name: str, qtbot: QtBot) -> None:
    header.show_state(State.READY)
    header.open_picker()
    asked = {"unload": header.unload_asked, "reload": header.reload_asked, "download": header.wizard_asked}
    with qtbot.waitSignal(asked[name]):
        getattr(header.picker, name).click()
    assert header.picker.isHidden()
