"""The most frequent flows with a real window on a real X server, a real engine process and a real model."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from engine import catalog
from engine.errors import ModelNotFound
from tests.app.seen import JARGON

ROOT = Path(__file__).parents[2]
OUTPUT = ROOT / "tests" / "output"

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs an X server"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def report(display: str) -> Any:
    """Return the report of every flow, run in one program that loads one model once."""
    try:
        catalog.resolve(catalog.default_target())
    except ModelNotFound as error:
        pytest.skip(error.message)
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.drive_window", str(OUTPUT)],
        cwd=ROOT,
        env={**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"},
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, "Qt had something to say"
    return json.loads(done.stdout)


def test_a_person_asks_and_reads(report: Any) -> None:
    assert report["platform"] == "xcb"
    answer = report["ask_and_read"]
    assert "The sea is blue and the sky is wide." in answer["text"]
    assert answer["stop_reason"] == "end_of_sequence"
    assert answer["tokens_per_pass"] > 1
    assert answer["verdicts"], "an iteration with two accepted nodes was on the screen"
    for part in ("tokens/s", "Tokens per pass", "First token after", "complete", "Seed", "SmolLM2"):
        assert part in answer["below"]


def test_after_the_first_answer_no_word_of_the_field_has_been_shown(report: Any) -> None:
    seen = report["ask_and_read"]["seen"]
    assert any("tokens per pass" in text and text.endswith("see why") for text in seen)
    assert [text for text in seen if JARGON.search(text)] == []


def test_stop_keeps_the_text_so_far(report: Any) -> None:
    stopped = report["stop"]
    assert stopped["stop_reason"] == "cancelled"
    assert stopped["kept"] == stopped["text"] != ""
    assert stopped["reused_tokens"] > 30, "the first turn is not read again"


def test_a_stopped_answer_continues_where_it_ended(report: Any) -> None:
    gone_on = report["go_on"]
    assert gone_on["after"] == gone_on["before"] + gone_on["more"]
    assert gone_on["more"]
    assert gone_on["versions"] == 1


def test_answers_are_regenerated_and_their_versions_stepped_through(report: Any) -> None:
    answers = report["regenerate"]
    first, second, again = answers["texts"]
    assert "Tokyo" in first
    assert first == second == again, "greedy: the seed changes nothing"
    seeds = answers["seeds"]
    assert seeds[0] != seeds[1] == seeds[2]
    recorded, replayed = answers["budgets"]
    # The drafter has learned in between: it may need fewer or more budgets, but uses the recorded ones first.
    assert all(one == other for one, other in zip(replayed, recorded, strict=False))
    assert replayed
    assert answers["version"] == "2/3"
    assert answers["shown"] == ["What is the capital of Japan?", second]


def test_an_edited_question_is_a_branch(report: Any) -> None:
    edited = report["edit"]
    assert "Berlin" in edited["text"]
    assert edited["after"] == ["What is the capital of Germany?", edited["text"]]
    assert edited["versions"] == 2
    assert edited["before"][0] == "What is the capital of Japan?"


def test_a_hit_is_found_and_jumped_to(report: Any) -> None:
    found = report["search"]
    (hit,) = found["hits"]
    assert hit == found["first"] == "Repeat this sentence three times: The sea is blue and the sky is wide."
    assert found["marked"] == ["sentence", "sea"]


def test_settings_and_presets_apply_to_their_chat(report: Any) -> None:
    answers = report["settings"]
    assert answers["presets"] == ["Brief"]
    assert answers["tokens"] == [8, 8]
    assert answers["stop_reasons"] == ["max_new_tokens", "max_new_tokens"]


def test_chats_are_renamed_pinned_deleted_and_restored(report: Any) -> None:
    tidied = report["tidy"]
    assert tidied["pinned"] == [["Rivers", True]]
    assert tidied["left"] == []
    assert tidied["shown_then"] is None
    assert tidied["back"]
    assert tidied["shown_again"]


def test_a_chat_is_exported_and_imported(report: Any) -> None:
    chat = report["export_and_import"]
    assert "Write two sentences about rivers." in chat["markdown"]
    assert chat["messages"][0] == "Write two sentences about rivers."
    assert chat["copies"] == 2
    assert chat["same"] == [True, True]


def test_plain_decoding_and_specexec_give_the_same_text_in_a_race(report: Any) -> None:
    race = report["race"]
    assert race["same"]
    assert race["texts"][0] == race["texts"][1]
    assert race["drafters"][0] == "none"
    assert race["drafters"][1] != "none"
    assert race["passes"][0] == race["tokens"][0] - 1 > race["passes"][1]
    assert race["recorded"] == [passes + 1 for passes in race["passes"]]
    assert min(race["seconds"]) > 0
    assert race["added"] == 0, "a race is not stored in the chat"


def test_everything_is_reachable_by_keyboard(report: Any) -> None:
    reached = report["by_keyboard"]
    assert reached["focused"]
    assert len(reached["text"].splitlines()) >= 3
    assert reached["dark"]
    assert (reached["language"], reached["told"]) == ("ko", 1)


def test_the_model_is_loaded_once_and_nothing_is_left_behind(report: Any) -> None:
    assert len(report["loads"]) == 1
    assert not report["still_running"]
    orphans = [each for each in psutil.process_iter(["cmdline"]) if is_orphaned_engine(each)]
    assert not orphans, "an engine was left behind"


def test_every_step_was_photographed(report: Any) -> None:
    for name in (
        "ready",
        "answered",
        "versions",
        "search",
        "settings",
        "deleted",
        "race",
        "dark",
        "dark_small",
    ):
        assert (OUTPUT / f"{name}.png").stat().st_size > 10_000


def is_orphaned_engine(process: psutil.Process) -> bool:
    """Return whether its parent process has ended."""
    return "engine.serving.process" in (process.info["cmdline"] or []) and process.ppid() == 1
